"""All errors that lockterm reports to people.

```
LocktermError (title, message, hint)
  RuleViolationError        invalid fields, with reasons; nothing was sent
  ServiceError
    UnreachableError        nothing was sent, or the service provably did not read it
      UntrustedServerError  TLS failed, for example because of the certificate
    NoAnswerError           a request may have been sent, but no complete answer came back
    ResultUnknownError      a write that may have been applied
    MalformedAnswerError    unexpected HTTP status, not JSON, or wrong shape
      ListTooLargeError     a list of remotes beyond the limits
    RefusedError            a non-zero code, or an HTTP status that means refusal
      NameTakenError
      RateLimitedError
  StoreError
    StoreDamagedError       a file or row of the store is damaged
  ConfigError
  NoSuchRunError            a typed ID of a run matches none, or several
```

Any other exception is a bug in lockterm.
"""

from __future__ import annotations

from collections.abc import Mapping

NAME_EXISTS = -3
"""The code that only ``checkRemoteName`` returns: the name exists (contract 7.3)."""

LONGEST_MEANING = 600
"""Maximum number of characters of an error's meaning that lockterm shows."""


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
        """The next step for the user, in one sentence; may be empty."""

    @property
    def meaning(self) -> str:
        """The explanation with all known details, such as the code and description of a refusal.

        Show this text to people, not the message. The text may contain control characters from the
        service.
        """
        return self.message

    @property
    def sentences(self) -> str:
        """The explanation and the next step as one text, which may contain control characters."""
        return self.sentences_with(self.hint)

    def sentences_with(self, hint: str) -> str:
        """Return the explanation followed by ``hint``. The text may contain control characters."""
        means = self.meaning
        if hint and means and (means[-1].isalnum() or means[-1] == ")"):
            means += "."  # a service's message may end without a period
        return " ".join(filter(None, (means, hint)))


CORRECT_FIELDS = "Correct the marked fields."
"""The hint for the user of a form in which the invalid fields are marked."""


class RuleViolationError(LocktermError):
    """An error because values break a rule of the contract or of lockterm, so nothing was sent."""

    title = "Not sent"

    def __init__(self, reasons: Mapping[str, str], *, hint: str = "") -> None:
        super().__init__("; ".join(reasons.values()), hint=hint)
        self.reasons = dict(reasons)
        """The reason for each invalid field, by the field's name in the contract."""


class ServiceError(LocktermError):
    """An error because a call to the service did not succeed."""

    out_of_reach: bool = False
    """Whether the service itself gave no answer, for example because a proxy answered instead."""


class UnreachableError(ServiceError):
    """An error because the service provably did not read the request, so nothing was changed."""

    out_of_reach = True

    title = "Service unreachable"


class UntrustedServerError(UnreachableError):
    """An error because TLS failed. The service read no request, and a retry does not help."""

    title = "Secure connection failed"


class NoAnswerError(ServiceError):
    """An error because the connection broke, or the time ran out, before a complete answer came."""

    out_of_reach = True

    title = "No answer from the service"


class ResultUnknownError(ServiceError):
    """An error because a write got no trustworthy answer.

    The service may have applied the write.
    """

    title = "Result unknown"

    operation_id: str = ""
    """The ID of the write's operation in the journal; empty if it is not in the journal."""


class MalformedAnswerError(ServiceError):
    """An error because an answer breaks the contract: bad HTTP status, no JSON, or wrong shape."""

    title = "Answer not understood"


class ListTooLargeError(MalformedAnswerError):
    """An error because a list exceeded a limit on bytes, memory or time, so it is incomplete."""

    title = "List too large"


class RefusedError(ServiceError):
    """An error because the service refused a call and therefore changed nothing."""

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
        """The code in the envelope of the answer; None if the answer had no envelope."""
        self.status = status
        """The HTTP status of the answer."""
        self.description = description
        """The description in the envelope of the answer; may be empty."""

    @property
    def meaning(self) -> str:
        """The service's message, code and description (contract 2.1 and 7.2)."""
        description = "" if self.description in self.message else self.description
        said = self.message
        if self.code is not None:  # the code goes before a final period
            said = f"{said.removesuffix('.')} (code {self.code})".lstrip()
        return ": ".join(filter(None, (said, description)))

    @property
    def is_denial(self) -> bool:
        """Whether the service denies this user access, so that lockterm hides cached answers."""
        return self.status in (401, 403)

    @property
    def is_gone(self) -> bool:
        """Whether the refusal probably means that the record does not exist (contract 7).

        The result is false if a proxy refused the call. A proxy answers with another HTTP status,
        or with the status 400 and no envelope.
        """
        return self.status in (200, 404, 410) or (self.status == 400 and self.code is not None)


class NameTakenError(RefusedError):
    """An error because the lock already has a remote with the wanted name (contract 4.2)."""

    title = "Name taken"

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message, code=NAME_EXISTS, hint=hint)


class RateLimitedError(RefusedError):
    """An error because the service asks the client to wait (HTTP status 429)."""

    title = "Too many requests"

    def __init__(
        self, message: str, *, retry_after_s: float | None, hint: str = "", asked: bool = True
    ) -> None:
        super().__init__(message, status=429, hint=hint)
        self.asked = asked
        """Whether lockterm called the service; False if an earlier 429 still blocks all calls."""
        self.retry_after_s = retry_after_s
        """Seconds to wait, at most 60; None if the service requests no particular time."""


class StoreError(LocktermError):
    """An error because a local file of lockterm cannot be read or written."""

    title = "Local store"


class StoreDamagedError(StoreError):
    """An error because a file of the local store, or a row in it, is damaged."""

    title = "Local store damaged"


class ConfigError(LocktermError):
    """An error because the configuration cannot be used, for example because a setting is wrong.

    For a wrong setting, the message shows the file and line, the option or the variable.
    """

    title = "Configuration"


class NoSuchRunError(LocktermError):
    """An error because a typed text is not the beginning of exactly one ID of a run.

    The error is also raised if the last run is wanted, but no plan has been run yet.
    """

    title = "No such run"


def describe_os_error(error: OSError) -> str:
    """Return the system's reason for an error, such as ``Permission denied``, without the path."""
    return error.strerror or str(error)
