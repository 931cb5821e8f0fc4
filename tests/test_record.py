"""A record behaves as the frozen dataclass that it stands for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from lockterm.record import record


@dataclass(frozen=True, slots=True)
class Usual:
    """The standard library's."""

    number: int
    names: tuple[str, ...] = ()
    secret: str = field(default="", repr=False)


@record
class Own:
    """The same, made here."""

    number: int
    names: tuple[str, ...] = ()
    secret: str = field(default="", repr=False)


@record
class Other:
    """Of the same values, and another thing."""

    number: int
    names: tuple[str, ...] = ()
    secret: str = field(default="", repr=False)


def test_it_is_equal_by_class_and_values_as_a_dataclass_is() -> None:
    one = Own(1, ("a",), "x")

    assert one == Own(1, ("a",), "x") == replace(Own(2), number=1, names=("a",), secret="x")
    assert one != Own(1, ("a",), "y")
    assert one != Other(1, ("a",), "x")
    assert len({one, Own(1, ("a",), "x"), Own(2)}) == 2
    assert repr(one).replace("Own", "Usual") == repr(Usual(1, ("a",), "x"))


@dataclass(frozen=True, kw_only=True)
class UsualParts:
    """The standard library's, by names."""

    of: str
    parts: list[int] = field(default_factory=list)


@record(kw_only=True)
class OwnParts:
    """The same, made here."""

    of: str
    parts: list[int] = field(default_factory=list)


@record
class More(Own):
    """One that takes over fields."""

    more: float = 0.5


@pytest.mark.parametrize("time", range(5))
def test_it_takes_the_values_that_a_dataclass_takes_and_makes_new_parts_for_each(time: int) -> None:
    """The first of a kind as well as those for which their making was compiled."""
    one, other = OwnParts(of="a"), OwnParts(of="b")
    one.parts.append(1)

    assert (one.parts, other.parts, OwnParts(of="c", parts=[2]).parts) == ([1], [], [2])
    assert More(1, ("a",), more=2) == replace(More(1), names=("a",), more=2)
    assert More(1, secret="x").secret == "x"


@pytest.mark.parametrize(
    "wrong",
    [
        lambda kind, parts: kind(),
        lambda kind, parts: kind(1, (), "", "too many"),
        lambda kind, parts: kind(1, number=1),
        lambda kind, parts: kind(1, unknown=1),
        lambda kind, parts: parts("a"),
        lambda kind, parts: parts(),
    ],
)
def test_it_refuses_the_values_that_a_dataclass_refuses(wrong: Callable[[Any, Any], Any]) -> None:
    kinds = Own, OwnParts
    of_its_first = record(_again(Own)), record(kw_only=True)(_again(OwnParts))
    for kind, parts in ((Usual, UsualParts), of_its_first, kinds):
        with pytest.raises(TypeError):
            wrong(kind, parts)


def _again(kind: type[Any]) -> type[Any]:
    """A class like one that was made a record, from before that."""
    values = {name: value for name, value in vars(kind).items() if name in kind.__annotations__}
    return type(kind.__name__, (), {"__annotations__": kind.__annotations__, **values})
