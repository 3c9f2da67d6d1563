"""Options that several commands share."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from graphheat.graph import Graph

Command = Callable[..., Any]


def _remember_debug(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    ctx.find_root().ensure_object(dict)["debug"] = value


def common(command: Command) -> Command:
    """Add --json and --debug."""
    command = click.option(
        "--debug", is_flag=True, is_eager=True, expose_value=False, callback=_remember_debug,
        help="Show the traceback of an error.",
    )(command)  # fmt: skip
    return click.option(
        "--json", "as_json", is_flag=True, help="Print one JSON object on standard output."
    )(command)


def threads(command: Command) -> Command:
    """Add --threads."""
    return click.option(
        "--threads",
        type=click.IntRange(min=1),
        help="Threads to use (default: by the size of the job).",
    )(command)


_GRAPH_OPTIONS = [
    click.option("--nodes", metavar="T.csv", help="Node table: id, label, numeric columns."),
    click.option("--features", metavar="F", help="Feature file: .csv by id, or .npy/.npz by row."),
    click.option("--id-column", "id", metavar="C", help="Column of the node ids."),
    click.option("--label-column", "label", metavar="C", help="Column of the labels."),
    click.option("--split-column", "split", metavar="C",
                 help="Column of train/val/calibration/test."),
    click.option("--title-column", "title", metavar="C", help="Column of words for people."),
    click.option("--columns", metavar="C,C", callback=lambda c, p, v: v.split(",") if v else None,
                 help="Feature columns to take (default: all others)."),
    click.option("--categorical", metavar="C,C",
                 callback=lambda c, p, v: v.split(",") if v else None,
                 help="Columns to one-hot encode."),
    click.option("--header/--no-header", default=None,
                 help="Whether the edge list's first line names its columns (default: look)."),
    click.option("--duplicates", type=click.Choice(["error", "sum", "max", "first"]),
                 help="What to do with an edge of two weights (default: error)."),
    click.option("--symmetrize", type=click.Choice(["max"]),
                 help="Make a one-way matrix symmetric."),
    click.option("--self-loops", type=click.Choice(["keep", "drop"]),
                 help="What to do with self-loops (default: keep)."),
]  # fmt: skip


def graph_source(command: Command, metavar: str = "GRAPH") -> Command:
    """Add the argument GRAPH and how to read it; the command gets both as ``source``."""

    def with_source(graph: str, **rest: Any) -> Any:
        names = [option_name for option_name in _OPTION_NAMES if option_name in rest]
        options = {name: rest.pop(name) for name in names}
        options = {name: value for name, value in options.items() if value is not None}
        return command(source={"graph": graph, **options}, **rest)

    with_source.__name__, with_source.__doc__ = command.__name__, command.__doc__
    with_source.__click_params__ = getattr(command, "__click_params__", [])  # type: ignore[attr-defined]
    wrapped: Command = with_source
    for option in reversed(_GRAPH_OPTIONS):
        wrapped = option(wrapped)
    return click.argument("graph", metavar=metavar)(wrapped)


_OPTION_NAMES = (
    "nodes", "features", "id", "label", "split", "title", "columns", "categorical", "header",
    "duplicates", "symmetrize", "self_loops",
)  # fmt: skip


def open_graph(source: dict[str, Any]) -> Graph:
    """Load a bundled graph or read one from a path."""
    from graphheat import datasets
    from graphheat.errors import MissingPathError
    from graphheat.io import read_graph

    options = dict(source)
    name = options.pop("graph")
    if name in datasets.names():
        if options:
            raise click.UsageError(
                f"{name!r} is a bundled graph; --{next(iter(options)).replace('_', '-')} is for "
                "graphs that are read from a file."
            )
        return datasets.load(name)
    if not Path(name).exists():
        known = ", ".join(datasets.names())
        raise MissingPathError(f"{name!r} is neither a file nor a bundled graph ({known}).")
    return read_graph(name, **options)


class EpsType(click.ParamType):
    """A threshold in [0, 1), or ``none`` for the implicit kernel."""

    name = "eps"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Turn the text into a float or None."""
        if not isinstance(value, str) or value == "recipe":
            return value
        if value.lower() == "none":
            return None
        try:
            return float(value)
        except ValueError:
            self.fail(f"{value!r} is neither a number nor 'none'.", param, ctx)


class TimeType(click.ParamType):
    """A diffusion time, or ``auto``."""

    name = "time"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Turn the text into a float, or leave ``"auto"``."""
        if not isinstance(value, str) or value == "auto":
            return value
        try:
            return float(value)
        except ValueError:
            self.fail(f"{value!r} is neither a number nor 'auto'.", param, ctx)


OPTIONS_OF_THEIR_OWN = {
    "graph": "GRAPH", "recipe": "--recipe", "s": "-s", "eps": "--eps", "seed": "--seed",
    "threads": "--threads",
}  # fmt: skip
PYTHON_WORDS = {"True": "true", "False": "false", "None": "null"}


class SettingType(click.ParamType):
    """A setting as NAME=VALUE; the value is a number, true, false, null or a word."""

    name = "setting"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Turn the text into a name and a value."""
        if not isinstance(value, str):
            return value
        name, equals, text = value.partition("=")
        if not equals or not name:
            self.fail(f"{value!r} is not NAME=VALUE.", param, ctx)
        name = name.strip()
        if name in OPTIONS_OF_THEIR_OWN:
            self.fail(f"give {name} as {OPTIONS_OF_THEIR_OWN[name]}.", param, ctx)
        try:
            return name, json.loads(PYTHON_WORDS.get(text.strip(), text))
        except ValueError:
            return name, text.strip()
