"""Commands that take their options in groups: a dataclass in a signature stands for one option per field.

A field is `Annotated[type, typer.Option(...)]`, with its default as usual. The options of a group stand in `--help`
under the group's `heading`, where it has one.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from copy import copy
from dataclasses import MISSING, fields, is_dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from typer.models import OptionInfo, ParameterInfo

from planner.cli.number_arguments import number, whole_number


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
