"""The decoder, the envelope, the reader and the records, against anything at all."""

from __future__ import annotations

import gzip
import json
import math
import tracemalloc
import zlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lockterm.api.answer import MAX_BODY, BodyReader, clock_offset_s, retry_after_s
from lockterm.api.envelope import (
    MAX_PARTS,
    InvalidJsonError,
    decode,
    open_answer,
    read_envelope,
    read_many,
    read_one,
    read_page,
    read_result,
)
from lockterm.api.transport import Answer
from lockterm.domain.reading import Record
from lockterm.domain.remotes import LockInfo, Remote
from lockterm.domain.safe_text import clean
from lockterm.domain.voices import Language, Timbre, VoicePack
from lockterm.errors import MalformedAnswerError, ServiceError

RECORDS = (Remote, LockInfo, VoicePack, Language, Timbre)
NAMES = sorted(set().union(*(kind.fields() for kind in RECORDS)))
PYTHON_NAMES = ["odd", "raw", "__odd__", "__raw__", "start_ms", "self", "cls", "model_config"]

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=-(10**30), max_value=10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
keys = st.sampled_from(NAMES + PYTHON_NAMES) | st.text()
values = st.recursive(
    scalars, lambda inner: st.lists(inner) | st.dictionaries(keys, inner), max_leaves=8
)
codes = st.sampled_from(["errcode", "errorCode"])
envelopes = st.dictionaries(
    codes | st.sampled_from(["errmsg", "errorMsg", "description", "data", "status"]), values
)


def answer(body: bytes, status: int = 200) -> Answer:
    return Answer(status, {}, body, "", lambda text: clean(str(text), 200))


def mutilated(data: st.DataObject, body: bytes) -> bytes:
    at = data.draw(st.integers(0, len(body)))
    upto = data.draw(st.integers(at, min(len(body), at + 4)))
    return body[:at] + data.draw(st.binary(max_size=4)) + body[upto:]


@given(values)
def test_json_comes_out_as_it_went_in(value):
    assert decode(json.dumps(value).encode()) == value
    assert decode(json.dumps(value, ensure_ascii=False).encode()) == value


@given(st.binary() | values.map(lambda value: json.dumps(value).encode()), st.data())
def test_decoding_has_one_way_to_fail(body, data):
    """And what it lets through can be written again, stored and sorted into records."""
    try:
        value = decode(mutilated(data, body))
    except InvalidJsonError as error:
        assert str(error)
        return
    json.dumps(value, allow_nan=False, ensure_ascii=False).encode()


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b'{"a":1,"a":1}', "same key twice"),
        (b'[{"b":{"a":1,"\\u0061":2}}]', "same key twice"),
        (b"NaN", "NaN"),
        (b"[-Infinity]", "Infinity"),
        (b"1e400", "too large"),
        (b"9" * 5000, "too long"),
        (b"0." + b"1" * 5000, "too long"),
        (b"[]," * 60_000, "too many parts"),
        (b"[" * 10_000 + b"]" * 10_000, "too deeply"),
        (b'{"a":' * 10_000 + b"1" + b"}" * 10_000, "too deeply"),
        (b"[" * 66 + b"]" * 66, "too deeply"),
        (b'"\xff"', "not UTF-8"),
        (b'"\xed\xa0\x80"', "not UTF-8"),
        (b"\xef\xbb\xbf\xef\xbb\xbf{}", "not JSON"),
        (b'{"a":1', "cut short"),
        (b'{"a":"b', "not JSON"),
        (b"", "not JSON"),
        (b"<html>", "not JSON"),
        (b"{'a': 1}", "not JSON"),
        (b"[1,]", "not JSON"),
        (b"[01]", "not JSON"),
        (b'"\n"', "not JSON"),
    ],
    ids=lambda value: repr(value[:12]),
)
def test_what_is_not_json(body, reason):
    with pytest.raises(InvalidJsonError, match=reason):
        decode(body)


def test_halves_of_pairs_are_replaced_and_pairs_kept():
    body = rb'{"\ud83d\ude00":"\ud800 \udc00\ud83d \\ud800 \ud83d\ude00"}'
    assert decode(body) == {"\U0001f600": "� �� \\ud800 \U0001f600"}
    assert decode(rb'["\uDc00"]') == ["�"]
    with pytest.raises(InvalidJsonError):
        decode(rb'{"\ud800":1,"\udc00":2}')
    with pytest.raises(
        InvalidJsonError, match="too many unpaired surrogates"
    ):  # in either spelling
        decode(b'"' + rb"\ud800\uD800" * (MAX_PARTS // 2 + 1) + b'"')


@given(envelopes)
@example({"errcode": 0, "errorCode": "0"})
@example({"errcode": "-3"})
@example({"errcode": True})
def test_success_needs_a_zero_and_nothing_against_it(value):
    """The oracle: every code there is, by itself, is a whole number or its digits; all agree."""
    came = [value[name] for name in ("errcode", "errorCode") if name in value]

    def number(code):
        if type(code) is str and code.isascii() and code.removeprefix("-").isdigit():
            return int(code) if len(code) < 19 else None
        return code if type(code) is int and abs(code) < 2**63 else None

    numbers = {number(code) for code in came}
    valid = len(numbers) == 1 and None not in numbers
    try:
        envelope = read_envelope(value)
    except ValueError:
        assert not valid
    else:
        assert valid and {envelope.code} == numbers
    for other in ([], [value], 7, True, None, "errcode"):
        with pytest.raises(ValueError, match="not a JSON object"):
            read_envelope(other)


@given(envelopes, st.sampled_from([100, 200, 201, 302, 400, 401, 408, 429, 500, 599]), st.data())
def test_an_answer_is_a_payload_or_an_error_of_the_service(value, status, data):
    body = json.dumps(value).encode()
    if data.draw(st.booleans()):
        body = mutilated(data, body)
    try:
        payload = open_answer(answer(body, status))
    except ServiceError as error:
        assert error.message and len(error.message) < 500
    else:
        assert 200 <= status < 300
        assert payload == decode(body).get("data")


@given(values | st.dictionaries(keys, values), st.sampled_from(RECORDS))
def test_any_object_is_a_record_that_hides_nothing(value, kind: type[Record]):
    if not isinstance(value, dict):
        with pytest.raises(MalformedAnswerError):
            read_one(value, kind)
        return
    record = read_one(value, kind)
    assert record.raw == value
    assert record.extras == {k: v for k, v in value.items() if k not in kind.fields()}
    for name, came in record.odd.items():
        assert value[name] is came
    if type(value.get("id")) is int and abs(value["id"]) < 2**63 and kind is Remote:
        assert record.id == value["id"]  # type: ignore[attr-defined]


def test_odd_fields_do_not_hide_a_record():
    remote = Remote.read(
        {
            "id": 5,
            "remoteName": 7,
            "startDate": "soon",
            "endDate": 10**19,
            "weekDay": [1, "2"],
            "status": True,
            "remoteType": 9,
            "lockInfo": {"lockId": "x", "lockName": "door"},
            "start_ms": 3,
            "odd": 4,
        }
    )
    assert (remote.id, remote.remote_type, remote.start_ms, remote.end_ms) == (5, 9, None, None)
    assert set(remote.odd) == {"remoteName", "startDate", "endDate", "weekDay", "status"}
    assert remote.extras == {"start_ms": 3, "odd": 4}
    assert remote.lock_info is not None and remote.lock_info.lock_name == "door"


@given(
    st.fixed_dictionaries(
        {"list": st.lists(st.dictionaries(keys, scalars) | scalars, max_size=5)},
        optional=dict.fromkeys(
            ("pageNo", "pageSize", "pages", "total"), st.integers(-1, 9) | values
        ),
    ),
    st.integers(1, 9),
    st.integers(1, 9),
)
def test_a_page_always_adds_up(data, page_no, page_size):
    page = read_page(data, page_no, page_size)
    assert len(page.remotes) + page.unreadable == len(data["list"])
    assert page.page_no >= 1 and page.page_size >= 1 and page.pages >= 0 and page.total >= 0
    told = {"pageNo": page.page_no, "pageSize": page.page_size}
    told |= {"pages": page.pages, "total": page.total}
    for name, number in told.items():
        assert name in page.odd or number == data[name]


@pytest.mark.parametrize(
    ("items", "told", "pages", "total"),
    [
        (20, {"pages": 7, "total": 137}, 7, 137),
        (20, {"total": 137}, 7, 137),
        (20, {"pages": 7}, 7, 121),
        (20, {}, 4, 60),
        (5, {}, 3, 45),
        (0, {}, 0, 0),
        (0, {"pages": 2}, 2, 21),
        (0, {"total": 0}, 0, 0),
        (5, {"total": True, "pages": "3"}, 3, 45),
    ],
)
def test_missing_totals_are_worked_out(items, told, pages, total):
    page = read_page({"list": [{}] * items, "pageNo": 3, "pageSize": 20, **told}, 3, 20)
    assert (page.pages, page.total) == (pages, total)


@given(values)
def test_wrong_kinds_of_data_are_malformed(data):
    if not isinstance(data, dict) or not isinstance(data.get("list"), list):
        with pytest.raises(MalformedAnswerError):
            read_page(data, 1, 20)
    if not isinstance(data, list):
        with pytest.raises(MalformedAnswerError):
            read_many(data, VoicePack)
    else:
        assert len(read_many(data, Language)) == sum(isinstance(item, dict) for item in data)
    result = read_result(data, "remoteId")
    assert result is None or (type(result) is int and data["remoteId"] == result)


@given(st.binary(max_size=4000), st.lists(st.integers(0, 4000)), st.integers(0, 5))
def test_unpacking_does_not_depend_on_how_it_arrives(body, cuts, members):
    """Packed in one part, in several, or not at all; and anything may be said to be packed."""
    parts = [body[at::members] for at in range(members)]
    body = b"".join(parts) if parts else body
    line = b"".join(map(gzip.compress, parts)) if parts else body
    reader = BodyReader("x-gzip" if parts else "")
    at = 0
    for cut in [*sorted(cuts), len(line)]:
        reader.feed(line[at:cut])
        at = max(at, cut)
    reader.finish()
    assert (bytes(reader.body), reader.flaw) == (body, "")
    for start in (b"", b"\x1f\x8b\x08\0\0\0\0\0\0\x03"):
        reader = BodyReader("gzip")
        reader.feed(start + body)
        reader.finish()
        assert len(reader.body) <= MAX_BODY


@pytest.mark.parametrize(
    ("after", "flaw"),
    [
        (b"more", "its gzip compression is damaged"),
        (gzip.compress(b"more")[:-1], "its gzip data is cut short"),
        (gzip.compress(b"x" * MAX_BODY), "it is larger than 8 MiB"),
        (gzip.compress(b"") * 5000, "it is compressed in too many parts"),
    ],
    ids=["no gzip", "cut", "too large", "too many"],
)
def test_reader_reports_a_flaw_when_the_next_member_is_cut(after, flaw):
    reader = BodyReader("gzip")
    reader.feed(gzip.compress(b"first") + after)
    reader.finish()
    assert reader.flaw == flaw
    assert bytes(reader.body[:5]) == b"first"
    assert len(reader.body) <= MAX_BODY


@pytest.mark.parametrize("size", [MAX_BODY, MAX_BODY + 1])
@pytest.mark.parametrize("encoding", ["", "gzip"])
def test_the_cap_is_exact(size, encoding):
    line = b"x" * size
    line = gzip.compress(line, 1) if encoding else line
    reader = BodyReader(encoding)
    for at in range(0, len(line), 60_000):
        reader.feed(line[at : at + 60_000])
    reader.finish()
    assert (reader.flaw == "") == (size == MAX_BODY)
    assert len(reader.body) == MAX_BODY


def test_a_bomb_is_not_unpacked_beyond_the_cap():
    packer = zlib.compressobj(1, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    bomb = b"".join(packer.compress(bytes(1 << 20)) for _ in range(200)) + packer.flush()
    reader = BodyReader("gzip")
    tracemalloc.start()
    try:
        reader.feed(bomb)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert reader.flaw and len(reader.body) == MAX_BODY
    assert peak < 8 * MAX_BODY


@given(st.dictionaries(st.sampled_from(["date", "age", "retry-after"]), st.text()))
@example({"date": "Mon, 01 Jan 99999 00:00:00 GMT"})
@example({"date": "Mon, 01 Jan 0001 00:00:00 +2359", "retry-after": "9" * 5000})
@example({"retry-after": "-5"})
@example({"retry-after": "²"})
def test_odd_headers_are_survived(headers):
    offset = clock_offset_s(headers, 0.0)
    assert offset is None or math.isfinite(offset)
    assert 0 <= (retry_after_s(headers) or 0) <= 60
