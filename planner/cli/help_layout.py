"""Layout of `--help`: options and commands under headings, one line for each command."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from typer.core import TyperCommand, TyperGroup

if TYPE_CHECKING:
    from typer._click.core import Command, Context
    from typer._click.formatting import HelpFormatter

WIDTH = 100
"""Columns of the widest help text."""

HeadedRow = tuple[str, tuple[str, str]]
"""A heading, and a line under it: a name and its meaning."""


class HeadedCommand(TyperCommand):
    """A command that lists the options of a group under the group's heading."""

    def format_options(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write the arguments, the command's own options, then each group's."""
        _write_sections(formatter, _options(self, ctx))


class HeadedGroup(TyperGroup):
    """A group that lists its commands under headings, in columns that align across the headings."""

    def format_options(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write the options, then each heading with its commands."""
        width = max(len(name) for name in self.commands)
        _write_sections(formatter, _options(self, ctx))
        _write_sections(
            formatter,
            [
                (
                    getattr(command, "rich_help_panel", None) or "Commands",
                    (name.ljust(width), command.get_short_help_str(WIDTH).removesuffix(".")),
                )
                for name, command in self.commands.items()
            ],
        )


def _options(command: Command, ctx: Context) -> list[HeadedRow]:
    """Return arguments and options with their headings, those without one first."""
    rows = []
    for parameter in command.get_params(ctx):
        row = parameter.get_help_record(ctx)
        own = "Arguments" if parameter.param_type_name == "argument" else "Options"
        if row is not None:
            heading = getattr(parameter, "rich_help_panel", None) or own
            rows.append((heading, (row[0], row[1].removesuffix("."))))
    return sorted(rows, key=lambda row: row[0] not in ("Arguments", "Options"))


def _write_sections(formatter: HelpFormatter, rows: Iterable[HeadedRow]) -> None:
    """Write rows under their headings, in the order in which the headings first appear."""
    sections: dict[str, list[tuple[str, str]]] = {}
    for heading, row in rows:
        sections.setdefault(heading, []).append(row)
    for heading, lines in sections.items():
        with formatter.section(heading):
            formatter.write_dl(lines)
