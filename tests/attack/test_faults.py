"""What is lost when the measuring is killed, the disk is full, or a file is not what it was?

After each disturbance: no half-written file, nothing that was measured is lost, one clear line says
what happened and how to go on, and going on ends with what an undisturbed run records.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from engine import paths
from engine.errors import RecordError
from engine.record import read_record
from model import corpus
from tests.attack import changes
from tests.attack.tally import Tally
from tests.site import tree as book_tree
from tests.workflow.conftest import book, clone, finished  # noqa: F401 - fixtures
from tests.workflow.toy import Book as Toy

RUN = "averages/mean_added.s0"
STEPS = 12  # of that run at smoke settings
KILLS = 50
INTERRUPTS = 12
WORKFLOW_KILLS = 10
TIMES = ("measured_at", "seconds", "hash")  # of a record: when, and for how long


# ---------------------------------------------------------------------------- a tree to disturb


@pytest.fixture(autouse=True, scope="module")
def interruptible() -> Iterator[None]:
    """A shell has whatever it starts in the background ignore Ctrl-C, and so would our children."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def grow(folder: Path) -> Path:
    """What measures, and the README as its text."""
    for name in ("engine", "model", "experiments", "tests/attack"):
        without = shutil.ignore_patterns("__pycache__")
        shutil.copytree(paths.ROOT / name, folder / name, ignore=without)
    (folder / "tests" / "__init__.py").write_text("")
    chapter = folder / "chapters" / "01-text"
    chapter.mkdir(parents=True)
    shutil.copy(paths.ROOT / "README.md", chapter / "en.md.j2")
    return folder


SMOKE = {"MEDIDA_SETTINGS": "smoke", "OMP_NUM_THREADS": "1"}


def call(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *words],
        cwd=folder,
        env={**os.environ, **SMOKE, **environment, "PYTHONPATH": str(folder)},
        capture_output=True,
        encoding="utf-8",
        timeout=900,
        check=False,
    )


class Runner:
    """`python -m experiments …` in a tree, started and disturbed at will."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.attack.runner", str(folder)],
            cwd=folder,
            env={**os.environ, **SMOKE, "PYTHONPATH": str(folder)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )

    def run(
        self,
        *words: str,
        after: float | None = None,
        step: int | None = None,
        by: int = signal.SIGKILL,
    ) -> int:
        """The exit status; disturbed after so many seconds, from the start or from a step."""
        assert self.process.stdin is not None
        asked = {"arguments": words, "step": step, "later": after, "by": by}
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        child = self._answer()["process"]
        if after is not None and step is None:
            time.sleep(after)
            with suppress(ProcessLookupError):
                os.kill(child, by)
        return self._answer()["status"]

    def _answer(self) -> dict[str, int]:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def said(self) -> list[str]:
        return (self.folder / "said").read_text(encoding="utf-8").strip().splitlines()


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    started = Runner(grow(tmp_path_factory.mktemp("tree")))
    yield started
    started.process.kill()
    started.process.wait()


def recorded(folder: Path, run: str) -> Path:
    return folder / "build" / "smoke" / "results" / f"{run}.json"


def measured(path: Path) -> dict[str, Any]:
    """A record without what says when it was measured."""
    return {key: value for key, value in changes.read(path).items() if key not in TIMES}


def left_behind(folder: Path) -> list[str]:
    """Files that are half of something, anywhere below the generated folder."""
    found = [*folder.rglob("*.part"), *folder.rglob("*.tmp"), *folder.rglob("*.short.pt")]
    return [path.relative_to(folder).as_posix() for path in found]


def whole(folder: Path, run: str) -> bool:
    """Whether the run's record is there and sound, or not there at all."""
    try:
        read_record(recorded(folder, run))
    except RecordError as error:
        return not recorded(folder, run).exists() and "no such record" in str(error)
    return True


# ---------------------------------------------------------------------------- killed


@pytest.mark.xdist_group("faults")
def test_a_training_killed_at_any_moment_goes_on(
    runner: Runner, dice: random.Random, tally: Callable[[str], Tally]
) -> None:
    folder, path = runner.folder, recorded(runner.folder, RUN)
    began = time.monotonic()
    assert runner.run("run", RUN) == 0, runner.said()
    took = time.monotonic() - began
    undisturbed = measured(path)
    path.unlink()
    kills = tally("faults.training_killed")
    resumed = 0
    while kills.attacked < KILLS:
        if dice.random() < 0.5:
            status = runner.run("run", RUN, after=dice.uniform(0, 1.1 * took))
        else:
            status = runner.run("run", RUN, after=dice.uniform(0, 0.2), step=dice.randint(1, STEPS))
        if status == 0:  # it was through: again from the start, over its own record
            assert measured(path) == undisturbed
            if dice.random() < 0.5:
                path.unlink()
            continue
        checkpoints = list(folder.glob("build/smoke/checkpoints/**/*.pt"))
        resumed += bool(checkpoints)
        kills.count(status == -signal.SIGKILL and whole(folder, RUN), f"status {status}")
    assert resumed > KILLS // 10, "it was never killed with a checkpoint to go on from"
    assert runner.run("run", RUN) == 0, runner.said()
    assert measured(path) == undisturbed
    assert left_behind(folder) == []


@pytest.mark.xdist_group("faults")
def test_a_training_that_is_interrupted_says_so_and_goes_on(
    runner: Runner, dice: random.Random, tally: Callable[[str], Tally]
) -> None:
    folder, path = runner.folder, recorded(runner.folder, RUN)
    assert runner.run("run", RUN) == 0, runner.said()
    undisturbed = measured(path)
    stopped = tally("faults.interrupted")
    tries = 0
    while stopped.attacked < INTERRUPTS and tries < 10 * INTERRUPTS:
        tries += 1
        status = runner.run(
            *("run", RUN), after=dice.uniform(0, 0.2), step=dice.randint(1, STEPS), by=signal.SIGINT
        )
        if status == 0:
            continue
        last = runner.said()[-1]
        fine = status == 1 and last.startswith("interrupted; the same command goes on")
        stopped.count(fine and whole(folder, RUN) and measured(path) == undisturbed, last)
    assert runner.run("run", RUN) == 0
    assert measured(path) == undisturbed
    assert left_behind(folder) == []


def kill_tree(process: subprocess.Popen[str], how: int) -> None:
    """The process and everything it started, at once."""
    with suppress(psutil.NoSuchProcess):
        family = [psutil.Process(process.pid), *psutil.Process(process.pid).children(True)]
        for one in family:
            with suppress(psutil.NoSuchProcess):
                one.send_signal(how)
    process.wait()


@pytest.mark.xdist_group("workflow")
@pytest.mark.parametrize("settings", ["full", "smoke"])
def test_a_workflow_killed_at_any_moment_goes_on(
    book: Toy,  # noqa: F811
    settings: str,
    dice: random.Random,
    tally: Callable[[str], Tally],
) -> None:
    """`snakemake --cores all` of a book in small, with every run to be measured again."""
    options = ["--config", f"settings={settings}"]
    for name in ("toss", "walk"):
        book.edit(f"experiments/{name}.py", 'return {"value": ', 'return {"value": 1.0 * ')
    book.edit("experiments/walk.py", "float(double", "float(+double")
    results = book.root / ("results" if settings == "full" else "build/smoke/results")
    before = {p: p.read_bytes() for p in results.rglob("*.json")}
    kills = tally(f"faults.workflow_killed_{['full', 'smoke'].index(settings)}")
    for _ in range(WORKFLOW_KILLS):
        process = book.start(*options, TOY_PATIENCE="0.3")
        time.sleep(dice.uniform(0.2, 5.0))
        kill_tree(process, signal.SIGKILL)
        records = list(results.rglob("*.json"))
        sound = all(read_in(book.root, path) for path in records)
        kills.count(sound and set(before) <= set(records), "a record is gone or damaged")
    after = book.snakemake(*options)
    assert after.status == 0, after.said
    assert book.snakemake(*options).ran == []
    disturbed = {p.relative_to(results): measured(p) for p in results.rglob("*.json")}
    forced = book.snakemake("--forceall", *options)
    assert forced.status == 0, forced.said
    again = {p.relative_to(results): measured(p) for p in results.rglob("*.json")}
    for name, content in disturbed.items():
        assert content["values"] == again[name]["values"]
        assert content["provenance"]["digest"] == again[name]["provenance"]["digest"]
    assert not list(results.rglob("*.tmp"))


def read_in(root: Path, path: Path) -> bool:
    """Whether a record of another tree is whole: its JSON, its own hash."""
    content = changes.read(path)
    expected = content["hash"]
    changes.write(root / "again.json", content, rehash=True)
    return bool(changes.read(root / "again.json")["hash"] == expected)


@pytest.mark.xdist_group("workflow")
def test_an_interrupted_workflow_leaves_everything_whole(
    book: Toy,  # noqa: F811
    dice: random.Random,
    tally: Callable[[str], Tally],
) -> None:
    book.edit("experiments/toss.py", "1.0 / settings", "2.0 / settings")
    stopped = tally("faults.workflow_interrupted")
    ends: list[int] = []
    for _ in range(5):
        process = book.start(TOY_PATIENCE="2")
        time.sleep(dice.uniform(1.0, 4.0))
        kill_tree(process, signal.SIGINT)
        ends.append(process.returncode)
        records = list((book.root / "results").rglob("*.json"))
        stopped.count(len(records) == 4 and all(read_in(book.root, p) for p in records))
    assert any(ends), "none of them was interrupted: each ended as if nothing had been"
    assert book.snakemake().status == 0
    assert book.snakemake().ran == []


@pytest.mark.xdist_group("workflow")
def test_two_workflows_at_once_and_a_clock_set_back(
    book: Toy,  # noqa: F811
    tally: Callable[[str], Tally],
) -> None:
    together, back = tally("faults.two_at_once"), tally("faults.clock_set_back")
    for turn in (2, 3, 4):
        book.edit("experiments/toss.py", f"{turn - 1}.0 / settings", f"{turn}.0 / settings")
        (book.root / "log").unlink(missing_ok=True)
        both = [book.start(TOY_PATIENCE="0.5") for _ in range(2)]
        said = [process.communicate(timeout=900)[0] for process in both]
        fine = [process.returncode for process in both] == [0, 0]
        once = book.log() == ["draw coin", "run toss/s0", "run toss/s1", "site"]
        waited = sum("waiting for another snakemake" in text for text in said) <= 1
        together.count(fine and once and waited, said)
    for days in (1, 400):  # every file is from the future
        moment = time.time() + 86400 * days
        for path in book.root.rglob("*"):
            if path.is_file() and ".git" not in path.parts:
                os.utime(path, (moment, moment))
        again = book.snakemake()
        back.count((again.status, again.measured) == (0, []), again.said)
        book.edit("experiments/toss.py", f"{4 + (days > 1)}.0 /", f"{5 + (days > 1)}.0 /")
        anew = book.snakemake()
        back.count(anew.measured == ["run toss/s0", "run toss/s1"], anew.said)


# ---------------------------------------------------------------------------- a full disk

MOUNTED = "a small tmpfs"
LIMITED = "a limit on the size of files (mounting is not permitted here)"


def may_mount(folder: Path) -> bool:
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)],
        capture_output=True,
        check=False,
    )
    if done.returncode == 0:
        subprocess.run(["umount", str(folder)], check=True)
    return done.returncode == 0


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[None]:
    """The folder is a disk of its own while the block runs; what lay in it is on it."""
    kept = folder.with_name(f"{folder.name}.kept")
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copytree(folder, kept)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], check=True)
    try:
        shutil.copytree(kept, folder, dirs_exist_ok=True)
        yield
        shutil.rmtree(kept)
        shutil.copytree(folder, kept)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
        shutil.copytree(kept, folder, dirs_exist_ok=True)
        shutil.rmtree(kept)


def fill(folder: Path, leave: int = 0) -> Path:
    """Fill the disk that a folder lies on but for some bytes."""
    filler = folder / "filler"
    with suppress(OSError), filler.open("wb") as file:
        while True:
            file.write(b"\0" * 4096)
            file.flush()
    if leave:
        with filler.open("rb+") as file:
            file.truncate(max(0, filler.stat().st_size - leave))
    return filler


LIMIT = (
    "import resource, runpy, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
    "resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY));"
    "sys.argv = sys.argv[2:]; runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)"
)


def on_full_disk(
    tree: Path, folder: Path, words: list[str], room: int, **environment: str
) -> tuple[subprocess.CompletedProcess[str], str]:
    """A command on whose way the disk is full; and how that was done."""
    mount = folder.with_name(f"{folder.name}.try")
    mount.mkdir(parents=True)
    if may_mount(mount):
        mount.rmdir()
        with small_disk(folder, "24m"):
            filler = fill(folder, room)
            done = call(tree, *words, **environment)
            filler.unlink()
        return done, MOUNTED
    mount.rmdir()
    done = subprocess.run(
        [sys.executable, "-c", LIMIT, str(room or 64), *words],
        cwd=tree,
        env={**os.environ, **SMOKE, **environment, "PYTHONPATH": str(tree)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return done, LIMITED


FULL = re.compile(r"no space left on device|file too large", re.IGNORECASE)


@pytest.mark.xdist_group("faults")
@pytest.mark.parametrize("what", ["results", "checkpoints"])
def test_a_full_disk_is_one_line_and_nothing_is_lost(
    what: str, tmp_path: Path, tally: Callable[[str], Tally]
) -> None:
    tree = grow(tmp_path / "tree")
    run = "shuffle/s0" if what == "results" else RUN
    assert call(tree, "experiments", "run", run).returncode == 0
    undisturbed = measured(recorded(tree, run))
    folder = tree / "build" / "smoke" / what
    full = tally(f"faults.full_disk_{['results', 'checkpoints'].index(what)}")
    for room in (0,) if what == "results" else (0, 4096):  # a record fits into the least room
        done, how = on_full_disk(tree, folder, ["experiments", "run", run], room)
        lines = done.stderr.strip().splitlines()
        full.count(
            done.returncode == 1
            and FULL.search(lines[-1])
            and run.split("/")[0] in lines[-1]
            and "Traceback" not in done.stderr
            and measured(recorded(tree, run)) == undisturbed
            and left_behind(tree) == [],
            (how, done.stderr[-600:], left_behind(tree)),
        )
    print(f"the disk was full by {how}")
    assert call(tree, "experiments", "run", run).returncode == 0
    assert measured(recorded(tree, run)) == undisturbed
    assert left_behind(tree) == []


@pytest.fixture(scope="module")
def small_book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The invented book of the tests of the site, built."""
    root = book_tree.grow(tmp_path_factory.mktemp("book"))
    built = book_tree.mkdocs(root, "build", "--strict", SITE_URL="http://127.0.0.1:1/")
    assert built.returncode == 0, built.stderr
    return root


@pytest.mark.xdist_group("small_book")
def test_a_page_on_a_full_disk_is_one_line(small_book: Path, tally: Callable[[str], Tally]) -> None:
    """As the workflow does it: beside the old site, which stays until the new one is whole."""
    disk = small_book / "build" / "disk"
    fresh = disk / "fresh"
    fresh.mkdir(parents=True)
    before = (small_book / "build" / "site" / "index.html").read_bytes()
    full = tally("faults.full_disk_2")
    words = ["mkdocs", "build", "--quiet", "--strict", "--site-dir", str(fresh)]
    for room in (0, 65_536):
        done, how = on_full_disk(
            small_book, disk, words, room, MEDIDA_SETTINGS="full", NO_MKDOCS_2_WARNING="1"
        )
        lines = [line for line in (done.stderr + done.stdout).splitlines() if FULL.search(line)]
        full.count(
            done.returncode != 0
            and len(lines) == 1
            and "Traceback" not in done.stderr
            and (small_book / "build" / "site" / "index.html").read_bytes() == before,
            (how, done.stderr[-800:], done.stdout[-300:]),
        )
    shutil.rmtree(fresh, ignore_errors=True)
    again = book_tree.mkdocs(
        small_book, "build", "--strict", "--site-dir", str(fresh), SITE_URL="http://127.0.0.1:1/"
    )
    assert again.returncode == 0, again.stderr
    assert (fresh / "index.html").read_bytes() == before


@pytest.mark.xdist_group("faults")
def test_results_that_may_only_be_read(tmp_path: Path, tally: Callable[[str], Tally]) -> None:
    tree = grow(tmp_path / "tree")
    assert call(tree, "experiments", "run", "shuffle/s0").returncode == 0
    path = recorded(tree, "shuffle/s0")
    kept = path.read_bytes()
    folder = path.parent.parent
    (tmp_path / "try").mkdir()
    mounted = may_mount(tmp_path / "try")
    if mounted:  # root writes into any folder, but not onto a disk that is read-only
        subprocess.run(["mount", "--bind", str(folder), str(folder)], check=True)
        subprocess.run(["mount", "-o", "remount,bind,ro", str(folder)], check=True)
    else:
        shutil.rmtree(path.parent)
        path.parent.write_text("a file where the folder should be")
    try:
        done = call(tree, "experiments", "run", "shuffle/s0")
    finally:
        if mounted:
            subprocess.run(["umount", str(folder)], check=True)
    last = done.stderr.strip().splitlines()[-1]
    fine = done.returncode == 1 and "could not be written" in last and "python -m" in last
    tally("faults.read_only").count(
        fine and "Traceback" not in done.stderr and (not mounted or path.read_bytes() == kept),
        done.stderr,
    )
    if mounted:
        assert call(tree, "experiments", "run", "shuffle/s0").returncode == 0


# ---------------------------------------------------------------------------- damaged files


def test_a_damaged_record_is_never_read(
    tmp_path: Path, dice: random.Random, tally: Callable[[str], Tally]
) -> None:
    """Every record of the book: cut short, with a byte flipped, with a value edited by hand."""
    cut, flipped, edited = (tally(f"faults.record_{how}") for how in ("cut", "flipped", "edited"))
    for source in sorted((paths.ROOT / "results").glob("*/*.json")):
        path = tmp_path / source.parent.name / source.name
        path.parent.mkdir(exist_ok=True)
        data = source.read_bytes()
        name = f"{source.parent.name}/{source.name}"
        original = read_record(source)
        for length in {0, 1, len(data) // 2, len(data) - 3, *dice.sample(range(len(data)), 4)}:
            path.write_bytes(data[:length])
            same = original if length == len(data) - 1 else None  # the end of the line alone
            cut.count(refused(path, same), f"{name} cut to {length} of {len(data)} bytes")
        for at in dice.sample(range(len(data)), 8):
            bit = 1 << dice.randrange(8)
            path.write_bytes(data[:at] + bytes([data[at] ^ bit]) + data[at + 1 :])
            flipped.count(refused(path, original), f"{name}: bit {bit} of byte {at}")
        content = changes.read(source)
        for key in ("values", "settings", "provenance", "seconds", "measured_at", "units"):
            attacked = json.loads(json.dumps(content))
            scalars = [p for p, v in changes.scalars(attacked[key]) if not isinstance(v, bool)]
            if not scalars or attacked[key] in ({}, None):
                continue
            way = (key, *dice.choice(scalars))
            inner: Any = attacked
            for part in way[:-1]:
                inner = inner[part]
            old = inner[way[-1]]
            inner[way[-1]] = changes.another(old) if old is not None else 1
            changes.write(path, attacked, rehash=False)
            edited.count(refused(path), f"{name}: {'.'.join(map(str, way))}")


def refused(path: Path, original: Any = None) -> bool:
    """Whether reading it is refused in one line, or gives the very same content (white space)."""
    try:
        record = read_record(path)
    except RecordError as error:
        return "\n" not in str(error) and path.name in str(error)
    return (
        original is not None and record.hash == original.hash and record.values == original.values
    )


@pytest.mark.corpus
def test_another_text_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    dice: random.Random,
    tally: Callable[[str], Tally],
) -> None:
    """Wrong, short, growing, empty, a folder, a link to itself: one line with the ways out."""
    found = corpus.find_corpus()
    assert found is not None
    right = found.read_bytes()
    file = tmp_path / corpus.NAME
    monkeypatch.setattr(corpus, "folders", lambda: (tmp_path,))
    monkeypatch.setattr(corpus, "download", refuse_download)
    wrong = tally("faults.other_text")
    for content in (
        b"", b"\n", right[:-1], right[: len(right) // 2], right + b"\n", right + right,
        right.replace(b"the", b"The", 1), right.swapcase(), right.replace(b"\n", b"\r\n"),
        *(flip(right, dice.randrange(len(right))) for _ in range(20)),
    ):  # fmt: skip
        file.write_bytes(content)
        try:
            corpus.load_corpus()
        except corpus.CorpusError as error:
            said = str(error)
            wrong.count("\n" not in said and "data/" in said and str(file) in said, said)
        else:
            wrong.count(False, f"{len(content)} bytes")
    file.write_bytes(right)
    assert corpus.load_corpus().encode() == right
    with file.open("ab") as growing:  # between two runs, or under one's feet
        for _ in range(5):
            growing.write(b"more\n")
            growing.flush()
            with pytest.raises(corpus.CorpusError, match="not the text"):
                corpus.load_corpus()
    file.unlink()
    file.symlink_to(file)
    with pytest.raises(corpus.CorpusError):
        corpus.load_corpus()


def flip(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def refuse_download(*_: object) -> Path:
    raise corpus.CorpusError("no network, and nothing in data/")


# ---------------------------------------------------------------------------- a device that goes

VANISHES = """
import sys
import torch
from experiments.__main__ import main
from model import train
calls = 0
real = train.fused_loss
def loss(*given):
    global calls
    calls += 1
    if calls == int(sys.argv[1]):
        raise {error}
    return real(*given)
train.fused_loss = loss
raise SystemExit(main(["run", "averages/mean_added.s0"]))
"""
LOST = {
    "gone": 'torch.AcceleratorError("CUDA error: device-side assert triggered")',
    "memory": 'torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")',
    "runtime": 'RuntimeError("CUDA error: unspecified launch failure; and more")',
}


@pytest.mark.xdist_group("faults")
@pytest.mark.parametrize("how", LOST)
def test_a_device_that_vanishes_is_one_line(
    runner: Runner, how: str, tally: Callable[[str], Tally]
) -> None:
    folder = runner.folder
    assert runner.run("run", RUN) == 0, runner.said()
    undisturbed = measured(recorded(folder, RUN))
    lost = tally(f"faults.device_lost_{list(LOST).index(how)}")
    for step in ("2", "8"):
        done = subprocess.run(
            [sys.executable, "-c", VANISHES.format(error=LOST[how]), step],
            cwd=folder,
            env={**os.environ, **SMOKE, "PYTHONPATH": str(folder)},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        last = done.stderr.strip().splitlines()[-1]
        lost.count(
            done.returncode == 1
            and last.startswith(f"{RUN}: the device failed")
            and "Traceback" not in done.stderr
            and measured(recorded(folder, RUN)) == undisturbed,
            done.stderr[-500:],
        )
    assert runner.run("run", RUN) == 0
    assert measured(recorded(folder, RUN)) == undisturbed


@pytest.mark.xdist_group("faults")
def test_a_device_that_is_not_there_is_one_line(
    runner: Runner, tally: Callable[[str], Tally]
) -> None:
    absent = tally("faults.device_absent")
    for device in ("cuda", "mps", "tpu", "", "cuda:7", "CPU"):
        status = runner.run("run", RUN, "--device", device)
        said = runner.said()
        absent.count(status == 1 and len(said) == 1 and "device" in said[0], (device, said))
