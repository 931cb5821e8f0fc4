"""Serves the files of voice packs with what a resumed download needs (RFC 9110, 13 and 14).

One range at a time; several ranges, or a range that cannot be read, get the whole file, as the
RFC allows. The ETag is the MD5, so it is strong and fit for If-Range.
"""

from __future__ import annotations

import re
from email.utils import formatdate

from starlette.requests import Request
from starlette.responses import Response

from .catalogue import PACKS_BY_PATH
from .codes import BAD_RANGE, NOT_FOUND, Refusal
from .pack_files import content_of, facts_of

_ONE_RANGE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")


def download(request: Request) -> Response:
    """The answer to GET or HEAD of a pack's file."""
    pack = PACKS_BY_PATH.get(request.scope["path"])
    if pack is None:
        raise Refusal(NOT_FOUND, "There is no such voice pack.")
    size, md5 = facts_of(pack)
    etag, modified = f'"{md5}"', formatdate(pack.updated_ms / 1000, usegmt=True)
    headers = {"ETag": etag, "Last-Modified": modified, "Accept-Ranges": "bytes"}
    if _names(request.headers.get("if-none-match", ""), etag):
        return Response(status_code=304, headers=headers)
    condition = request.headers.get("if-range")
    span = None
    if request.method == "GET" and condition in (None, etag, modified):
        span = _span(request.headers.get("range", ""), size)
    content = content_of(pack)
    if span is None:
        return Response(content, headers=headers, media_type="audio/wav")
    first, end = span
    headers["Content-Range"] = f"bytes {first}-{end - 1}/{size}"
    return Response(content[first:end], 206, headers, "audio/wav")


def _names(if_none_match: str, etag: str) -> bool:
    tags = [tag.strip().removeprefix("W/") for tag in if_none_match.split(",")]
    return etag in tags or tags == ["*"]


def _span(header: str, size: int) -> tuple[int, int] | None:
    """First byte and the one after the last; None for the whole file."""
    match = _ONE_RANGE.fullmatch(header.strip())
    if match is None or match.groups() == ("", ""):
        return None
    first, last = match.groups()
    if not first:
        span = max(0, size - int(last)), size
    else:
        span = int(first), min(size, int(last) + 1 if last else size)
        if last and int(last) < int(first):
            return None
    if span[0] >= span[1]:
        raise Refusal(BAD_RANGE, headers={"Content-Range": f"bytes */{size}"})
    return span
