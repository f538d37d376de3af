# type: ignore
# ruff: noqa
# fmt: off
"""A module that uses the whole language; its digest is written in tests/engine/test_source.py."""

from __future__ import annotations

import contextlib
import math as m
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from nowhere import Nothing

A, (B, *C) = 1, (2, 3, 4)
D: int = 0x10
E = [1_000, 1.5e-300, -0.0, 2j, b"a\xff", "é\u2028\U0001f600", "a" "b", None, True, ...]
F = {"a": 1, **{"b": 2}}
F["c"] = 3
F.update(d=4)
D += 1
LONG = 123456789012345678901234567890
LAMBDA = lambda x, /, y=1, *args, z=2, **kwargs: (x, y, args, z, kwargs)
for number in range(3):
    F[str(number)] = number
try:
    import tomllib
except ImportError:
    tomllib = None


def annotated(a: int, /, b: str = "x", *c: float, d: Nothing | None = None, **e: object) -> int:
    """Docstring."""
    local: int = a
    later: str
    later = f"{local!r:>{local}} {{}} {local=} \n" "joined" f"{b}" f"{m.pi:.3f}{{"
    return local + len(later)


def control(x, y):
    global A
    A = 1
    total = 0
    for i, (j, *k) in enumerate(x):
        if i and not j or k:
            continue
        elif i > 10 > j:
            break
        else:
            total += i
    else:
        total -= 1
    while total := total - 1:
        pass
    with contextlib.suppress(ValueError) as s, open("f") as t:
        print(*x, s, t, sep="", **{})
    try:
        raise ValueError("a") from None
    except (ValueError, TypeError) as error:
        print(error)
    except OSError if False else Exception:
        pass
    finally:
        del total
    assert x, "message"
    match y:
        case {"k": v, **rest} if v:
            return v, rest
        case [1, "a", -1.5, *more] | (more,):
            return more
        case Point(x=0, y=[a]) as whole:
            return a, whole
        case None | True:
            return
        case _:
            return x if y else [*x, *y]


def scopes():
    a = 1
    b = [a for a in range(3) for c in range(a) if (w := c)]
    g = (z async for z in aiter(b))

    def inner(p=a):
        nonlocal a
        a = p
        return {q: r for q, r in zip(b, b)}, {q for q in b}, lambda t: t + a + w

    class Local:
        y = a

        def method(self):
            return a, __class__, super().method()

    import math as k
    from math import pi as w2

    return inner, Local, k.tau, w2, x[1:2, ..., ::3], g


async def waits(x):
    async with x as y:
        await y
        async for z in y:
            yield z
    yield [i async for i in y]


def generates():
    got = yield 1
    yield from got
    return ~got @ got // got % got << got >> got | got & got ^ -got ** +got


@dataclass(frozen=True)
class Data:
    """Docstring."""

    plain: int
    default: float = 1.5
    made: list[int] = field(default_factory=list)
    shared: ClassVar[int] = 3
    other = 4

    @property
    def value(self) -> int:
        """Docstring."""
        return self.plain * self.other

    @value.setter
    def value(self, new: int) -> None:
        self.plain = new

    class Nested(Exception, metaclass=type):
        code = 1

        def name(self):
            return self.code


print(A, B)
