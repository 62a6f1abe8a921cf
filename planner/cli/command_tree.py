"""Tree of commands: the purpose and heading of each, and the module that is loaded to run it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from planner.cli.help_layout import WIDTH, HeadedGroup

if TYPE_CHECKING:
    from typer._click.core import Command, Context

COMMANDS = {
    "Start here": {
        "init": ("setup_commands", "Write a commented plan file to start from"),
        "compare": ("plan_commands", "Rank the options of a plan and recommend one, or a mix of them"),
        "ask": ("ask_command", "Answer one question: which machines, how long, what cost"),
        "find": ("find_command", "Find machines for a training among all that are offered"),
        "explain": ("answer_commands", "Break an estimate down into formulas, constants and runs"),
        "memory": ("fit_commands", "Check whether a training fits a device, and how large a batch"),
        "bench": ("launching.bench_command", "Measure this machine with the standard benchmark"),
    },
    "Decide": {
        "estimate": ("plan_commands", "Estimate time, cost and energy of one training per option"),
        "campaign": ("plan_commands", "Plan which trainings run where and when"),
        "recommend": ("answer_commands", "Show how firm the recommendation is, and what would change it"),
        "report": ("plan_commands", "Write two pages to sign: the answer, and what it rests on"),
        "own-or-rent": ("owning_command", "Compare the cost of owning a machine with renting one"),
        "strategies": ("fit_commands", "Rank the parallel strategies that fit a machine"),
    },
    "Measure": {
        "probe": ("launching.probe_command", "Measure this machine's kernels one by one, in a minute or two"),
        "runs": ("runs.run_commands", "List, add, compare and export measured runs"),
        "check-run": ("runs.run_commands", "Check whether a run is as fast as it should be, and why not"),
        "audit": ("evidence_commands", "Check whether measurements and claims can be true"),
        "evidence": ("evidence_commands", "List, check and add published measurements"),
    },
    "Launch": {
        "launch": ("launching.launch_command", "Run the benchmark on other machines, after showing the bill"),
        "task": ("launching.launch_command", "Print the SkyPilot task of a launch, to run by hand"),
        "launches": ("launching.launches_commands", "Follow, collect, stop and bill launches"),
    },
    "Prices": {
        "prices": ("price_commands", "Show, refresh and check prices"),
        "watch": ("lock_commands", "Report frozen plans whose recommendation changed with prices"),
    },
    "Look closer": {
        "diff": ("lock_commands", "Show what changed between two frozen plans, and why"),
        "show": ("answer_commands", "Print an earlier answer of this machine again"),
        "accuracy": ("evidence_commands", "Score predictions against measurements that were held out"),
    },
    "Set up": {
        "doctor": ("setup_commands", "Check what is installed, which devices and credentials exist"),
        "schema": ("setup_commands", "Print the JSON Schema of a file"),
        "ui": ("setup_commands", "Open the app in a browser"),
        "mcp": ("setup_commands", "Serve the planner as tools for AI agents"),
    },
}
"""Module and summary of each command by heading and name.

The summary is the first sentence of its docstring, known without an import.
"""

EXIT_CODES = (
    "Exit codes: 0 done, 1 fault of the planner, 2 wrong input, 3 nothing meets the limits, 4 a machine failed, "
    "130 interrupted (planner bench: 128 + the number of the signal)."
)


class LazyCommand(TyperCommand):
    """A command whose module is imported only when it runs. The list of commands needs only its summary."""

    def __init__(self, name: str, module: str, summary: str, heading: str) -> None:
        super().__init__(name, short_help=summary, rich_help_panel=heading)
        self.module = f"planner.cli.{module}"

    def load(self) -> Command:
        """Import the module; return its command, or its group of commands."""
        loaded = typer.main.get_command(import_module(self.module).app)
        return loaded.commands[str(self.name)] if isinstance(loaded, TyperGroup) else loaded

    def make_context(
        self, info_name: str | None, args: list[str], parent: Context | None = None, **extra: Any
    ) -> Context:
        """Parse the arguments of the imported command, which then runs in this one's place."""
        return self.load().make_context(info_name, args, parent=parent, **extra)


def command_tree() -> TyperGroup:
    """Return `planner` with all its commands, none of them imported yet."""
    tree = typer.main.get_command(_app)
    assert isinstance(tree, TyperGroup)
    for heading, commands in COMMANDS.items():
        for name, (module, summary) in commands.items():
            tree.add_command(LazyCommand(name, module, summary, heading))
    return tree


def _print_version(asked: bool) -> None:
    if asked:
        from planner.use_cases.version import planner_version

        print(f"planner {planner_version()}")
        raise typer.Exit


_app = typer.Typer(
    name="planner",
    cls=HeadedGroup,
    help="Which machines should train this model, how long will it take, what will it cost, and how sure are we?",
    epilog=f"Start with: planner init plan.yaml, then: planner compare plan.yaml\n\n{EXIT_CODES}",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDTH},
)


@_app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version and exit")
    ] = False,
) -> None:
    """Read the options that stand before the command."""
