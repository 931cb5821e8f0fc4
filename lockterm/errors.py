"""All errors that lockterm reports to people.

```
LocktermError (title, message, hint)
  RuleViolation            field -> reason; nothing was sent
  ServiceError
    Unreachable            provably not sent
      Untrusted            the service's certificate was not accepted
    NoAnswer               a read was sent, but no whole answer came back
    OutcomeUnknown         a write that may have been applied
    MalformedAnswer        unexpected HTTP status, not JSON, or wrong shape
      ListTooLarge         a list of pages beyond the limits
    Refused                a non-zero code, or an HTTP status that means refusal
      NameTaken
      RateLimited
  StoreError
    StoreDamaged           a file or row of the store is damaged
  ConfigError
```

Any other exception is a bug in lockterm.
"""

from __future__ import annotations

from collections.abc import Mapping

NAME_EXISTS = -3
"""The code of ``checkRemoteName`` for a name that is taken (7.3), defined for no other call."""

LONGEST_MEANING = 600
"""Maximum number of characters shown of an error's meaning."""


class LocktermError(Exception):
    """An error for people, with a title, a message and a hint."""

    title: str = "Something went wrong"
    """The error in a few words."""

    def __init__(self, message: str, *, title: str | None = None, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        """The explanation, in one sentence."""
        self.title = title or self.title
        self.hint = hint
        """The next step, in one sentence; may be empty."""

    @property
    def meaning(self) -> str:
        """The explanation with all known details; for a refusal also its code and description.

        Show this to people, not the message. The text is untrusted and has not been cleaned.
        """
        return self.message

    @property
    def sentences(self) -> str:
        """The explanation and the next step; not cleaned."""
        return self.sentences_with(self.hint)

    def sentences_with(self, hint: str) -> str:
        """Return the explanation followed by another hint; not cleaned."""
        means = self.meaning
        if hint and means and (means[-1].isalnum() or means[-1] == ")"):
            means += "."  # a service's message may end without a period
        return " ".join(filter(None, (means, hint)))


CORRECT_FIELDS = "Correct the marked fields."
"""The hint for a form that has marked the fields with errors."""


class RuleViolation(LocktermError):
    """A value breaks a rule of the contract or of lockterm; nothing was sent."""

    title = "Not sent"

    def __init__(self, reasons: Mapping[str, str], *, hint: str = "") -> None:
        super().__init__("; ".join(reasons.values()), hint=hint)
        self.reasons = dict(reasons)
        """The reason for each invalid field, by the field's name in the contract."""


class ServiceError(LocktermError):
    """A call to the service that did not succeed."""

    out_of_reach: bool = False
    """Whether the error shows that no answer came from the service itself."""


class Unreachable(ServiceError):
    """The service read no byte of the request, so it was provably not sent."""

    out_of_reach = True

    title = "Service unreachable"


class Untrusted(Unreachable):
    """TLS failed, so nothing was sent or read; an immediate retry does not help."""

    title = "Secure connection failed"


class NoAnswer(ServiceError):
    """A read was sent, but the connection broke or the time ran out before its answer."""

    out_of_reach = True

    title = "No answer from the service"


class OutcomeUnknown(ServiceError):
    """A write was sent, but no trustworthy answer came back; it may have been applied."""

    title = "Result unknown"

    operation_id: str = ""
    """The operation ID in the journal, or empty if the write is not in the journal."""


class MalformedAnswer(ServiceError):
    """The answer breaks the contract: wrong HTTP status, not JSON, or the wrong shape."""

    title = "Answer not understood"


class ListTooLarge(MalformedAnswer):
    """A list exceeded the limits on bytes, memory or time and was not read to its end."""

    title = "List too large"


class Refused(ServiceError):
    """The service answered with a refusal; the call was not applied."""

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
        """The envelope's code as the service sent it, or None if there was no envelope."""
        self.status = status
        """The HTTP status of the answer."""
        self.description = description
        """The envelope's description; may be empty."""

    @property
    def meaning(self) -> str:
        """The service's message, code and description (2.1, 7.2)."""
        description = "" if self.description in self.message else self.description
        said = self.message
        if self.code is not None:  # the code goes before a final period
            said = f"{said.removesuffix('.')} (code {self.code})".lstrip()
        return ": ".join(filter(None, (said, description)))

    @property
    def is_denial(self) -> bool:
        """Whether the service refuses this user, who then may not see earlier answers either."""
        return self.status in (401, 403)

    @property
    def is_gone(self) -> bool:
        """Whether the refusal probably means that the record does not exist (7).

        A proxy refuses with other statuses, and a proxy's 400 has no envelope.
        """
        return self.status in (200, 404, 410) or (self.status == 400 and self.code is not None)


class NameTaken(Refused):
    """``checkRemoteName`` answered -3: the lock already has a remote of that name (4.2)."""

    title = "Name taken"

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message, code=NAME_EXISTS, hint=hint)


class RateLimited(Refused):
    """HTTP 429: the service asks the client to wait."""

    title = "Too many requests"

    def __init__(
        self, message: str, *, retry_after_s: float | None, hint: str = "", asked: bool = True
    ) -> None:
        super().__init__(message, status=429, hint=hint)
        self.asked = asked
        """Whether the service just sent this answer; False if lockterm knew of the pause before."""
        self.retry_after_s = retry_after_s
        """Seconds to wait, at most 60, or None if the service names no time."""


class StoreError(LocktermError):
    """The local files of lockterm cannot be read or written."""

    title = "Local store"


class StoreDamaged(StoreError):
    """A file of the local store, or a row in the file, is damaged."""

    title = "Local store damaged"


class ConfigError(LocktermError):
    """A setting is invalid; the message names the file, the line if known, and the key."""

    title = "Configuration"


def describe_os_error(error: OSError) -> str:
    """Return the system's reason for an error, such as ``Permission denied``, without the path."""
    return error.strerror or str(error)


class NoSuchRun(LocktermError):
    """No plan has this ID, or several plan IDs begin with it."""

    title = "No such run"
