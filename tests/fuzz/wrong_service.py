"""A service whose answers are genuine ones gone wrong, on a raw socket."""

from __future__ import annotations

from random import Random
from urllib.parse import urlsplit

from tests.api.fault_server import FaultServer
from tests.fuzz.mutations import Fuzzed, Mutator
from tests.servers import Line


class WrongService(FaultServer):
    """Answers every call with a wrong one of its genuine answers.

    Args:
        genuine: The end of a call's path -> its answers.
        mutator: What makes them wrong.
        lines_share: How often the line itself is wrong too: cut, no HTTP, another length.
    """

    def __init__(
        self, genuine: dict[str, list[str]], mutator: Mutator, lines_share: float = 0.1
    ) -> None:
        super().__init__()
        self.sent: list[Fuzzed] = []
        """The answers so far."""
        self._genuine = genuine
        self._mutator = mutator
        self._lines_share = lines_share
        self._random = Random(mutator.seed)
        self.play(self._answer)

    async def _answer(self, line: Line) -> None:
        path = urlsplit(self.asked[-1].start.split()[1]).path
        self.asked.clear()
        documents = next((a for end, a in self._genuine.items() if path.endswith(end)), ["{}"])
        fuzzed = self._mutator.fuzzed(self._random.choice(documents))
        self.sent.append(fuzzed)
        content = self.whole(fuzzed)
        line.keep = True
        if self._random.random() < self._lines_share:
            line.keep = False
            content = self._random.choice(
                (
                    content[: self._random.randrange(len(content))],
                    self._random.randbytes(200),
                    content.replace(b"Content-Length", b"Content-Length: 1\r\nX", 1),
                    content.replace(
                        b"\r\nContent-Length", b"\r\nX: \x1b]0;x\x07\r\nContent-Length"
                    ),
                    content.replace(b"Content-Length", b"Transfer-Encoding: chunked\r\nX"),
                    b"HTTP/1.1 200 \x1b[2J\xe2\x80\xae\r\n\r\n",
                )
            )
        await line.send(content)

    @staticmethod
    def whole(fuzzed: Fuzzed) -> bytes:
        """Head and body, of the right length."""
        bodiless = fuzzed.status in (204, 304)
        reason = b"\x1b]0;x\x07" if fuzzed.status > 500 else b"Said"
        lines = [b"HTTP/1.1 %d %s" % (fuzzed.status, reason)]
        lines += [f"{name}: {value}".encode() for name, value in fuzzed.headers.items()]
        if fuzzed.packed:
            lines.append(b"Content-Encoding: gzip")
        lines.append(b"Content-Length: %d" % (0 if bodiless else len(fuzzed.body)))
        return b"\r\n".join([*lines, b"", b""]) + (b"" if bodiless else fuzzed.body)
