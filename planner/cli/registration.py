"""Registers commands: each command file has an app, to which it adds commands and groups of commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from planner.adapters.files import inputs_noted
from planner.adapters.user_text import secrets_noted
from planner.cli.help_layout import HeadedCommand, HeadedGroup
from planner.cli.option_groups import expanded
from planner.cli.streams import say

if TYPE_CHECKING:
    from typer._click.core import Context

Function = TypeVar("Function", bound=Callable[..., object])


class NotingCommand(HeadedCommand):
    """A command whose inputs are noted, so that no output overwrites them (planner/adapters/files.py)."""

    def invoke(self, ctx: Context) -> Any:
        """Run the command, note the files it reads, and warn of secrets found in them."""
        with inputs_noted(), secrets_noted() as secrets:
            try:
                return super().invoke(ctx)
            finally:
                for sentence in secrets:
                    say(f"Warning: {sentence}")


def command_app() -> typer.Typer:
    """Return an empty app for the commands of one file."""
    return typer.Typer(rich_markup_mode=None, add_completion=False)


def command_group(app: typer.Typer, name: str, summary: str) -> typer.Typer:
    """Add the group `planner NAME` to `app`; return it, for its commands."""
    group = command_app()
    app.add_typer(group, name=name, cls=HeadedGroup, help=summary, no_args_is_help=True)
    return group


def command(app: typer.Typer, name: str | None = None, *, example: str) -> Callable[[Function], Function]:
    """Return a decorator that adds a function to `app` as a command, and leaves the function unchanged."""

    def add(function: Function) -> Function:
        app.command(name, cls=NotingCommand, epilog=f"Example: {example}")(expanded(function))
        return function

    return add
