"""Write docs/cli.md: every command, the networks known by name, and the audit's codes. Run: make cli-docs."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterator
from pathlib import Path

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from planner.adapters.catalog import load_catalog
from planner.audit.findings import CODES
from planner.cli.command_tree import COMMANDS, EXIT_CODES, LazyCommand, command_tree
from planner.cli.help_layout import WIDTH

TARGET = Path(__file__).parents[1] / "docs" / "cli.md"
MARKDOWN_COLUMNS = 120
COMMON = ("as_json", "form", "home")
"""Options that are the same in most commands. They are listed once, in the words of `planner estimate`."""


def every_command() -> Iterator[tuple[str, TyperCommand, typer.Context]]:
    """Yield each command with its heading in `planner --help`, and a context with its full name."""
    tree = command_tree()
    root = typer.Context(tree, info_name="planner", terminal_width=WIDTH)
    for name, lazy in tree.commands.items():
        assert isinstance(lazy, LazyCommand)
        loaded = lazy.load()
        context = typer.Context(loaded, parent=root, info_name=name)
        for command in loaded.commands.values() if isinstance(loaded, TyperGroup) else [loaded]:
            assert isinstance(command, TyperCommand)
            own = context if command is loaded else typer.Context(command, parent=context, info_name=command.name)
            yield str(lazy.rich_help_panel), command, own


def reference() -> str:
    """Return the text of docs/cli.md."""
    commands = list(every_command())
    common = {
        option.help: (", ".join(option.opts), option.help)
        for _, command, _ in commands
        for option in command.params
        if command.name == "estimate" and isinstance(option, TyperOption) and option.name in COMMON
    }
    lines = [
        "# Command line",
        "",
        "After reading this page you can call any command. `planner COMMAND --help` prints the same.",
        "Written by `make cli-docs`. Data go to stdout, messages to stderr.",
        "",
        textwrap.fill(EXIT_CODES, MARKDOWN_COLUMNS),
        "",
        "Most commands also have:",
        "",
        *(f"- `{name}`: {meaning}" for name, meaning in common.values()),
    ]
    for heading in COMMANDS:
        lines += ["", f"## {heading}"]
        for below, command, context in commands:
            if below == heading:
                lines += _entry(command, context, common=set(common))
    names = ", ".join(f"`{name}`" for name in sorted(load_catalog().presets))
    lines += ["", "## Networks known by name", "", textwrap.fill(names, MARKDOWN_COLUMNS, break_on_hyphens=False)]
    lines += ["", "## Codes of the audit", "", "| code | meaning |", "|---|---|"]
    lines += [f"| `{code}` | {meaning} |" for code, meaning in CODES.items()]
    return "\n".join(lines) + "\n"


def _entry(command: TyperCommand, context: typer.Context, *, common: set[str | None]) -> list[str]:
    """Return the purpose of a command, its usage, and its options without the common ones."""
    for option in command.params:
        option.hidden = getattr(option, "help", None) in common  # type: ignore[attr-defined]
    command.add_help_option = False
    context.terminal_width = WIDTH
    formatter = context.make_formatter()
    command.format_usage(context, formatter)
    command.format_options(context, formatter)
    command.format_epilog(context, formatter)
    paragraphs = [" ".join(part.split()) for part in inspect.cleandoc(command.help or "").split("\n\n")]
    text = "\n\n".join(textwrap.fill(part, MARKDOWN_COLUMNS) for part in paragraphs)
    return ["", f"### {context.command_path}", "", text, "", "```text", formatter.getvalue().strip(), "```"]


def main() -> None:
    """Write the file."""
    TARGET.write_text(reference(), encoding="utf-8")
    print(f"written {TARGET}")


if __name__ == "__main__":
    main()
