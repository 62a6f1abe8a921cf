"""Registers commands: each command file has an app, to which it adds commands and groups of commands.

A dataclass in a signature is a group of options: one option per field, which is `Annotated[type, typer.Option(...)]`
with its default as usual. The options stand in `--help` under the group's `heading`, where it has one.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from copy import copy
from dataclasses import MISSING, fields, is_dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import typer
from typer.models import OptionInfo, ParameterInfo

from planner.adapters.files import inputs_noted
from planner.adapters.user_text import secrets_noted
from planner.cli.help_layout import HeadedCommand, HeadedGroup
from planner.cli.number_arguments import number, whole_number
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


def expanded(function: Callable[..., object]) -> Callable[..., object]:
    """Return `function` with each option group of its signature replaced by the options of the group."""
    hints = get_type_hints(function, include_extras=True)
    given = inspect.signature(function).parameters
    groups: dict[str, Any] = {name: hints[name] for name in given if is_dataclass(hints[name])}
    parameters: list[inspect.Parameter] = []
    for name, parameter in given.items():
        parameters += _options(groups[name]) if name in groups else [_parameter(name, hints[name], parameter.default)]

    def call(**options: object) -> object:
        built = {name: group(**{f.name: options.pop(f.name) for f in fields(group)}) for name, group in groups.items()}
        return function(**options, **built)

    call.__name__, call.__doc__ = function.__name__, function.__doc__
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return call


def _options(group: type) -> list[inspect.Parameter]:
    """Return one parameter for each field of a group."""
    hints = get_type_hints(group, include_extras=True)
    heading = getattr(group, "heading", None)
    return [_parameter(field.name, _under(heading, hints[field.name]), field.default) for field in fields(group)]


def _parameter(name: str, annotation: object, default: object) -> inspect.Parameter:
    """Return a parameter given by name, so that one without a default may follow one with a default."""
    given = inspect.Parameter.empty if default is MISSING else default
    plain = _in_plain_digits(annotation)
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=given, annotation=plain)


def _in_plain_digits(annotation: Any) -> Any:
    """Return an annotation whose numbers are read by our own rules, unless it names its own reader."""
    if get_origin(annotation) is not Annotated:
        return annotation
    kind, *described = get_args(annotation)
    kinds = {member for part in (kind, *get_args(kind)) for member in (part, *get_args(part))}
    reader = whole_number if int in kinds else number if float in kinds else None
    if reader is None:
        return annotation
    return Annotated[(kind, *(_read_by(description, reader) for description in described))]


def _read_by(described: Any, reader: Callable[[str], Any]) -> Any:
    """Return an option or argument that is read by `reader`. typer would then no longer check its range."""
    if not isinstance(described, ParameterInfo):
        return described
    own = (described.parser, described.min, described.max)
    return _with(described, parser=reader) if own == (None, None, None) else described


def _with(described: ParameterInfo, **changes: Any) -> ParameterInfo:
    """Return a copy of an option or argument with some attributes changed."""
    described = copy(described)
    vars(described).update(changes)
    return described


def _under(heading: str | None, annotation: Any) -> Any:
    """Return an annotation whose option is under a heading in `--help`."""
    if get_origin(annotation) is not Annotated:
        return annotation
    kind, *described = get_args(annotation)
    headed = (
        _with(description, rich_help_panel=heading) if isinstance(description, OptionInfo) else description
        for description in described
    )
    return Annotated[(kind, *headed)]
