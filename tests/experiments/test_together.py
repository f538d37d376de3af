"""Is the whole book measured in one call, and does its archive come home whole or not at all?"""

import io
import json
import shutil
import tarfile
from pathlib import Path

import pytest

from tests.experiments.command import call
from tests.experiments.test_runner import copy as copy  # the fixture

QUICK = ("averages", "shuffle", "triangle")


@pytest.fixture(scope="module")
def archive(copy: Path) -> Path:
    """A book of three experiments, measured with two seeds into a folder elsewhere."""
    for path in (copy / "experiments").glob("*.py"):
        if "def measure(settings" in path.read_text() and path.stem not in QUICK:
            path.unlink()
    done = call(copy, "run", "--all", "--seeds", "2", "--out", "elsewhere", "--device", "cpu")
    assert done.stdout.strip() == "elsewhere/records.tar.gz"
    return copy / "elsewhere" / "records.tar.gz"


def test_everything_is_measured_once(copy: Path, archive: Path) -> None:
    with tarfile.open(archive) as tar:
        names = tar.getnames()
    assert "results/averages/mean_added.s1.json" in names
    assert "results/averages/mean_added.s2.json" not in names
    assert "results/averages/bigram.json" in names
    assert "results/triangle/all.json" in names
    again = call(copy, "run", "--all", "--seeds", "2", "--out", "elsewhere", "--device", "cpu")
    assert "row" not in again.stderr


def test_seeds_trained_together_equal_the_seed_alone(copy: Path, archive: Path) -> None:
    call(copy, "run", "averages/mean_added.s1")
    paths = [
        copy / "build/smoke/results/averages/mean_added.s1.json",
        copy / "elsewhere/results/averages/mean_added.s1.json",
    ]
    alone, together = (json.loads(path.read_text()) for path in paths)
    assert together["replay"] == alone["replay"]
    for name in ("train_perplexity", "validation_perplexity", "parameters"):
        assert together["values"][name] == pytest.approx(alone["values"][name], rel=1e-5)
    curves = [record["values"]["curve"]["validation_perplexity"] for record in (alone, together)]
    assert curves[0] == pytest.approx(curves[1], rel=1e-5)


def test_an_archive_is_adopted_and_replays(copy: Path, archive: Path) -> None:
    results = copy / "build" / "smoke" / "results"
    shutil.rmtree(results, ignore_errors=True)
    done = call(copy, "adopt", str(archive))
    assert "records adopted" in done.stdout
    for path in (copy / "elsewhere" / "results").glob("*/*.json"):
        home = results / path.parent.name / path.name
        assert home.read_bytes() == path.read_bytes()
    call(copy, "replay", "averages/mean.s1", "shuffle/s3")


@pytest.mark.parametrize("evil", ["../outside.json", "results/averages/../../x.json", "results/a"])
def test_a_name_that_leads_elsewhere_is_refused(copy: Path, tmp_path: Path, evil: str) -> None:
    path = tmp_path / "evil.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        member = tarfile.TarInfo(evil)
        member.size = 2
        tar.addfile(member, io.BytesIO(b"{}"))
    done = call(copy, "adopt", str(path), check=1)
    assert "is no record" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_changed_record_is_refused_and_nothing_is_taken(
    copy: Path, archive: Path, tmp_path: Path
) -> None:
    results = copy / "build" / "smoke" / "results"
    shutil.rmtree(results, ignore_errors=True)
    bad = tmp_path / "bad.tar.gz"
    with tarfile.open(archive) as source, tarfile.open(bad, "w:gz") as target:
        for member in source.getmembers():
            file = source.extractfile(member)
            assert file is not None
            content = file.read()
            if member.name.endswith("triangle/all.json"):
                content = content.replace(b'"shown": 6', b'"shown": 7')
            member.size = len(content)
            target.addfile(member, io.BytesIO(content))
    done = call(copy, "adopt", str(bad), check=1)
    assert "does not agree with its own hash" in done.stderr
    assert not list(results.glob("*/*.json"))


def test_where_one_record_cannot_lie_none_is_taken(copy: Path, archive: Path) -> None:
    results = copy / "build" / "smoke" / "results"
    shutil.rmtree(results, ignore_errors=True)
    results.mkdir()
    (results / "triangle").write_text("a file where a folder has to be")
    try:
        done = call(copy, "adopt", str(archive), check=1)
        assert len(done.stderr.strip().splitlines()) == 1
        assert [path.name for path in results.rglob("*") if path.is_file()] == ["triangle"]
    finally:
        (results / "triangle").unlink()


def test_no_archive_is_one_clear_line(copy: Path, tmp_path: Path) -> None:
    path = tmp_path / "letter.tar.gz"
    path.write_text("dear archive")
    for name in (path, tmp_path / "absent.tar.gz"):
        done = call(copy, "adopt", str(name), check=1)
        assert len(done.stderr.strip().splitlines()) == 1


def test_a_damaged_archive_is_one_clear_line_and_nothing_is_taken(
    copy: Path, archive: Path, tmp_path: Path
) -> None:
    results = copy / "build" / "smoke" / "results"
    shutil.rmtree(results, ignore_errors=True)
    whole = archive.read_bytes()
    middle = len(whole) // 2
    damaged = tmp_path / "damaged.tar.gz"
    for content in (whole[:middle], whole[:middle] + bytes(64) + whole[middle + 64 :]):
        damaged.write_bytes(content)
        done = call(copy, "adopt", str(damaged), check=1)
        (line,) = done.stderr.strip().splitlines()
        assert line.startswith(f"{damaged}: "), line
        assert not list(results.glob("*/*.json"))
