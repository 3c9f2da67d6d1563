"""Options that several commands share."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import click

from graphheat.cli.wording import flag_of
from graphheat.features.feature_schema import Missing
from graphheat.features.numerals import Decimal
from graphheat.graph.adjacency import Duplicates, SelfLoops, Symmetrize

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


def _set_budget(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    if value is not None:
        from graphheat.memory import memory_budget

        ctx.find_root().with_resource(memory_budget(value))


def max_memory(command: Command) -> Command:
    """Add --max-memory."""
    return click.option(
        "--max-memory", metavar="SIZE", expose_value=False, callback=_set_budget,
        help="What a file may take in memory, such as 8GB (default: 20 times its size).",
    )(command)  # fmt: skip


def safe_csv(command: Command) -> Command:
    """Add --safe-csv."""
    return click.option(
        "--safe-csv", is_flag=True, help="Mark cells that a spreadsheet would compute as text."
    )(command)


def claim(out: str | None) -> None:
    """Hold a file that the command will write, to its end; or raise before all else."""
    if out is not None:
        from graphheat.io.atomic import claimed

        click.get_current_context().with_resource(claimed(out))


def threads(command: Command) -> Command:
    """Add --threads."""
    return click.option(
        "--threads",
        type=click.IntRange(min=1),
        help="Threads to use (default: by the size of the job).",
    )(command)


def _names(ctx: click.Context, param: click.Parameter, value: str | None) -> list[str] | None:
    return value.split(",") if value else None


def _one_or_more(
    ctx: click.Context, param: click.Parameter, value: tuple[str, ...]
) -> str | list[str] | None:
    return None if not value else value[0] if len(value) == 1 else list(value)


def _kinds(
    ctx: click.Context, param: click.Parameter, value: tuple[str, ...]
) -> dict[str, str] | None:
    kinds: dict[str, str] = {}
    for each in value:
        name, equals, kind = each.rpartition("=")
        if not equals or not name or not kind:
            raise click.BadParameter(f"{each!r} is not COLUMN=KIND.", ctx, param)
        kinds[name] = kind
    return kinds or None


# How to read a graph: by keyword of graphheat.io.read_graph, the option and its settings for click.
_GRAPH_OPTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "nodes": ("--nodes", {
        "metavar": "T", "help": "Node table: id, label, columns for features."}),
    "features": ("--features", {
        "metavar": "F", "help": "More features: a table by id, or .npy/.npz by row."}),
    "source_column": ("--source-column", {
        "metavar": "C", "help": "Edge column of one end (default: source, from, …)."}),
    "target_column": ("--target-column", {
        "metavar": "C", "help": "Edge column of the other end (default: target, to, …)."}),
    "weight_column": ("--weight-column", {
        "metavar": "C", "help": "Edge column of the weight (default: weight, w, …)."}),
    "id": ("--id-column", {"metavar": "C", "help": "Column of the node ids."}),
    "label": ("--label-column", {
        "metavar": "C", "multiple": True, "callback": _one_or_more,
        "help": "Column of the labels; repeated: columns of marks, one per label."}),
    "label_separator": ("--label-separator", {
        "metavar": "SIGN", "help": "Several labels in a cell: '|' for tv|news."}),
    "split": ("--split-column", {
        "metavar": "C", "help": "Column of train/val/calibration/test."}),
    "title": ("--title-column", {"metavar": "C", "help": "Column of titles to show."}),
    "columns": ("--columns", {
        "metavar": "C,C", "callback": _names,
        "help": "Feature columns to take (default: all others)."}),
    "categorical": ("--categorical", {
        "metavar": "C,C", "callback": _names, "help": "Columns to one-hot encode."}),
    "kinds": ("--kind", {
        "metavar": "C=KIND", "multiple": True, "callback": _kinds,
        "help": "What a column is: number, boolean, date, category, text, skip."}),
    "missing": ("--missing", {
        "type": click.Choice(get_args(Missing)),
        "help": "What to do with missing values (default: impute)."}),
    "decimal": ("--decimal", {
        "type": click.Choice(get_args(Decimal)),
        "help": "Decimal sign of numbers (default: by the cells)."}),
    "header": ("--header/--no-header", {
        "default": None,
        "help": "Whether the edge list's first line names its columns (default: look)."}),
    "duplicates": ("--duplicates", {
        "type": click.Choice(get_args(Duplicates)),
        "help": "What to do with an edge of two weights (default: error)."}),
    "symmetrize": ("--symmetrize", {
        "type": click.Choice(get_args(Symmetrize)), "help": "Make a one-way matrix symmetric."}),
    "self_loops": ("--self-loops", {
        "type": click.Choice(get_args(SelfLoops)),
        "help": "What to do with self-loops (default: keep)."}),
}  # fmt: skip


def graph_source(command: Command, metavar: str = "GRAPH") -> Command:
    """Add the argument GRAPH and how to read it; the command gets both as ``source``."""

    def with_source(graph: str, **rest: Any) -> Any:
        options = {name: rest.pop(name) for name in _GRAPH_OPTIONS}
        options = {name: value for name, value in options.items() if value is not None}
        return command(source={"graph": graph, **options}, **rest)

    with_source.__name__, with_source.__doc__ = command.__name__, command.__doc__
    with_source.__click_params__ = getattr(command, "__click_params__", [])  # type: ignore[attr-defined]
    wrapped: Command = max_memory(with_source)
    for name, (flag, how) in reversed(_GRAPH_OPTIONS.items()):
        wrapped = click.option(flag, name, **how)(wrapped)
    return click.argument("graph", metavar=metavar)(wrapped)


def open_graph(source: dict[str, Any]) -> Any:
    """Load a bundled graph, open one on disk, or read one and say what was taken for what."""
    from graphheat import datasets
    from graphheat.cli import display
    from graphheat.cli.disk_commands import is_disk_graph
    from graphheat.errors import MissingPathError
    from graphheat.io import read_graph
    from graphheat.io.archive import exists
    from graphheat.io.table_sources import split_part

    options = dict(source)
    name = options.pop("graph")
    if name in datasets.names():
        if options:
            raise click.UsageError(
                f"{name!r} is a bundled graph; {flag_of(next(iter(options)))} is for graphs that "
                "are read from a file."
            )
        return datasets.load(name)
    if is_disk_graph(name):
        if options:
            raise click.UsageError(
                f"{name!r} is a graph on disk; {flag_of(next(iter(options)))} is for graphs that "
                "are read from a file."
            )
        from graphheat.disk import DiskGraph

        return DiskGraph.open(name)
    if not exists(split_part(name)[0]):
        known = ", ".join(datasets.names())
        raise MissingPathError(f"{name!r} is neither a file nor a bundled graph ({known}).")
    graph = read_graph(name, **options)
    for sentence in (*graph.account, *graph.notes):
        display.say(sentence)
    return graph


PLAIN_NAMES = frozenset({"edge", "edges", "edgelist", "edge_list", "links", "graph", "network"})


def heading_of(name: str, given: str) -> str:
    """Return what people call a graph: its folder where its file is called as any other.

    Examples
    --------
    >>> heading_of("edges", "data/people/edges.csv"), heading_of("cora", "data/cora.npz")
    ('people', 'cora')
    """
    folder = Path(given).absolute().parent.name
    return folder if folder and name.lower() in PLAIN_NAMES else name


class EpsType(click.ParamType):  # type: ignore[type-arg]  # no generic in click 8.1
    """A threshold in [0, 1), or ``none`` for the implicit kernel."""

    name = "eps"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Turn the text into a float or None."""
        if not isinstance(value, str) or value == "recipe":
            return value
        if value.lower() == "none":
            return None
        try:
            return float(value)
        except ValueError:
            self.fail(f"{value!r} is neither a number nor 'none'.", param, ctx)


class TimeType(click.ParamType):  # type: ignore[type-arg]  # no generic in click 8.1
    """A diffusion time, or ``auto``."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
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


class SettingType(click.ParamType):  # type: ignore[type-arg]  # no generic in click 8.1
    """A setting as NAME=VALUE; the value is a number, true, false, null or a word."""

    name = "setting"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
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
        except RecursionError:
            self.fail(f"the value of {name} is too deep.", param, ctx)
