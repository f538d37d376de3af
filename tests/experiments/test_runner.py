"""What happens to a record when a run fails, is killed, or is asked for in the wrong way?"""

import importlib
import io
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch

from engine import declaration, provenance
from engine.declaration import run_spec
from engine.errors import MedidaError
from experiments import as_imported, runner
from model import corpus, train
from tests.experiments.command import call

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what measures, without records, the book's README as its text."""
    folder = tmp_path_factory.mktemp("book")
    for name in ("engine", "model", "experiments"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    chapter = folder / "chapters" / "01-text"
    chapter.mkdir(parents=True)
    shutil.copy(ROOT / "README.md", chapter / "en.md.j2")
    return folder


def recorded(folder: Path, run: str) -> dict[str, object]:
    return json.loads((folder / "build" / "smoke" / "results" / f"{run}.json").read_text())


@contextmanager
def edited(file: Path, *changes: tuple[str, str]) -> Iterator[None]:
    """The file with each text, which must stand there once, in another form."""
    right = changed = file.read_text()
    for before, after in changes:
        assert changed.count(before) == 1, f"{before!r} in {file.name}"
        changed = changed.replace(before, after)
    file.write_text(changed)
    try:
        yield
    finally:
        file.write_text(right)


def test_a_record_is_whole_and_can_be_replayed(copy: Path) -> None:
    call(copy, "run", "averages/none.s0")
    record = recorded(copy, "averages/none.s0")
    assert len(record["replay"]["losses"]) == 5  # type: ignore[index, call-overload]
    done = call(copy, "replay", "averages/none.s0")
    assert "agrees within" in done.stderr


def test_a_changed_model_fails_its_replay(copy: Path) -> None:
    call(copy, "run", "averages/mean.s1")
    off_by_one = ("torch.arange(1, x.shape[-2] + 1,", "torch.arange(2, x.shape[-2] + 2,")
    with edited(copy / "model" / "attention.py", off_by_one):
        done = call(copy, "replay", "averages/mean.s1", "--attest", check=3)
        assert "averages/mean.s1: differs" in done.stderr
        call(copy, "replay", "averages/mean.s1", check=1)


def test_an_equivalent_change_is_attested_once_its_code_was_called(copy: Path) -> None:
    call(copy, "run", "averages/mean.s1")
    before = recorded(copy, "averages/mean.s1")
    equivalent = ("x.cumsum(-2) / counts[:, None]", "x.cumsum(-2) * (1 / counts[:, None])")
    with edited(copy / "model" / "attention.py", equivalent):
        done = call(copy, "replay", "averages/mean.s1", check=1)
        assert "stale" in done.stderr
        done = call(copy, "replay", "averages/mean.s1", "--attest")
        assert "re-attested" in done.stderr
        after = recorded(copy, "averages/mean.s1")
        assert after["values"] == before["values"]
        assert len(after["attestations"]) == 1  # type: ignore[arg-type]
        call(copy, "replay", "averages/mean.s1")


def test_a_changed_definition_that_no_replay_calls_is_not_attested(copy: Path) -> None:
    call(copy, "run", "averages/none.s0")
    never_called = ("raise NotImplementedError", "raise NotImplementedError(self)")
    with edited(copy / "model" / "language_model.py", never_called):
        done = call(copy, "replay", "averages/none.s0", "--attest", check=3)
        assert "did not call model.language_model.LanguageModel.features" in done.stderr


def test_what_depends_on_the_machine_is_left_out_of_a_replay(copy: Path) -> None:
    measured = "language.measure_language_model(settings, run)[1]"
    with edited(
        copy / "experiments" / "averages.py",
        ("from collections", "import time\nfrom collections"),
        (measured, f'{measured} | {{"t_ms": time.perf_counter()}}'),
        ("FULL =", 'MACHINE_DEPENDENT = ("t_ms",)\nFULL ='),
    ):
        call(copy, "run", "averages/none.s0")
        done = call(copy, "replay", "averages/none.s0")
        assert "agrees within" in done.stderr


def test_what_is_too_long_to_repeat_is_said_to_be_left_out(copy: Path) -> None:
    call(copy, "run", "triangle/all")
    none_is_short = ("MEASURED_AGAIN = 60.0", "MEASURED_AGAIN = 0.0")
    with edited(copy / "experiments" / "runner.py", none_is_short):
        done = call(copy, "replay", "triangle/all")
        assert done.stdout.startswith("triangle/all: not replayed; ")
        call(copy, "replay", "triangle/all", "--attest", check=3)


def test_what_was_edited_since_its_import_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = run_spec("shuffle/s0")
    importlib.import_module("experiments.shuffle")
    assert as_imported.fingerprint(spec).digest == provenance.fingerprint(spec).digest
    path, _ = as_imported.imported["experiments.shuffle"]
    monkeypatch.setitem(
        as_imported.imported, "experiments.shuffle", (path, b"what stood there before")
    )
    with pytest.raises(MedidaError, match=r"shuffle\.py was edited after this process had read it"):
        as_imported.fingerprint(spec)
    as_imported.fingerprint(run_spec("triangle/all"))


def test_a_killed_run_goes_on_and_leaves_the_record_as_it_was(copy: Path) -> None:
    longer = edited(copy / "experiments" / "averages.py", ("steps=12", "steps=700"))
    saving = edited(copy / "model" / "train.py", ("SAVE_EVERY = 60.0", "SAVE_EVERY = 0.0"))
    with longer, saving:
        call(copy, "run", "averages/none.s0")
        path = copy / "build" / "smoke" / "results" / "averages" / "none.s0.json"
        whole, content = recorded(copy, "averages/none.s0"), path.read_bytes()
        child = subprocess.Popen(
            [sys.executable, "-m", "experiments", "run", "averages/none.s0"],
            cwd=copy,
            env=os.environ | {"OMP_NUM_THREADS": "1", "MEDIDA_SETTINGS": "smoke"},
            stderr=subprocess.DEVNULL,
        )
        checkpoints = copy / "build" / "smoke" / "checkpoints" / "averages"
        while child.poll() is None and not list(checkpoints.glob("none.s0.*[0-9a-f].pt")):
            time.sleep(0.01)
        time.sleep(0.3)
        child.send_signal(signal.SIGKILL)
        assert child.wait() == -signal.SIGKILL, "it ended before it was killed"
        assert path.read_bytes() == content
        call(copy, "run", "averages/none.s0")
        resumed = recorded(copy, "averages/none.s0")
        assert resumed["values"] == whole["values"]
        assert resumed["replay"] == whole["replay"]
        assert not [p for p in checkpoints.glob("none*") if not p.name.endswith(".part")]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("run", "averages/nothing.s0"), "averages/nothing.s0|no run 'nothing.s0'"),
        (("run", "avrages/none.s0"), "avrages.*averages"),
        (("run", "averages"), "EXPERIMENT/RUN"),
        (("run", "averages/none.s0", "--device", "abacus"), "abacus"),
        (("run", "averages/none.s0", "--device", "cuda"), "cuda is not here"),
        (("replay", "ladder/mlp.s0"), "no such record"),
        ((), "required: command"),
        (("run", "averages/none.s0", "--settings", "huge"), "huge"),
        (("run", "--all", "--seeds", "many"), "many"),
        (("run", "--all"), "--out DIR"),
        (("run", "averages/none.s0", "--out", "elsewhere"), "belong to run --all"),
        (("run", "averages/none.s0", "--seeds", "5"), "belong to run --all"),
    ],
)
def test_bad_input_is_one_clear_line(copy: Path, words: tuple[str, ...], says: str) -> None:
    done = call(copy, *words, check=1, CUDA_VISIBLE_DEVICES="")
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    assert re.search(says, lines[0]), lines[0]


def test_an_unwritable_results_folder_is_one_clear_line(copy: Path) -> None:
    call(copy, "run", "triangle/all")
    path = copy / "build" / "smoke" / "results" / "triangle"
    kept = (path / "all.json").read_bytes()
    moved = path.with_name("triangle.aside")
    path.rename(moved)
    path.write_text("a file where the folder should be")
    try:
        done = call(copy, "run", "triangle/all", check=1)
        assert "could not be written" in done.stderr.strip().splitlines()[-1]
    finally:
        path.unlink()
        moved.rename(path)
    assert (path / "all.json").read_bytes() == kept


def test_a_module_that_cannot_be_read_is_one_clear_line(copy: Path) -> None:
    file = copy / "model" / "corpus.py"
    right = file.read_bytes()
    try:
        for wrong in (b"\xff", b"def ("):
            file.write_bytes(right + wrong)
            done = call(copy, "run", "shuffle/s0", check=1)
            (line,) = done.stderr.strip().splitlines()
            assert re.search(r"model/corpus\.py(:\d+)?: ", line), line
    finally:
        file.write_bytes(right)


def test_a_build_folder_that_cannot_be_one_is_one_clear_line(tmp_path: Path, copy: Path) -> None:
    folder = tmp_path / "book"
    shutil.copytree(copy, folder, ignore=shutil.ignore_patterns("build"))
    (folder / "build").write_text("a file where the folder should be")
    for word in ("run", "replay"):
        (line,) = call(folder, word, "shuffle/s0", check=1).stderr.strip().splitlines()
        assert re.search(r"^shuffle/s0: .*build.*: Not a directory$", line), line


def test_a_run_that_became_a_training_has_no_steps_to_repeat(copy: Path) -> None:
    call(copy, "run", "shuffle/s0")
    a_training = ("\nSEEDS", "\nTRAINED = True\nSEEDS")
    with edited(copy / "experiments" / "shuffle.py", a_training):
        done = call(copy, "replay", "shuffle/s0", "--attest", check=1)
        (line,) = done.stderr.strip().splitlines()
        assert line.endswith("python -m experiments run shuffle/s0 --settings smoke"), line


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_full_disk_is_one_clear_line_and_leaves_the_record(copy: Path) -> None:
    with open("/dev/full", "w") as full:
        listed = subprocess.run(
            [sys.executable, "-m", "experiments", "list"],
            cwd=copy,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert listed.returncode == 1
    assert listed.stderr.splitlines() == ["the output: No space left on device"]

    call(copy, "run", "shuffle/s0")
    path = copy / "build" / "smoke" / "results" / "shuffle" / "s0.json"
    kept = path.read_bytes()
    program = (  # a disk with room for next to nothing: what is written beyond it is refused
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (64, resource.RLIM_INFINITY));"
        "from experiments.__main__ import main;"
        "raise SystemExit(main(['run', 'shuffle/s0', 'averages/none.s0']))"
    )
    done = subprocess.run(
        [sys.executable, "-B", "-c", program],
        cwd=copy,
        env=os.environ | {"OMP_NUM_THREADS": "1", "MEDIDA_SETTINGS": "smoke"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert "could not be written" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert path.read_bytes() == kept
    assert sorted(p.name for p in path.parent.iterdir() if ".tmp" in p.name) == []


def test_a_full_disk_ends_a_training_in_one_line(copy: Path) -> None:
    program = (
        "import errno, torch\n"
        "def full(*_, **__): raise OSError(errno.ENOSPC, 'No space left on device')\n"
        "torch.save = full\n"
        "from experiments.__main__ import main\n"
        "raise SystemExit(main(['run', 'averages/none.s0']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=copy,
        env=os.environ | {"OMP_NUM_THREADS": "1", "MEDIDA_SETTINGS": "smoke"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    said = done.stderr.strip().splitlines()[-1]
    assert said == "averages/none.s0: build/smoke: No space left on device"
    assert "Traceback" not in done.stderr


class Interrupted(io.BytesIO):
    """Ctrl-C comes with the write of this number."""

    def __init__(self, write: int) -> None:
        super().__init__()
        self.left = write

    def write(self, data: Any) -> int:
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt
        return super().write(data)


def test_ctrl_c_at_any_write_of_a_checkpoint_is_ctrl_c(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PyTorch makes a RuntimeError of some of them, in which the interrupt is only the context."""
    save, state = torch.save, {"weights": torch.ones(3), "step": 1}
    path = tmp_path / "none.pt"
    train.save_state(path, state)
    before, writes = path.read_bytes(), 0
    spec = declaration.run_spec("averages/none.s0")
    monkeypatch.setattr(torch, "save", lambda of, _: save(of, Interrupted(writes)))
    while True:
        writes += 1
        try:
            with runner.plain_errors(spec):
                train.save_state(path, state)
        except KeyboardInterrupt:
            assert [(p, p.read_bytes()) for p in tmp_path.iterdir()] == [(path, before)]
        else:
            break
    assert writes > 20, "it was written in fewer pieces: most of them were not tried"


def test_a_reader_that_goes_away_is_no_accident(copy: Path) -> None:
    program = f"{sys.executable} -m experiments list | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", program], cwd=copy, capture_output=True, check=False)
    assert done.returncode in (0, 1)
    assert done.stderr == b""


def test_disagreements_are_found_and_named() -> None:
    def compare(one: object, other: object, same: bool = True) -> list[str]:
        return runner.disagreements(one, other, 1e-3, same, {"time"})

    good = {"a": 2.0, "b": [1.0, {"c": "x"}], "n": math.nan, "i": 3, "time": 5.0}
    assert compare(good, good | {"a": 2.001, "time": 99.0}) == []
    assert compare(good, good | {"a": 2.01})[0].startswith("a: 2.01")
    assert compare(good, good | {"b": [1.0, {"c": "y"}]})[0].startswith("b.1.c")
    assert compare(good, good | {"b": [1.0, {"c": "y"}]}, same=False) == []
    counted = good | {"i": 1_115_394}
    assert compare(counted, counted | {"i": 1_115_393})[0].startswith("i: 1115393")
    assert compare(counted, counted | {"i": 1_115_393}, same=False) == []
    assert compare(good, good | {"n": 1.0})
    assert compare({"m": -math.inf}, {"m": -math.inf}) == []
    for other in (math.inf, 5.0, math.nan):
        assert compare({"m": -math.inf}, {"m": other}), other
        assert compare({"m": other}, {"m": -math.inf}), other
    assert compare(good, good | {"b": [1.0]})
    assert compare(good, {name: value for name, value in good.items() if name != "a"})
    assert compare({"x": True}, {"x": False})
    assert compare({"x": 1.0}, {"x": "1.0"})


# The corpus: looked for in order, its hash checked, half a download never kept.


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    found = [tmp_path / name for name in ("data", "named", "shared")]
    monkeypatch.setattr(corpus, "folders", lambda: tuple(found))
    monkeypatch.setattr(corpus, "SHA256", __import__("hashlib").sha256(b"text").hexdigest())
    return found


def test_the_corpus_is_found_in_order(folders: list[Path]) -> None:
    assert corpus.find_corpus() is None
    for folder in reversed(folders):
        folder.mkdir()
        (folder / corpus.NAME).write_bytes(b"text")
        assert corpus.find_corpus() == folder / corpus.NAME


@pytest.mark.parametrize("content", [b"", b"tex", b"text and more"])
def test_a_wrong_corpus_is_named_with_the_ways_out(folders: list[Path], content: bytes) -> None:
    folders[1].mkdir()
    (folders[1] / corpus.NAME).write_bytes(content)
    with pytest.raises(corpus.CorpusError, match=r"tinyshakespeare\.txt.*remove it.*MEDIDA_DATA"):
        corpus.find_corpus()


def test_named_folder_comes_between_data_and_shared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEDIDA_DATA", str(tmp_path))
    assert corpus.folders() == (ROOT / "data", tmp_path, ROOT.parent / "shared" / "data")


def test_a_download_is_kept_whole_or_not_at_all(
    folders: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus.time, "sleep", lambda seconds: None)
    source = tmp_path / "source.txt"
    source.write_bytes(b"te")
    with pytest.raises(corpus.CorpusError, match=r"could not be downloaded.*MEDIDA_DATA"):
        corpus.download(url=source.as_uri())
    assert list(folders[0].iterdir()) == []
    source.write_bytes(b"text")
    assert corpus.download(url=source.as_uri()).read_bytes() == b"text"
    assert [path.name for path in folders[0].iterdir()] == [corpus.NAME]


def test_no_network_is_one_clear_line(folders: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus.time, "sleep", lambda seconds: None)
    with pytest.raises(corpus.CorpusError, match="by hand") as caught:
        corpus.download(url="http://127.0.0.1:9/text.txt")
    assert "\n" not in str(caught.value)
