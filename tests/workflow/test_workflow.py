"""Does Snakemake do exactly what is out of date, whatever happens to files, times and processes?"""

import json
import shutil
import time
from collections.abc import Callable

import psutil
import pytest

from tests.workflow.toy import RUNS, Book

ALL_FIGURES = ["draw coin", "draw path"]


def test_a_second_call_does_nothing(book: Book) -> None:
    again = book.snakemake()
    assert (again.status, again.ran) == (0, [])


def test_a_fresh_clone_with_shuffled_times_measures_nothing(clone: Callable[[], Book]) -> None:
    book = clone()
    book.shuffle_times()
    first = book.snakemake()
    assert (first.status, first.measured) == (0, []), first.said
    assert first.ran == [*ALL_FIGURES, "site", "web"]
    assert (book.root / "build/site/index.html").exists()
    assert book.snakemake().ran == []

    shutil.rmtree(book.root / ".snakemake")
    book.shuffle_times()
    forgotten = book.snakemake()
    assert (forgotten.status, forgotten.measured) == (0, []), forgotten.said
    assert book.changed() == []


def test_touching_everything_does_nothing(book: Book) -> None:
    for name in book.git("ls-files").splitlines():
        (book.root / name).touch()
    touched = book.snakemake()
    assert (touched.status, touched.ran) == (0, [])


def test_a_comment_measures_nothing(book: Book) -> None:
    book.edit("experiments/toss.py", "    return", "    # why\n    return")
    book.edit("model/parts.py", "    return x", '    """What it is not."""\n    return x')
    commented = book.snakemake()
    assert (commented.status, commented.ran) == (0, ["site"])  # which publishes the source
    assert book.snakemake().ran == []


def test_code_measures_its_own_experiment_and_redraws_what_cites_it(book: Book) -> None:
    book.edit("experiments/toss.py", "1.0 / settings", "2.0 / settings")
    edited = book.snakemake()
    assert edited.status == 0, edited.said
    assert edited.ran == ["draw coin", "run toss/s0", "run toss/s1", "site"]
    assert "measure toss/s0: definition experiments.toss.measure changed" in edited.said
    assert book.changed() == [
        "experiments/toss.py",
        "results/toss/s0.json",
        "results/toss/s1.json",
    ]
    assert book.snakemake().ran == []

    book.git("checkout", "--quiet", "--", ".")
    reverted = book.snakemake()
    assert (reverted.status, reverted.ran) == (0, ["draw coin", "site"])


@pytest.mark.parametrize(
    ("name", "before", "after", "measured"),
    [
        pytest.param(
            "experiments/walk.py", '"steps": 30', '"steps": 40', ["run walk/long.s0"], id="of a row"
        ),
        pytest.param(
            "model/settings.py",
            "steps: int = 3",
            "steps: int = 4",
            ["run walk/short.s0"],
            id="inherited",
        ),
        pytest.param(
            "experiments/toss.py",
            "Settings()",
            "Settings(sides=6)",
            ["run toss/s0", "run toss/s1"],
            id="of all runs",
        ),
    ],
)
def test_a_setting_measures_the_runs_that_have_it(
    book: Book, name: str, before: str, after: str, measured: list[str]
) -> None:
    book.edit(name, before, after)
    edited = book.snakemake()
    assert edited.status == 0, edited.said
    assert edited.measured == measured
    assert book.snakemake().ran == []


def test_code_that_a_trained_run_depends_on_is_replayed_first(book: Book) -> None:
    book.edit("model/parts.py", "return 2 * x", "return x + x")
    same = book.snakemake()
    assert same.status == 0, same.said
    assert same.measured == ["replay walk/long.s0", "replay walk/short.s0"]
    assert json.loads(book.record("walk/long.s0").read_text())["attestations"]
    assert book.snakemake().ran == []

    book.edit("model/parts.py", "return x + x", "return 3 * x")
    differs = book.snakemake()
    assert differs.status == 0, differs.said
    assert differs.measured == [
        f"{program} walk/{row}.s0" for program in ("replay", "run") for row in ("long", "short")
    ]
    assert book.snakemake().ran == []


def test_a_replay_that_fails_is_no_reason_to_measure(book: Book) -> None:
    """Ctrl-C, a full disk: only a replay that disagrees, or cannot decide, is one."""
    book.edit("model/parts.py", "return 2 * x", "return x + x")
    failed = book.snakemake(TOY_REPLAY_FAILS="1")
    assert failed.status != 0
    assert failed.measured == ["replay walk/long.s0", "replay walk/short.s0"]
    assert book.snakemake().measured == ["replay walk/long.s0", "replay walk/short.s0"]


@pytest.mark.parametrize("damage", ["half", "by hand", "gone"])
def test_a_damaged_record_is_measured_and_no_other(book: Book, damage: str) -> None:
    record = book.record("toss/s0")
    whole = record.read_text()
    if damage == "gone":
        record.unlink()
    else:
        record.write_text(
            whole[: len(whole) // 2] if damage == "half" else whole.replace("0.5", "0.6")
        )
    mended = book.snakemake()
    assert mended.status == 0, mended.said
    assert mended.ran == ["draw coin", "run toss/s0", "site"]
    assert book.snakemake().ran == []


def test_a_failing_job_leaves_its_record_and_stops_only_what_needs_it(book: Book) -> None:
    old = book.record("toss/s0").read_bytes()
    book.edit("experiments/toss.py", "1.0 / settings.sides", "1.0 / 0")
    book.edit("experiments/walk.py", "settings.width)", "settings.width + 0)")
    failed = book.snakemake()
    assert failed.status != 0
    assert "run walk/long.s0" in failed.ran or "replay walk/long.s0" in failed.ran
    assert "draw path" in failed.ran
    assert "site" not in failed.ran
    assert book.record("toss/s0").read_bytes() == old
    assert (book.root / "build/site/index.html").exists()

    book.edit("experiments/toss.py", "1.0 / 0", "2.0 / settings.sides")
    mended = book.snakemake()
    assert mended.status == 0, mended.said
    assert mended.ran == ["draw coin", "run toss/s0", "run toss/s1", "site"]


def test_a_failing_page_leaves_the_old_site_and_is_tried_again(book: Book) -> None:
    book.edit(
        "hook.py",
        "    with",
        '    assert "broken" not in open("chapters/01-toy/pt.md.j2").read()\n    with',
    )
    chapter = book.root / "chapters/01-toy/pt.md.j2"
    chapter.write_text("broken")
    for _ in range(2):
        failed = book.snakemake()
        assert failed.status != 0
        assert (book.root / "build/site/index.html").exists()
    chapter.write_text("whole")
    assert book.snakemake().ran == ["site"]


def test_what_is_gone_leaves_the_site(book: Book) -> None:
    (book.root / "figures/coin.py").unlink()
    assert (book.root / "build/site/other/index.html").exists()
    (book.root / "pages/other.md").unlink()
    gone = book.snakemake()
    assert (gone.status, gone.ran) == (0, ["site"])
    assert not (book.root / "build/site/other").exists()


def wait_for(book: Book, line: str) -> None:
    end = time.monotonic() + 300
    while line not in book.log():
        assert time.monotonic() < end, f"{line}: never came"
        time.sleep(0.05)


def test_after_a_kill_the_next_plain_call_goes_on(book: Book) -> None:
    old = book.record("toss/s0").read_bytes()
    book.edit("experiments/toss.py", "1.0 / settings", "2.0 / settings")
    (book.root / "log").unlink(missing_ok=True)
    killed = book.start(TOY_PATIENCE="20")
    wait_for(book, "run toss/s0")
    children = psutil.Process(killed.pid).children(recursive=True)
    killed.kill()
    killed.wait()
    for child in children:
        child.kill()
    assert book.record("toss/s0").read_bytes() == old
    after = book.snakemake()
    assert after.status == 0, after.said
    assert after.ran == ["draw coin", "run toss/s0", "run toss/s1", "site"]
    assert book.snakemake().ran == []


def test_two_at_once_work_one_after_the_other(book: Book) -> None:
    book.edit("experiments/toss.py", "1.0 / settings", "2.0 / settings")
    (book.root / "log").unlink(missing_ok=True)
    both = [book.start(TOY_PATIENCE="1") for _ in range(2)]
    said = [process.communicate(timeout=600)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert book.log() == ["draw coin", "run toss/s0", "run toss/s1", "site"]
    assert sum("waiting for another snakemake" in text for text in said) == 1


def test_a_dry_run_says_what_and_why_and_does_nothing(book: Book) -> None:
    book.edit("experiments/toss.py", "Settings()", "Settings(sides=6)")
    book.edit("model/parts.py", "return 2 * x", "return x + x")
    dry = book.snakemake("-n")
    assert (dry.status, dry.ran) == (0, [])
    assert "plan: replay 2, measure 2 (about 3 min on one core)" in dry.said
    assert "measure toss/s1: setting sides: 2 -> 6" in dry.said
    assert "replay walk/long.s0: definition model.parts.double changed" in dry.said
    counts = dict(line.split() for line in dry.said.splitlines() if len(line.split()) == 2)
    assert (counts["replay"], counts["measure"], counts["draw"]) == ("2", "2", "2")
    assert book.changed() == ["experiments/toss.py", "model/parts.py"]


def test_forceall_measures_everything(book: Book) -> None:
    book.edit("model/parts.py", "return 2 * x", "return x + x")
    forced = book.snakemake("--forceall")
    assert forced.status == 0, forced.said
    assert forced.measured == [f"run {run}" for run in RUNS]
    assert book.snakemake().ran == []


def test_one_record_can_be_asked_for(book: Book) -> None:
    forced = book.snakemake("--force", "results/toss/s0.json")
    assert (forced.status, forced.ran) == (0, ["run toss/s0"])
    assert "measure toss/s0: asked for" in forced.said


def test_smoke_runs_everything_apart_and_touches_no_record(book: Book) -> None:
    small = book.snakemake("--config", "settings=smoke")
    assert small.status == 0, small.said
    assert small.measured == [f"run {run}" for run in RUNS]
    assert book.changed() == []
    assert '"sides": 1' in (book.root / "build/smoke/results/toss/s0.json").read_text()
    assert (book.root / "build/smoke/site/index.html").exists()
    assert book.snakemake("--config", "settings=smoke").ran == []
    book.edit("experiments/toss.py", "1.0 / settings", "2.0 / settings")
    again = book.snakemake("--config", "settings=smoke")
    assert (again.status, again.measured) == (0, ["run toss/s0", "run toss/s1"])
    assert book.changed() == ["experiments/toss.py"]


@pytest.mark.parametrize("wrong", ["settings=tiny", "device=tpu", "setings=smoke"])
def test_a_setting_that_there_is_not_is_refused(book: Book, wrong: str) -> None:
    refused = book.snakemake("--config", wrong)
    assert (refused.status != 0, refused.ran) == (True, [])
    assert f"--config {wrong}: there is only settings=full|smoke" in refused.said
