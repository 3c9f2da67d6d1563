"""The ``graphheat`` command: its group, and how its errors look."""

from __future__ import annotations

import importlib
import sys
from contextlib import suppress
from typing import Any

import click

from graphheat import __version__
from graphheat.errors import (
    BusyError,
    GraphHeatError,
    KernelMemoryError,
    MissingDependencyError,
    WriteError,
)
from graphheat.protected_inputs import inputs_protected

# Of a failure, where nothing is wrong with what the user gave: exit code 1 in place of 2.
FAILURES = (BusyError, KernelMemoryError, MissingDependencyError, WriteError)

# Command → module; a module is imported when its command is named, so that --help is quick.
COMMANDS = {
    "demo": "demo",
    "datasets": "graphs",
    "info": "graphs",
    "ingest": "ingest_command",
    "plan": "ingest_command",
    "suspects": "suspects_command",
    "suggest": "suggest_command",
    "label": "label_command",
    "kernel": "heat",
    "neighbors": "heat",
    "fit": "fit_command",
    "compare": "compare_command",
    "predict": "predict_command",
    "explain": "explain_command",
    "paper": "paper",
    "explore": "explore_command",
    "export": "export_command",
}

SHORT_HELP = {
    "demo": "Label Cora with the paper's model and look at the result.",
    "datasets": "List the graphs that come with the package.",
    "info": "Count a graph, and tell whether heat will help on it.",
    "ingest": "Turn edge lists larger than memory into a graph on disk.",
    "plan": "Say what labelling takes in memory, on disk and on a cluster.",
    "suspects": "Show known labels that heat from the others contradicts.",
    "suggest": "Say which nodes to label next, and why.",
    "label": "Label a graph in the browser, with models that follow.",
    "kernel": "Compute the heat kernel and save it.",
    "neighbors": "Show which nodes a node's heat reaches.",
    "fit": "Train on a graph and label every node.",
    "compare": "Compare recipes over seeds or splits, with paired tests.",
    "predict": "Write the labels of a fitted run.",
    "explain": "Say why a node got its label: what each source gave.",
    "paper": "Check the paper: its tables, figures and claims.",
    "explore": "Write a page on which to see the heat, in a browser.",
    "export": "Write a fitted run as an ONNX model.",
}


class LazyGroup(click.Group):
    """A group that imports a command's module when it is called, and says errors in a sentence."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order in which people meet them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import and return a command."""
        if name not in COMMANDS:
            return None
        module = importlib.import_module(f"graphheat.cli.{COMMANDS[name]}")
        command: click.Command = getattr(module, name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(SHORT_HELP.items()))

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; a user's mistake ends in one sentence, not in a traceback."""
        ctx.ensure_object(dict)
        try:
            with inputs_protected():
                result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except (click.ClickException, click.exceptions.Exit):
            raise
        except (KeyboardInterrupt, click.Abort):
            _fail(ctx, "Interrupted. A run with --out goes on with --resume.", 1)
        except GraphHeatError as error:
            _fail(ctx, str(error), 1 if isinstance(error, FAILURES) else 2)
        except BrokenPipeError:
            raise
        except MemoryError:
            _fail(ctx, "There is not enough memory for this. Nothing was changed.", 1)
        except Exception as error:
            if isinstance(error, ModuleNotFoundError) and error.name == "torch":
                _fail(ctx, "This command needs torch: pip install 'graphheat[nn]'.", 1)
            if isinstance(error, OSError) and error.filename is None:
                _fail(ctx, f"The output cannot be written: {error.strerror}.", 1)
            _fail(ctx, f"{type(error).__name__}: {error} (run with --debug for the details)", 1)


def _fail(ctx: click.Context, message: str, code: int) -> None:
    if ctx.obj.get("debug"):
        raise
    from graphheat.cli.display import without_controls
    from graphheat.cli.wording import in_shell_words

    with suppress(OSError):  # nobody may be able to read it
        click.echo(f"Error: {without_controls(in_shell_words(message))}", err=True)
    ctx.exit(code)


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "--version", prog_name="graphheat")
def main() -> None:
    """Label every node of a graph from a handful of labels, by heat diffusion.

    GRAPH is a bundled name (see `graphheat datasets`) or a path: an edge list (.csv, .tsv, .txt,
    .edges, plain or .gz or .zst; .parquet, .xlsx, .jsonl, .sqlite), an archive (.npz) or a matrix
    (.mtx).
    """
