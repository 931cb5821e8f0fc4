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
      ListTooLarge         a list of pages that takes more than it may
    Refused                the service said no: a non-zero code, or an HTTP status that means it
      NameTaken
      RateLimited
  StoreError
    StoreDamaged           something in them is not as it was written
  ConfigError
```

Anything outside this tree is a bug of lockterm.
"""

from __future__ import annotations

from collections.abc import Mapping

NAME_EXISTS = -3
"""The code of ``checkRemoteName`` for a name that is taken (7.3); elsewhere it means nothing."""

LONGEST_MEANING = 600
"""The most characters of an error's meaning that are shown."""


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

    @property
    def meaning(self) -> str:
        """What it means, with all that is known of it: of a refusal also code and description.

        This, and not the message, is what people are told. It is as it came: not clean.
        """
        return self.message

    @property
    def sentences(self) -> str:
        """What it means, and what to do; as it came: not clean."""
        return self.sentences_with(self.hint)

    def sentences_with(self, hint: str) -> str:
        """What it means, and what follows it in place of the hint; as it came: not clean."""
        means = self.meaning
        if hint and means and (means[-1].isalnum() or means[-1] == ")"):
            means += "."  # a service's words may end as they like
        return " ".join(filter(None, (means, hint)))


CORRECT_FIELDS = "Correct the marked fields."
"""What to do where a form has marked the fields that break a rule."""


class RuleViolation(LocktermError):
    """What is to be sent breaks a rule, of the contract or of ours; nothing was sent."""

    title = "Not sent"

    def __init__(self, reasons: Mapping[str, str], *, hint: str = "") -> None:
        super().__init__("; ".join(reasons.values()), hint=hint)
        self.reasons = dict(reasons)
        """Field name of the contract -> what is wrong with it, in words."""


class ServiceError(LocktermError):
    """A call to the service that did not end in success."""

    out_of_reach: bool = False
    """Whether there was no answer or not the service's: a read may be tried again by itself."""


class Unreachable(ServiceError):
    """The service read no byte of the request: provably not sent."""

    out_of_reach = True

    title = "Service unreachable"


class Untrusted(Unreachable):
    """TLS failed, so nothing was sent or read; trying again at once does not help."""

    title = "Secure connection failed"


class NoAnswer(ServiceError):
    """A read left this machine, and the connection broke or the time ran out before its answer."""

    out_of_reach = True

    title = "No answer from the service"


class OutcomeUnknown(ServiceError):
    """A write left this machine and no trustworthy answer came back: it may have been applied."""

    title = "Result unknown"

    operation_id: str = ""
    """The id that it has in the journal; empty: it was not journalled."""


class MalformedAnswer(ServiceError):
    """The answer was not the contract's: wrong HTTP status, not JSON, or the wrong shape."""

    title = "Answer not understood"


class ListTooLarge(MalformedAnswer):
    """A list was not read to its end: it takes more bytes, memory or time than a walk may."""

    title = "List too large"


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

    @property
    def meaning(self) -> str:
        """The service's message, code and description (2.1, 7.2)."""
        description = "" if self.description in self.message else self.description
        said = self.message
        if self.code is not None:  # a service's full stop would stand before it
            said = f"{said.removesuffix('.')} (code {self.code})".lstrip()
        return ": ".join(filter(None, (said, description)))

    @property
    def is_denial(self) -> bool:
        """Whether it is about who asks: what the service showed before may not be shown now."""
        return self.status in (401, 403)

    @property
    def is_gone(self) -> bool:
        """Whether of a record it means that there is no such one, as far as can be told (7).

        What stands in between says no with other numbers, and has no envelope for 400.
        """
        return self.status in (200, 404, 410) or (self.status == 400 and self.code is not None)


class NameTaken(Refused):
    """``checkRemoteName`` answered -3: the lock already has a remote of that name (4.2)."""

    title = "Name taken"

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message, code=NAME_EXISTS, hint=hint)


class RateLimited(Refused):
    """HTTP 429: the service asks to wait."""

    title = "Too many requests"

    def __init__(
        self, message: str, *, retry_after_s: float | None, hint: str = "", asked: bool = True
    ) -> None:
        super().__init__(message, status=429, hint=hint)
        self.asked = asked
        """Whether the service was asked, and says so now; else the pause was known before."""
        self.retry_after_s = retry_after_s
        """Seconds to wait, at most 60; None: the service does not say how long."""


class StoreError(LocktermError):
    """The files lockterm keeps on this machine cannot be read or written."""

    title = "Local store"


class StoreDamaged(StoreError):
    """A file of the local store, or a row in it, is not as it was written."""

    title = "Local store damaged"


class ConfigError(LocktermError):
    """A setting is wrong; the message names the file, the line where known, and the key."""

    title = "Configuration"


def describe_os_error(error: OSError) -> str:
    """Return why the system refused something: ``Permission denied``, without number and path."""
    return error.strerror or str(error)
