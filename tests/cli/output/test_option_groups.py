"""A dataclass in a command's signature stands for one option per field; the command gets the dataclass, filled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import pytest
import typer

from planner.cli.registration import command, command_app

ShadeOption = Annotated[str, typer.Option(help="Shade of the colour")]


@dataclass(frozen=True, kw_only=True)
class OptionGroupSize:
    """Has a heading, an option that must be given after one that need not, and a list."""

    heading: ClassVar = "Size"

    depth: Annotated[int, typer.Option(help="Depth in cm")] = 30
    width: Annotated[int, typer.Option("--wide", help="Width in cm")]
    doors: Annotated[list[str] | None, typer.Option(help="Where the doors are")] = None
    shade: ShadeOption = "dark"


@dataclass(frozen=True, kw_only=True)
class Tall(OptionGroupSize):
    """Inherits the options of another group."""

    height: Annotated[int | None, typer.Option(help="Height in cm")] = None


@dataclass(frozen=True, kw_only=True)
class Paint:
    """Has the same option as Size."""

    shade: ShadeOption = "light"


def run(function: Any, *arguments: str) -> Any:
    """Call a function as a command, and return what it returns."""
    app = command_app()
    command(app, example="none")(function)
    return app(list(arguments), standalone_mode=False)


def build(
    name: Annotated[str, typer.Argument()], size: OptionGroupSize, legs: Annotated[int, typer.Option()] = 4
) -> tuple[str, OptionGroupSize, int]:
    """Return what came in."""
    return name, size, legs


def test_the_command_gets_the_dataclass_with_what_was_given_and_its_defaults():
    given = run(build, "shelf", "--wide", "80", "--doors", "left", "--doors", "right", "--legs", "6")
    assert given == ("shelf", OptionGroupSize(depth=30, width=80, doors=["left", "right"], shade="dark"), 6)


def test_a_group_inherits_the_options_of_another():
    def build_tall(size: Tall) -> Tall:
        """Return what came in."""
        return size

    build_tall.__annotations__["size"] = Tall
    assert run(build_tall, "--wide", "80", "--height", "200") == Tall(width=80, height=200)


def test_an_option_without_a_default_must_be_given():
    with pytest.raises(typer.TyperException) as caught:
        run(build, "shelf")
    assert caught.value.format_message() == "Missing option '--wide'."


def test_two_groups_cannot_have_the_same_option():
    def paint(size: OptionGroupSize, paint: Paint) -> None:
        """Do nothing."""

    paint.__annotations__ |= {"size": OptionGroupSize, "paint": Paint}
    with pytest.raises(ValueError, match="shade"):
        run(paint)


def test_the_function_stays_a_function_of_dataclasses():
    decorated = command(command_app(), example="none")(build)
    assert decorated("shelf", OptionGroupSize(width=1)) == ("shelf", OptionGroupSize(width=1), 4)


def test_the_options_of_a_group_stand_under_its_heading_and_nowhere_else(capsys):
    run(build, "--help")
    own, _, of_the_group = capsys.readouterr().out.partition("Size:\n")
    assert "--legs" in own
    assert ("--wide" in own, "--wide" in of_the_group) == (False, True)


def test_an_option_that_two_groups_share_stands_under_each_command_s_own_heading(capsys):
    def paint(colour: Paint) -> None:
        """Do nothing."""

    paint.__annotations__["colour"] = Paint
    run(build, "--help")
    capsys.readouterr()
    run(paint, "--help")
    assert "Size:" not in capsys.readouterr().out
