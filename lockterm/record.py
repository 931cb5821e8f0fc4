"""Immutable records that cost little to define: ``@record`` for a frozen dataclass.

The standard library writes and compiles six methods for each frozen dataclass, and makes its class
twice where it has slots: 40 of them were a twentieth of the time to the first frame. Here they are
shared, but for ``__init__``, which is compiled once there are more than a few of a kind.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields
from inspect import get_annotations
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform, overload

_T = TypeVar("_T")

_NO_FIELDS = ("ClassVar", "InitVar", "KW_ONLY")
"""How the annotation begins of what a dataclass takes for no field."""

_FEW = 3
"""So many of a kind are made by hand, which takes a tenth of the time of compiling: of settings, of
what a screen shows, there are no more at a start."""


@overload
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[_T], /) -> type[_T]: ...


@overload
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(*, kw_only: bool) -> Callable[[type[_T]], type[_T]]: ...


def record(cls: type[_T] | None = None, /, *, kw_only: bool = False) -> Any:
    """Make a class a dataclass with equality, a hash and a representation.

    The type checker refuses an assignment to a field; nothing does so at run time.

    Args:
        cls: The class; a method of those three that it has of its own stays.
        kw_only: Whether every field has to be given by its name.
    """
    if cls is None:
        return lambda cls: _made(cls, kw_only)
    return _made(cls, kw_only)


def _made(cls: type[Any], kw_only: bool) -> Any:
    told = get_annotations(cls)
    # Of text, the standard library searches each three times for the few that are no fields.
    cls.__annotations__ = {
        name: kind if kind.startswith(_NO_FIELDS) else object for name, kind in told.items()
    }
    made: Any = dataclass(init=False, eq=False, repr=False, kw_only=kw_only)(cls)
    made.__annotations__ = told
    named = fields(made)
    for one in named:
        one.type = told.get(one.name, one.type)
    made._compared = attrgetter(*[one.name for one in named])
    made._by_hand = 0
    made._shown = tuple(one.name for one in named if one.repr)
    made.__init__ = __init__
    for method in (__eq__, __hash__, __repr__):
        if method.__name__ not in cls.__dict__:
            setattr(made, method.__name__, method)
    return made


def __init__(self: Any, /, *placed: Any, **named: Any) -> None:
    """The first of their kind; then compile what makes the others."""
    kind = type(self)
    kind._by_hand += 1
    if kind._by_hand > _FEW or not _is_filled(self, placed, named):
        kind.__init__ = _compiled(kind)
        kind.__init__(self, *placed, **named)


def _is_filled(self: Any, placed: tuple[Any, ...], named: dict[str, Any]) -> bool:
    """Fill a record by hand, where its values are good; what is compiled says what is wrong."""
    known = fields(self)
    values = dict(zip([one.name for one in known if not one.kw_only], placed, strict=False))
    if len(values) < len(placed) or not values.keys().isdisjoint(named):
        return False
    values |= named
    for one in known:
        if one.name not in values:
            if one.default is not MISSING:
                values[one.name] = one.default
            elif one.default_factory is not MISSING:
                values[one.name] = one.default_factory()
            else:
                return False
        setattr(self, one.name, values[one.name])
    return len(values) == len(known)


def _compiled(kind: type[Any]) -> Any:
    """An ``__init__`` that takes the fields as a dataclass would."""
    known: dict[str, Any] = {"MISSING": MISSING}
    placed, named, lines = ["self"], ["*"], []
    for one in fields(kind):
        name, default, value = one.name, "", one.name
        if one.default is not MISSING:
            default, known[f"default_{name}"] = f"=default_{name}", one.default
        elif one.default_factory is not MISSING:
            default, known[f"new_{name}"] = "=MISSING", one.default_factory
            value = f"new_{name}() if {name} is MISSING else {name}"
        (named if one.kw_only else placed).append(name + default)
        lines.append(f" self.{name} = {value}")
    parameters = ", ".join(placed + (named if len(named) > 1 else []))
    exec("\n".join([f"def __init__({parameters}):", *lines]), known)
    return known["__init__"]


def __eq__(self: Any, other: Any) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    return self._compared(self) == self._compared(other)


def __hash__(self: Any) -> int:
    return hash(self._compared(self))


def __repr__(self: Any) -> str:
    shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._shown)
    return f"{type(self).__qualname__}({shown})"
