"""How are figures drawn from the command line?

`python -m figures draw NAME...` draws the figures named, `draw --all` every one, `draw --stale`
those whose records or source changed since they were drawn; `python -m figures list` names them
with the question each answers. Exit status 0, or 1 with one line for each that could not be drawn.
"""

from __future__ import annotations

import argparse
import os
import sys

from engine import paths
from engine.errors import MedidaError, Parser, accident
from figures import FigureError, figure_names, load_figure, question


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line asks; returns the exit status."""
    parser = _parser()
    asked = parser.parse_args(arguments)
    try:
        if asked.command == "list":
            _list()
            sys.stdout.flush()
            return 0
        chosen = [name for name in ("all", "stale") if getattr(asked, name)]
        if len(chosen) + bool(asked.names) != 1:
            raise FigureError("name figures, or give one of --all and --stale (see --help)")
        return _draw(asked.names or list(figure_names()), only_stale=asked.stale)
    except MedidaError as error:
        print(f"figures: {error}", file=sys.stderr)
    except BrokenPipeError:  # whoever read has gone away
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        print(f"figures: {accident(error)}", file=sys.stderr)
    except KeyboardInterrupt:
        print("figures: interrupted; no figure is half drawn", file=sys.stderr)
    return 1


def _list() -> None:
    for name in figure_names():
        print(f"{name:22s} {question(name)}")


def _draw(names: list[str], only_stale: bool) -> int:
    from engine.quantity import Book
    from figures import output

    for name in names:
        load_figure(name)  # an unknown name is said before anything is drawn
    if set(names) == set(figure_names()):
        for path in output.remove_unknown():
            print(f"removed {paths.shown(path)}: no such figure any more")
    book = Book()
    failed = 0
    for name in names:
        try:
            why = output.stale(name, book) if only_stale else "asked for"
            if why is None:
                continue
            written = output.draw_figure(name, book)
            reason = f" ({why})" if only_stale else ""
            print(f"drew {name}: {len(written)} files in {paths.shown(paths.DRAWN)}{reason}")
        except MedidaError as error:
            failed += 1
            print(f"figures: {name}: {error}", file=sys.stderr)
    return 1 if failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="python -m figures", description="Draw the book's figures from its records."
    )
    commands = parser.add_subparsers(dest="command", required=True, parser_class=Parser)
    draw = commands.add_parser("draw", help="draw figures into build/figures")
    draw.add_argument("names", nargs="*", metavar="NAME", help="a figure (see `list`)")
    draw.add_argument("--all", action="store_true", help="every figure")
    draw.add_argument("--stale", action="store_true", help="those whose records or source changed")
    commands.add_parser("list", help="name the figures and the question each answers")
    return parser


if __name__ == "__main__":
    sys.exit(main())
