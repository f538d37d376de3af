# ruff: noqa: E501
"""What changes the normal form of a definition, and what does not?"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from small_book import Tree

from engine import source
from engine.errors import SourceError

ROOT = Path(__file__).parents[2]
GOLDEN = "915d2042f16f5b3311de628152908ac891008e3ac7d0213005f2bb832c87435a"
SAMPLE = Path(__file__).parent / "data" / "normal_form.py"

SAME = {
    "comments and blank lines": ("def f(x):\n    return x", "# why\ndef f(x):\n\n    return x  # so"),
    "docstring": ("def f(x):\n    return x", 'def f(x):\n    """Why."""\n    return x'),
    "docstring alone": ("def f(): pass", 'def f():\n    """Why."""'),
    "class docstring": ("class A:\n    x = 1", 'class A:\n    """Why."""\n    x = 1'),
    "module docstring": ("x = 1", '"""Why."""\nx = 1'),
    "formatting": ("def f(x): return g(x, 1)", "def f(x):\n    return (g(\n        x, 1,\n    ))"),
    "quotes": ("x = 'a'", 'x = "a"'),
    "implicit joining": ("x = 'ab'", "x = 'a' 'b'"),
    "number notation": ("x = 1000, 16, 0.5", "x = 1_000, 0x10, 5e-1"),
    "annotations": ("def f(x, *y, z=1, **k): return x", "def f(x: int, *y: int, z: int = 1, **k: int) -> int: return x"),
    "annotated local": ("def f():\n    a = 1\n    return a", "def f():\n    a: int = 1\n    return a"),
    "bare annotation": ("def f():\n    a = 1\n    return a", "def f():\n    a: int\n    a = 1\n    return a"),
    "annotated constant": ("x = 1", "x: int = 1"),
    "field annotation": ("class A:\n    x: int = 1", "class A:\n    x: float = 1"),
    "local": ("def f():\n    a = 1\n    return a", "def f():\n    total = 1\n    return total"),
    "several locals": ("def f(x):\n    a, (b, *c) = x\n    return c, b, a", "def f(x):\n    q, (r, *s) = x\n    return s, r, q"),
    "loop variable": ("def f(x):\n    for i in x: print(i)", "def f(x):\n    for j in x: print(j)"),
    "with": ("def f(x):\n    with x as a: a()", "def f(x):\n    with x as b: b()"),
    "except": ("def f():\n    try: g()\n    except E as a: print(a)", "def f():\n    try: g()\n    except E as b: print(b)"),
    "walrus": ("def f(x):\n    return (a := x) + a", "def f(x):\n    return (b := x) + b"),
    "walrus in a comprehension": ("def f(x):\n    return [a := i for i in x], a", "def f(x):\n    return [b := j for j in x], b"),
    "comprehension variable": ("def f(x): return {i: j for i, j in x if i}", "def f(x): return {k: v for k, v in x if k}"),
    "constant's comprehension": ("x = [i for i in range(3)]", "x = [j for j in range(3)]"),
    "nested function": ("def f():\n    def g(): return 1\n    return g()", "def f():\n    def h(): return 1\n    return h()"),
    "closure": ("def f():\n    a = 1\n    def g():\n        nonlocal a\n        a += 1\n    return g, a", "def f():\n    b = 1\n    def h():\n        nonlocal b\n        b += 1\n    return h, b"),
    "match": ("def f(x):\n    match x:\n        case [a, *b]: return a, b\n        case {'k': c, **d}: return c, d", "def f(x):\n    match x:\n        case [p, *q]: return p, q\n        case {'k': r, **s}: return r, s"),
    "f-string's local": ("def f():\n    a = 1\n    return f'{a:>{a}} {a!r}'", "def f():\n    b = 1\n    return f'{b:>{b}} {b!r}'"),
    "f-string joining": ("def f(x): return f'a{x}b'", "def f(x): return 'a' f'{x}' 'b'"),
    "local import": ("def f():\n    import math as m\n    return m.pi", "def f():\n    import math as n\n    return n.pi"),
    "import alias": ("import math as m\ndef f(): return m.pi", "import math as n\ndef f(): return n.pi"),
    "way of import": ("import math\ndef f(): return math.pi", "from math import pi\ndef f(): return pi"),
    "method's local": ("class A:\n    def f(self):\n        a = 1\n        return a", "class A:\n    def f(self):\n        b = 1\n        return b"),
    "pass": ("def f(x):\n    if x:\n        pass\n    return x", "def f(x):\n    if x:\n        'nothing'\n    return x"),
    "order of definitions": ("def f(): pass\ndef g(): pass", "def g(): pass\ndef f(): pass"),
    "type checking only": ("x = 1", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from a import b\nx = 1"),
    "main guard": ("x = 1", "x = 1\nif __name__ == '__main__':\n    print(x)"),
    "overload": ("def f(x): return x", "@overload\ndef f(x: int): ...\ndef f(x): return x"),
    "global statement": ("X = 1\ndef f(): return X", "X = 1\ndef f():\n    global X\n    return X"),
}  # fmt: skip

DIFFERENT = {
    "operator": ("def f(x): return x + 1", "def f(x): return x - 1"),
    "constant": ("def f(x): return x + 1", "def f(x): return x + 2"),
    "type of a constant": ("x = 1", "x = 1.0"),
    "truth value": ("x = 1", "x = True"),
    "sign of zero": ("x = 0.0", "x = -0.0"),
    "bytes": ("x = 'a'", "x = b'a'"),
    "missing division": ("def f(x, d): return x / d", "def f(x, d): return x"),
    "comparison": ("def f(x): return x < 1", "def f(x): return x <= 1"),
    "attribute": ("def f(x): return x.mean()", "def f(x): return x.sum()"),
    "keyword's name": ("def f(x): return g(x, dim=1)", "def f(x): return g(x, axis=1)"),
    "default": ("def f(x=1): return x", "def f(x=2): return x"),
    "keyword default": ("def f(*, x=1): return x", "def f(*, x=2): return x"),
    "parameter's name": ("def f(x): return x", "def f(y): return y"),
    "kind of parameter": ("def f(x, y): return x", "def f(x, /, y): return x"),
    "keyword only": ("def f(x, y): return x", "def f(x, *, y): return x"),
    "order of statements": ("def f():\n    a()\n    b()", "def f():\n    b()\n    a()"),
    "swapped locals": ("def f(x):\n    a, b = x\n    return a, b", "def f(x):\n    a, b = x\n    return b, a"),
    "two locals made one": ("def f(x):\n    a = x\n    b = 1\n    return a", "def f(x):\n    a = x\n    a = 1\n    return a"),
    "local made global": ("X = 1\ndef f():\n    X = 2\n    return X", "X = 1\ndef f():\n    global X\n    X = 2\n    return X"),
    "nonlocal": ("def f():\n    a = 1\n    def g():\n        a = 2\n    return g, a", "def f():\n    a = 1\n    def g():\n        nonlocal a\n        a = 2\n    return g, a"),
    "shadowed builtin": ("def f(x): return max(x)", "def max(x): return 0\ndef f(x): return max(x)"),
    "local or global": ("y = 1\ndef f():\n    a = 1\n    return y", "y = 1\ndef f():\n    a = 1\n    return a"),
    "decorator": ("def f(): pass", "@cache\ndef f(): pass"),
    "decorator's argument": ("@g(1)\ndef f(): pass", "@g(2)\ndef f(): pass"),
    "async": ("def f(): pass", "async def f(): pass"),
    "source of an import": ("from a import g\ndef f(): return g()", "from b import g\ndef f(): return g()"),
    "source of a local import": ("def f():\n    from a import g\n    return g()", "def f():\n    from b import g\n    return g()"),
    "base class": ("class A(B): pass", "class A(C): pass"),
    "class keyword": ("class A(B, k=1): pass", "class A(B, k=2): pass"),
    "class attribute": ("class A:\n    x = 1", "class A:\n    x = 2"),
    "class attribute's name": ("class A:\n    x = 1", "class A:\n    y = 1"),
    "field added": ("class A:\n    x: int", "class A:\n    x: int\n    y: int"),
    "field or attribute": ("class A:\n    x: int = 1", "class A:\n    x = 1"),
    "order of fields": ("class A:\n    x: int\n    y: int", "class A:\n    y: int\n    x: int"),
    "ClassVar": ("class A:\n    x: int = 1", "class A:\n    x: ClassVar[int] = 1"),
    "dataclass option": ("@d(frozen=True)\nclass A:\n    x: int", "@d(frozen=False)\nclass A:\n    x: int"),
    "method added": ("class A:\n    x = 1", "class A:\n    x = 1\n    def f(self): pass"),
    "static method": ("class A:\n    def f(x): pass", "class A:\n    @staticmethod\n    def f(x): pass"),
    "f-string's text": ("def f(x): return f'a{x}'", "def f(x): return f'b{x}'"),
    "f-string's format": ("def f(x): return f'{x:.2f}'", "def f(x): return f'{x:.3f}'"),
    "f-string's conversion": ("def f(x): return f'{x}'", "def f(x): return f'{x!r}'"),
    "f-string that names itself": ("def f():\n    a = 1\n    return f'{a=}'", "def f():\n    b = 1\n    return f'{b=}'"),
    "names seen by locals()": ("def f():\n    a = 1\n    return locals()", "def f():\n    b = 1\n    return locals()"),
    "condition in a comprehension": ("def f(x): return [i for i in x if i]", "def f(x): return [i for i in x]"),
    "list or generator": ("def f(x): return sum([i for i in x])", "def f(x): return sum(i for i in x)"),
    "starred": ("def f(x): return g(x)", "def f(x): return g(*x)"),
    "dictionary unpacking": ("def f(x): return {'a': x}", "def f(x): return {**x}"),
    "slice": ("def f(x): return x[1:]", "def f(x): return x[:1]"),
    "else of a loop": ("def f(x):\n    for i in x: pass\n    else: g()", "def f(x):\n    for i in x: pass\n    g()"),
    "which is caught": ("def f():\n    try: g()\n    except A: pass", "def f():\n    try: g()\n    except B: pass"),
    "constant's value": ("X = 1", "X = 2"),
    "constant filled": ("X = {}", "X = {}\nX['a'] = 1"),
    "constant filled by a call": ("X = []\nX.append(1)", "X = []\nX.append(2)"),
    "constant filled by a loop": ("X = {}\nfor i in range(3):\n    X[i] = i", "X = {}\nfor i in range(3):\n    X[i] = 2 * i"),
    "bare statement": ("import torch\ntorch.manual_seed(0)", "import torch\ntorch.manual_seed(1)"),
    "conditional definition": ("if a:\n    def f(): return 1\nelse:\n    def f(): return 2", "if a:\n    def f(): return 1\nelse:\n    def f(): return 3"),
    "fallback import": ("try:\n    import a\nexcept ImportError:\n    a = None", "try:\n    import a\nexcept ImportError:\n    a = 1"),
    "deleted": ("X = {'a': 1}", "X = {'a': 1}\ndel X['a']"),
}  # fmt: skip


def pieces(tree: Tree, text: str) -> dict[str, str]:
    tree.write("model/thing.py", text)
    module = source.load("model.thing")
    assert module is not None
    return {name: piece.digest for name, piece in module.pieces.items()}


@pytest.mark.parametrize("case", SAME)
def test_what_is_left_out(tree: Tree, case: str) -> None:
    before, after = SAME[case]
    assert pieces(tree, before) == pieces(tree, after)


@pytest.mark.parametrize("case", DIFFERENT)
def test_what_counts(tree: Tree, case: str) -> None:
    before, after = DIFFERENT[case]
    assert pieces(tree, before) != pieces(tree, after)


def test_a_method_is_a_piece_and_the_class_body_another(tree: Tree) -> None:
    before = pieces(
        tree, "class A:\n    x = 1\n    def f(self): return 1\n    def g(self): return 2"
    )
    after = pieces(
        tree, "class A:\n    x = 1\n    def f(self): return 3\n    def g(self): return 2"
    )
    assert set(before) == {"A", "A.f", "A.g"}
    assert {name for name in before if before[name] != after[name]} == {"A.f"}


def test_getter_and_setter_are_one_piece(tree: Tree) -> None:
    text = """
        class A:
            @property
            def x(self): return 1
            @x.setter
            def x(self, value): self.y = {}
    """
    assert pieces(tree, text.format(1)) != pieces(tree, text.format(2))


def test_nested_classes(tree: Tree) -> None:
    found = pieces(tree, "class A:\n    class B:\n        y = 1\n        def f(self): return 1")
    assert set(found) == {"A", "A.B", "A.B.f"}


def test_a_name_that_leads_nowhere(tree: Tree) -> None:
    with pytest.raises(SourceError, match=r"nothing .* model\.attention\.Heads \(used in x\)"):
        source.resolve("model.attention.Heads", used_in="x")


def test_a_file_that_is_not_python(tree: Tree) -> None:
    tree.write("model/broken.py", "x = 1\ndef f(:\n")
    with pytest.raises(SourceError, match=r"^model/broken\.py:2: is not valid Python"):
        source.load("model.broken")


def test_null_bytes(tree: Tree) -> None:
    (tree.root / "model/broken.py").write_bytes(b"x = 1\0")
    with pytest.raises(SourceError, match=r"^model/broken\.py.*not valid Python"):
        source.load("model.broken")


def test_the_text_counts_and_not_its_time(tree: Tree) -> None:
    first = source.load("model.attention")
    path = tree.root / "model/attention.py"
    stat = path.stat()
    tree.replace("model/attention.py", "-1e9", "-2e9")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    second = source.load("model.attention")
    assert first is not None
    assert second is not None
    assert first.pieces["NEGATIVE"].digest != second.pieces["NEGATIVE"].digest
    assert source.load("model.attention") is second


@pytest.mark.parametrize(
    ("dotted", "leads_to"),
    [
        ("model.attention.Head", "model.attention.Head"),
        ("model.attention.Head.forward", "model.attention.Head"),
        ("model.again.Head", "model.attention.Head"),
        ("model.again.everything.scale", "model.attention.scale"),
        ("model.again.NEGATIVE", "model.attention.NEGATIVE"),
        ("model.again.sqrt", "model.again.sqrt"),
        ("engine.paths.ROOT", None),
        ("experiments.session.Run", None),
        ("torch.nn.Module", None),
    ],
)
def test_where_names_lead(tree: Tree, dotted: str, leads_to: str | None) -> None:
    tree.write(
        "model/again.py",
        "from math import sqrt\nfrom . import attention as everything\n"
        "from .attention import *\nfrom model.attention import Head",
    )
    target = source.resolve(dotted)
    found = target.piece.name if target is not None and target.piece is not None else None
    assert found == leads_to


def whole(python: str) -> str:
    """One digest over all pieces of the sample, as this Python finds it."""
    program = dedent(
        """
        import ast, hashlib, pathlib, sys
        from engine import source
        path = pathlib.Path(sys.argv[1])
        module = source._analyse("model.sample", path, ast.parse(path.read_bytes()))
        lines = [f"{name} {piece.digest}" for name, piece in module.pieces.items()]
        print(hashlib.sha256("\\n".join(lines).encode()).hexdigest())
        """
    )
    done = subprocess.run(
        [python, "-c", program, str(SAMPLE)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def others() -> list[str]:
    """Every Python from 3.11 on that this machine has, the running one first."""
    found = [sys.executable]
    for minor in set(range(11, 20)) - {sys.version_info.minor}:
        path = shutil.which(f"python3.{minor}")
        if (
            path
            and subprocess.run([path, "-c", ""], capture_output=True, check=False).returncode == 0
        ):
            found.append(path)
    return found


@pytest.mark.parametrize("python", others())
def test_the_same_under_every_python(python: str) -> None:
    """The digest is written here, so that a Python which is not on this machine is held to it too."""
    assert whole(python) == GOLDEN


def test_the_sample_is_as_it_was() -> None:
    text = hashlib.sha256(SAMPLE.read_bytes()).hexdigest()
    assert text.startswith("26627aca5a2af3b9"), "a changed sample needs a new digest above"
