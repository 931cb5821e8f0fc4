"""Everything that can go wrong and that a person should read about.

```
LocktermError (title, message, hint)
  RuleViolation            field -> reason; nothing was sent
  ServiceError
    Unreachable            provably not sent
      Untrusted            the service's certificate was not accepted
    NoAnswer               a read that left and got no whole answer
    OutcomeUnknown         a write that may have been applied
    MalformedAnswer        HTTP status, not JSON, wrong shape
    Refused                the service said no: a non-zero code, or an HTTP status that means it
      NameTaken
      RateLimited
  StoreError
  ConfigError
```

Anything outside this tree is a bug of lockterm.
"""

from __future__ import annotations

from collections.abc import Mapping


class LocktermError(Exception):
    """An error for people: what happened, what it means, what to do."""

    title: str = "Something went wrong"
    """What happened, in a few words."""

    def __init__(self, message: str, *, title: str | None = None, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        """What it means, in a sentence."""
        self.title = title or self.title
        self.hint = hint
        """What to do next, in a sentence; may be empty."""


class RuleViolation(LocktermError):
    """What was typed breaks a rule of the contract; nothing was sent."""

    title = "Not sent"

    def __init__(self, reasons: Mapping[str, str]) -> None:
        super().__init__("; ".join(reasons.values()), hint="Correct the marked fields.")
        self.reasons = dict(reasons)
        """Field name of the contract -> what is wrong with it, in words."""


class ServiceError(LocktermError):
    """A call to the service that did not end in success."""


class Unreachable(ServiceError):
    """No byte of the request reached the service: provably not sent."""

    title = "Service unreachable"


class Untrusted(Unreachable):
    """TLS failed, so nothing was sent; trying again does not help."""

    title = "Secure connection failed"


class NoAnswer(ServiceError):
    """A read left this machine, and the connection broke or the time ran out before its answer."""

    title = "No answer from the service"


class OutcomeUnknown(ServiceError):
    """A write left this machine and no trustworthy answer came back: it may have been applied."""

    title = "Outcome unknown"


class MalformedAnswer(ServiceError):
    """The answer was not the contract's: wrong HTTP status, not JSON, or the wrong shape."""

    title = "Answer not understood"


class Refused(ServiceError):
    """The service answered and said no; the call was not applied."""

    title = "Refused by the service"

    def __init__(
        self,
        message: str,
        *,
        code: int | None = None,
        status: int = 200,
        description: str = "",
        hint: str = "",
        title: str | None = None,
    ) -> None:
        super().__init__(message, title=title, hint=hint)
        self.code = code
        """The envelope's code, as the service sent it; None where there was no envelope."""
        self.status = status
        """The HTTP status of the answer."""
        self.description = description
        """The envelope's description; may be empty."""


class NameTaken(Refused):
    """``checkRemoteName`` answered -3: the lock already has a remote of that name (4.2)."""

    title = "Name taken"


class RateLimited(Refused):
    """HTTP 429: the service asks to wait."""

    title = "Too many requests"

    def __init__(self, message: str, *, retry_after_s: float, hint: str = "") -> None:
        super().__init__(message, status=429, hint=hint)
        self.retry_after_s = retry_after_s
        """Seconds to wait, at most 60."""


class StoreError(LocktermError):
    """The files lockterm keeps on this machine cannot be read or written."""

    title = "Local store"


class ConfigError(LocktermError):
    """A setting is wrong; the message names the file, the line where known, and the key."""

    title = "Configuration"
