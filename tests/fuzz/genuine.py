"""Genuine answers of the embedded service, as it sent them over HTTP."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

from lockterm.service.packs import PACKS

VENDOR, MODEL = next(iter(PACKS))
LOCK = 1001
REMOTE = "/api/v1/bluetooth-remote"


def recorded(base_url: str, page_size: int = 20) -> dict[str, list[str]]:
    """The end of each call's path -> its answers, successes and refusals; the writes come last."""
    packs = [pack.name for pack in PACKS[VENDOR, MODEL]]
    new = {
        "lockId": 1004,
        "remoteName": "New",
        "remoteNumber": "N-1",
        "remoteType": 1,
        "addType": 1,
    }
    page = f"{REMOTE}/list?lockId={LOCK}&pageSize={page_size}&pageNo="
    first = json.loads(_ask(base_url, page + "1", None))["data"]["list"][0]["id"]
    asked: dict[str, list[tuple[str, dict[str, Any] | None]]] = {
        "bluetooth-remote/list": [(page + str(number), None) for number in (1, 2, 7, 0)],
        "bluetooth-remote/detail": [(f"{REMOTE}/detail", {"remoteId": i}) for i in (first, 0)],
        "checkRemoteName": [
            (f"{REMOTE}/checkRemoteName", {"lockId": LOCK, "remoteName": name})
            for name in ("New", "Anna Weber", "")
        ],
        "voice/list": [("/api/v1/voice/list", {"lockId": lock_id}) for lock_id in (LOCK, 5)],
        "voice/packs": [
            ("/api/v1/voice/packs", {"vendor": VENDOR, "model": model}) for model in (MODEL, "x")
        ],
        "voice/detail": [
            ("/api/v1/voice/detail", {"lockId": LOCK, "name": name}) for name in (*packs[:3], "x")
        ],
        "add": [(f"{REMOTE}/add", new), (f"{REMOTE}/add", {})],
        "clear": [(f"{REMOTE}/clear", {"lockId": 1004}), (f"{REMOTE}/clear", {})],
    }
    return {
        call: [_ask(base_url, path, body) for path, body in requests]
        for call, requests in asked.items()
    }


def small(document: str, most: int = 3) -> str:
    """The answer with so many entries of each array at the most, for speed."""

    def cut(value: Any) -> Any:
        if isinstance(value, list):
            return [cut(item) for item in value[:most]]
        if isinstance(value, dict):
            return {key: cut(item) for key, item in value.items()}
        return value

    return json.dumps(cut(json.loads(document)))


def _ask(base_url: str, path: str, body: dict[str, Any] | None) -> str:
    content = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(base_url + path, content, headers)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            text: str = answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            text = error.read().decode()
    return text
