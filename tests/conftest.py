"""What of the tests can run on this machine, and is anything left out said aloud?

A test marked `corpus`, `browser` or `cuda` is left out where the text, Chromium or a CUDA device is
not there; the summary names each with the reason. Where MEDIDA_CI is set (.ci/run does) nothing may
be left out but what needs a GPU, and a skip is a failure too. An xdist_group shares a worker.
"""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

ROOT = Path(__file__).parents[1]
CI = bool(os.environ.get("MEDIDA_CI"))
TEXT = "tinyshakespeare.txt"

settings.register_profile("patient", deadline=None)  # a slow machine is no fault of the code
settings.load_profile("patient")

# (test, reason), filled where tests are collected: here, or in pytest-xdist's workers.
left_out: list[tuple[str, str]] = []
skipped: list[tuple[str, str]] = []


def corpus_folders() -> list[Path]:
    named = os.environ.get("MEDIDA_DATA")
    return [ROOT / "data", *([Path(named)] if named else []), ROOT.parent / "shared" / "data"]


def no_corpus() -> str | None:
    if any((folder / TEXT).is_file() for folder in corpus_folders()):
        return None
    places = "data/, MEDIDA_DATA or ../shared/data"
    return f"{TEXT} is not in {places}; fetch it with: snakemake --cores 1 corpus"


def chromium() -> str | None:
    """The browser's path: MEDIDA_CHROMIUM, or the first of the usual names."""
    names = (os.environ.get("MEDIDA_CHROMIUM"), "chromium", "chromium-browser", "google-chrome")
    return next((path for name in names if name and (path := shutil.which(name))), None)


def no_browser() -> str | None:
    return None if chromium() else "Chromium is not installed; name it in MEDIDA_CHROMIUM"


def no_cuda() -> str | None:
    if not shutil.which("nvidia-smi"):
        return "no CUDA device"
    import torch

    return None if torch.cuda.is_available() else "no CUDA device that torch can use"


NEEDS: dict[str, Callable[[], str | None]] = {
    "corpus": no_corpus,
    "browser": no_browser,
    "cuda": no_cuda,
}
MAY_LACK_IN_CI = {no_cuda}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    missing = {name: reason for name, lack in NEEDS.items() if (reason := lack())}
    gone = {
        item: missing[name] for item in items for name in missing if item.get_closest_marker(name)
    }
    left_out.extend((item.nodeid, reason) for item, reason in gone.items())
    config.hook.pytest_deselected(items=list(gone))
    items[:] = [item for item in items if item not in gone]
    # What shares a worker may take as long as all the rest: no worker shall be left with it.
    items.sort(key=lambda item: item.get_closest_marker("xdist_group") is None)
    if getattr(config.option, "loadgroup", False):
        keep_groups_together(items)


def keep_groups_together(items: list[pytest.Item]) -> None:
    """What `--dist loadgroup` goes by: `@group` at the end of a test's name.

    pytest-xdist 3.8 puts it where pytest looked before 9.2 (pytest-dev/pytest-xdist issue 1386).
    """
    for item in items:
        marker = item.get_closest_marker("xdist_group")
        if marker and hasattr(item, "_id") and not item.nodeid.endswith(f"@{marker.args[0]}"):
            item._id = type(item._id).parse(f"{item.nodeid}@{marker.args[0]}")  # pyright: ignore


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.skipped and not hasattr(report, "wasxfail"):
        skipped.append((report.nodeid, why_skipped(report)))


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.skipped:
        skipped.append((report.nodeid, why_skipped(report)))


def why_skipped(report: pytest.TestReport | pytest.CollectReport) -> str:
    return str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are processors: some tests wait more than they compute."""
    return (os.cpu_count() or 1) + 1


def pytest_configure(config: pytest.Config) -> None:
    if config.pluginmanager.hasplugin("xdist"):
        config.pluginmanager.register(FromWorkers())


class FromWorkers:
    """pytest-xdist alone knows this hook: what each worker left out comes back as it ends."""

    def pytest_testnodedown(self, node: Any) -> None:
        for entry in node.workeroutput.get("left_out", []):
            if tuple(entry) not in left_out:
                left_out.append(tuple(entry))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    worker = getattr(session.config, "workeroutput", None)
    if worker is not None:
        worker["left_out"] = left_out
    elif CI and forbidden():
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def forbidden() -> list[tuple[str, str]]:
    """What CI does not allow: skips, and whatever was left out for another reason than no GPU."""
    allowed = {lack() for lack in MAY_LACK_IN_CI}
    return [(test, why) for test, why in left_out if why not in allowed] + skipped


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if left_out:
        terminalreporter.section("left out on this machine")
        for test, reason in sorted(set(left_out)):
            terminalreporter.line(f"{test}: {reason}")
    if CI and forbidden():
        terminalreporter.section("not allowed in CI")
        for test, reason in forbidden():
            terminalreporter.line(f"{test}: {reason}", red=True)


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """The system's Chromium; for root without its sandbox, with which it would not start."""
    sandbox = ["--no-sandbox"] if os.getuid() == 0 else []
    return {**browser_type_launch_args, "executable_path": chromium(), "args": sandbox}
