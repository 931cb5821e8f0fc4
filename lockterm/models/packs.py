"""Where a voice pack is fetched from, and what was told about it (2.5, 2.6)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PackSource:
    """A pack to fetch."""

    url: str
    """``timbrePackUrl``."""
    size: int | None = None
    """``fileSize`` in bytes; None where the service told none, as for the timbres of a language."""
    md5: str = ""
    """``fileMd5``; empty where the service told none."""

    @property
    def file_name(self) -> str:
        """A name of our own for its file, the same for the same pack."""
        told = f"{self.url}\n{self.size}\n{self.md5.lower()}"
        return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:32] + ".pack"

    @property
    def assurance(self) -> str:
        """What a fetched file was checked against, in words that promise no more than that."""
        found = "This finds damage on the way, not forgery."
        if self.size is not None and self.md5:
            return f"Size and MD5 are those the service told. {found}"
        if self.md5:
            return f"The MD5 is the one the service told. {found}"
        if self.size is not None:
            return f"The size is the one the service told; it told no MD5. {found}"
        return "The service told neither size nor MD5: nothing could be checked."
