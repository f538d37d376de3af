"""Can a record, a file or a page be made to run something, or to reach where it must not?"""

from __future__ import annotations

import ast
import base64
import hashlib
import html
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Dialog, expect

from engine import paths, policy
from engine.declaration import declaration, run_spec
from engine.errors import DeclarationError, MedidaError, MissingPath
from engine.quantity import Book
from engine.record import read_record
from engine.render import pages
from tests.attack import changes
from tests.attack.tally import Tally
from tests.site import tree
from tests.site.conftest import Site, free_port, serving, whole

CODE = ("engine", "model", "experiments", "figures", "tools", "benchmarks")
EVIL = "</script></template><script>alert(1)</script>\"'><img src=x onerror=alert(2)>&amp;<b>"


# ---------------------------------------------------------------------------- strings of records


@pytest.fixture(scope="module")
def poisoned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real book built with an attempt at a script in every string of every record."""
    root = tree.plant(
        tmp_path_factory.mktemp("poisoned"), "chapters", "model", "experiments", "figures",
        "results",
    )  # fmt: skip
    shutil.copytree(paths.ROOT / "build" / "figures", root / "build" / "figures")
    poison(root / "results", lambda run: True)
    broken = pages_that_need_a_word(root / "results")
    for path in (root / "results").glob("*/*.json"):
        if path.parent.name in broken:  # a page looks for a word in it: without it there is no page
            shutil.copy(paths.ROOT / "results" / path.parent.name / path.name, path)
    poison(root / "results", lambda experiment: experiment not in broken)
    built = tree.mkdocs(root, "build", "--quiet")
    assert (root / "build/site/en/index.html").is_file(), built.stdout + built.stderr
    return root / "build" / "site"


def poison(results: Path, values_too: Callable[[str], bool]) -> None:
    """EVIL for every string of every record: the machine, the versions, and recorded words."""
    for path in sorted(results.glob("*/*.json")):
        content = changes.read(path)
        for parts, value in changes.scalars(content["values"]):
            is_word = isinstance(value, str) and value not in ("nan", "inf", "-inf")
            if is_word and values_too(path.parent.name):
                changes.put(content, parts, EVIL)
        content["provenance"]["device"]["name"] = EVIL
        content["provenance"]["versions"] = dict.fromkeys(content["provenance"]["versions"], EVIL)
        changes.write(path, content, rehash=True)
        read_record(path)  # as such it is a sound record


def pages_that_need_a_word(results: Path) -> set[str]:
    """The experiments without whose words a page cannot be made at all."""
    with pytest.MonkeyPatch.context() as patch:
        whole = pages("pt", Book(allow_stale=True), serving=True)
        patch.setattr(paths, "RESULTS", results)
        now = pages("pt", Book(allow_stale=True), serving=True)
    bad = {page.slug for page in now if page.mistakes}
    return {path.split(".")[0] for page in whole if page.slug in bad for path in page.cited}


class Elements(HTMLParser):
    """Every element of a page with its attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.mark.xdist_group("poisoned")
def test_strings_from_records_are_shown_as_text(
    poisoned: Path, tally: Callable[[str], Tally]
) -> None:
    escaped = tally("security.escaped")
    shown = html.escape(EVIL, quote=False)[:40]
    seen = 0
    for page in sorted(poisoned.rglob("*.html")):
        text = page.read_text(encoding="utf-8")
        where = page.relative_to(poisoned).as_posix()
        elements = Elements(text).found
        handlers = [attrs for _, attrs in elements if any(a.startswith("on") for a in attrs)]
        images = [attrs for tag, attrs in elements if tag == "img" and attrs.get("src") == "x"]
        escaped.count(not handlers and not images and "<script>alert" not in text, where)
        seen += shown in text or "alert(1)" in text
    assert seen > 4, "no page shows a string of a record: nothing was tried"


@pytest.mark.browser
@pytest.mark.xdist_group("poisoned")
def test_a_browser_runs_nothing_of_it(poisoned: Path, browser: Browser) -> None:
    port = free_port()
    dialogs: list[str] = []
    with serving(poisoned, port):
        page = browser.new_page()

        def noted(dialog: Dialog) -> None:
            dialogs.append(dialog.message)
            dialog.dismiss()

        page.on("dialog", noted)
        for address in ("ledger/", "en/ledger/", "13-tokens/", "en/05-why-divide/"):
            page.goto(f"http://127.0.0.1:{port}/{address}")
            whole(page)
            number = page.locator(".num").first
            if number.count():
                number.click()
                expect(page.locator("#nbox")).to_be_visible()
                expect(page.locator("#nbox").locator("img, script")).to_have_count(0)
        page.close()
    assert dialogs == []


# ---------------------------------------------------------------------------- names of records

OUTSIDE = (
    "../evil", "averages/../../evil", "averages/..", "/etc/passwd", "averages//etc/passwd",
    "averages/none.s0/../../../evil", "..\\evil", "averages/none.s0\0", "averages/%2e%2e",
    "averages/none.s0 ", "~/evil", "averages/~root", ".", "..", "", "averages/", "/",
)  # fmt: skip


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_run_is_named_by_letters_digits_and_underscores(name: str) -> None:
    with pytest.raises(MissingPath):
        run_spec(name)
    with pytest.raises(MedidaError):
        Book(allow_stale=True).get(name.replace("/", "."))


def test_a_record_names_no_path_outside_the_results(tmp_path: Path) -> None:
    """A record that says it is another one, in the right place or a wrong one, is refused."""
    sound = changes.read(paths.ROOT / "results/shuffle/s0.json")
    for field in ("experiment", "run", "row"):
        for evil in ("../evil", "/etc", "a/b", "..", "\u2025", "a\nb", "a\0b"):
            content = {**sound, field: evil}
            for folder, file in (("shuffle", "s0"), ("x", "y")):
                path = tmp_path / folder / f"{file}.json"
                path.parent.mkdir(exist_ok=True)
                changes.write(path, content, rehash=True)
                with pytest.raises(MedidaError):
                    read_record(path)


def test_a_row_names_no_path_outside_the_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("experiments", "model"):
        shutil.copytree(paths.ROOT / name, tmp_path / name)
        monkeypatch.setattr(paths, name.upper(), tmp_path / name)
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    path = tmp_path / "experiments" / "shuffle.py"
    text = path.read_text(encoding="utf-8")
    for evil in ("../evil", "a/b", "/etc", "..", ".", "a\\nb"):
        path.write_text(text + f'\nROWS = {{"{evil}": {{}}}}\n', encoding="utf-8")
        with pytest.raises(DeclarationError):
            declaration("shuffle")


# ---------------------------------------------------------------------------- code from data


def test_no_pickle_and_no_code_from_data() -> None:
    """Nothing in the tree loads a pickle, evaluates text or hands a string to a shell."""
    found: list[str] = []
    for folder in CODE:
        for path in sorted((paths.ROOT / folder).rglob("*.py")):
            module = ast.parse(path.read_text(encoding="utf-8"))
            for node in ast.walk(module):
                where = f"{path.relative_to(paths.ROOT)}:{getattr(node, 'lineno', 0)}"
                found += [f"{where}: {what}" for what in dangers(node)]
    assert found == []


def dangers(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        names = [alias.name for alias in node.names]
        module = getattr(node, "module", None) or ""
        for name in [*names, module]:
            if name.split(".")[0] in ("pickle", "marshal", "shelve", "dill", "joblib"):
                if module == "pickle" and names == ["UnpicklingError"]:
                    continue  # the error alone
                yield f"imports {name}"
    if not isinstance(node, ast.Call):
        return
    called = ast.unparse(node.func)
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    if called in ("eval", "exec", "os.system", "os.popen", "yaml.load", "subprocess.getoutput"):
        yield f"calls {called}"
    if called.endswith("torch.load") and ast.unparse(given.get("weights_only", node)) != "True":
        yield "loads a checkpoint that may hold code"
    if called.split(".")[-1] in ("load", "loads") and "allow_pickle" in given:
        yield "loads a pickle"
    if "shell" in given and ast.unparse(given["shell"]) != "False":
        yield "hands a string to a shell"


# ---------------------------------------------------------------------------- what a page may load


@pytest.mark.xdist_group("built")
def test_every_page_states_a_policy_that_fits_it(built: Site) -> None:
    policies: dict[str, list[str]] = {}
    for page in sorted(built.folder.rglob("*.html")):
        text = page.read_text(encoding="utf-8")
        stated = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', text)
        assert len(stated) == 1, page
        assert text.index("Content-Security-Policy") < text.index("<link"), page
        name = "404" if page.name == "404.html" else "page"
        policies.setdefault(name, []).append(stated[0])
        rules = dict(rule.split(" ", 1) for rule in stated[0].split("; "))
        assert rules["default-src"] == "'none'"
        assert "unsafe" not in rules["script-src"]
        sources = {source for value in rules.values() for source in value.split()}
        words = {"'none'", "'self'", "'unsafe-inline'", "data:"}
        assert all(source in words or source.startswith("'sha256-") for source in sources), sources
        for inline in re.findall(r"<script>(.*?)</script>", text, re.DOTALL):
            digest = base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()
            assert f"'sha256-{digest}'" in rules["script-src"], page
        assert not re.search(
            r"<[a-z][^<>]*\son[a-z]+=", re.sub(r"(?s)<(pre|code).*?</\1>", "", text)
        )
    assert {name: len(set(of)) for name, of in policies.items()} == {"404": 1, "page": 1}


FORBIDDEN = {
    "script-src-elem", "style-src-elem", "img-src", "frame-src", "script-src-attr", "connect-src",
}  # fmt: skip
ATTEMPTS = """elsewhere => {
  window.broken = [];
  const said = violation => broken.push(violation.effectiveDirective);
  document.addEventListener("securitypolicyviolation", said);
  const script = document.createElement("script");
  script.textContent = "window.evil = 1";
  document.body.append(script);
  const style = document.createElement("style");
  style.textContent = "body { color: red }";
  document.body.append(style);
  const image = document.createElement("img");
  image.src = elsewhere;
  document.body.append(image);
  const frame = document.createElement("iframe");
  frame.src = "/";
  document.body.append(frame);
  const bold = "<b onclick='window.evil = 2' id='bold'>x</b>";
  document.body.insertAdjacentHTML("beforeend", bold);
  document.getElementById("bold").click();
  return fetch(elsewhere).catch(() => 0);
}"""


@pytest.mark.browser
@pytest.mark.xdist_group("built")
def test_the_policy_holds_in_a_browser(built: Site, browser: Browser) -> None:
    """What the page itself does is let through (tests/site watches every page); nothing else is."""
    port = free_port()
    answered: list[str] = []
    with serving(built.folder, port):  # another origin, which would answer
        page = browser.new_page()
        page.on("response", lambda response: answered.append(response.url))
        page.goto(built.url)
        whole(page)
        page.evaluate(ATTEMPTS, f"http://127.0.0.1:{port}/assets/favicon.svg")
        # the page says them when it comes to it
        page.wait_for_function("all => all.every(one => broken.includes(one))", arg=[*FORBIDDEN])
        assert page.evaluate("window.evil") is None
        page.close()
    assert len(answered) > 1
    assert not [url for url in answered if not url.startswith((built.url, "data:"))]


def test_a_policy_is_of_what_the_page_holds() -> None:
    page = '<meta charset="utf-8"><script>one</script><script src="x.js"></script>'
    stated = policy.stated(page)
    digest = base64.b64encode(hashlib.sha256(b"one").digest()).decode()
    assert f"script-src 'self' 'sha256-{digest}';" in stated
    assert policy.stated("<p>no head</p>") == "<p>no head</p>"


# ---------------------------------------------------------------------------- dependencies


def pinned(file: str) -> dict[str, str]:
    lines = (paths.ROOT / file).read_text(encoding="utf-8").splitlines()
    found = [re.match(r"([A-Za-z0-9][\w.-]*)==([^\s\\]+)", line) for line in lines]
    return {re.sub(r"[-_.]+", "-", m[1]).lower(): m[2] for m in found if m}


def test_both_locks_pin_the_same_packages() -> None:
    lock, hashes = pinned("requirements.lock"), pinned("requirements.hashes.lock")
    assert len(lock) > 100
    assert lock == hashes
    text = (paths.ROOT / "requirements.hashes.lock").read_text(encoding="utf-8")
    for entry in re.split(r"(?m)^(?=[A-Za-z0-9])", text)[1:]:
        digests = re.findall(r"--hash=sha256:([0-9a-f]{64})\b", entry)
        assert digests, entry.split()[0]
        assert len(digests) == len(set(digests))
    for file in ("requirements.lock", "requirements.hashes.lock"):
        lines = (paths.ROOT / file).read_text(encoding="utf-8").splitlines()[1:]
        assert not [line for line in lines if "://" in line or line.startswith("-")], file


def test_everything_that_is_asked_for_is_pinned_and_installed() -> None:
    import tomllib
    from importlib.metadata import version

    project = tomllib.loads((paths.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lock = pinned("requirements.lock")
    for asked in project["dependencies"]:
        name = re.split(r"[<>=!~ ]", asked)[0].lower()
        assert name in lock, name
        assert version(name).split("+")[0] == lock[name], name


def test_pip_would_take_the_hashes(tmp_path: Path) -> None:
    """A file that is not what was pinned is refused."""
    text = (paths.ROOT / "requirements.hashes.lock").read_text(encoding="utf-8")
    wheel = tmp_path / "nothing-1.0-py3-none-any.whl"
    wheel.write_bytes(b"not what was pinned")
    entry = re.split(r"(?m)^(?=[A-Za-z0-9])", text)[1]
    wrong = re.sub(r"^\S+==\S+", wheel.as_uri().replace("file://", "nothing @ file://"), entry)
    (tmp_path / "lock").write_text(wrong, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--dry-run", "--no-index", "--no-deps",
         "--require-hashes", "-r", str(tmp_path / "lock")],
        capture_output=True,
        encoding="utf-8",
    )  # fmt: skip
    assert done.returncode != 0
    assert "DO NOT MATCH THE HASHES" in done.stdout + done.stderr


def test_how_to_update_both_is_written_down() -> None:
    readme = (paths.ROOT / "README.md").read_text(encoding="utf-8")
    makefile = (paths.ROOT / "Makefile").read_text(encoding="utf-8")
    assert "make lock" in readme
    assert "requirements.hashes.lock" in readme
    recipe = makefile[makefile.index("\nlock:") :]
    assert "requirements.lock" in recipe
    assert "--generate-hashes" in recipe
