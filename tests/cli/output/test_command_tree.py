"""Laws over all commands: how they read in `--help`, how many parameters they take, and that their examples parse."""

from __future__ import annotations

import ast
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.core import TyperGroup

import planner.cli
from planner.cli.command_tree import COMMANDS, LazyCommand, command_tree
from planner.cli.help_layout import WIDTH
from scripts.cli_reference import TARGET, every_command, reference

CLI = Path(planner.cli.__file__).parent
MOST_PARAMETERS = 10
NARROW = 80
"""Columns of the narrowest terminal on which the list of commands must not wrap."""
LEAVES: dict[str, tuple[Any, typer.Context]] = {
    context.command_path: (command, context) for _, command, context in every_command()
}
TOP: dict[str, Any] = {
    name: lazy.load() for name, lazy in command_tree().commands.items() if isinstance(lazy, LazyCommand)
}
GROUPS: dict[str, Any] = {"planner": command_tree()} | {
    f"planner {name}": loaded for name, loaded in TOP.items() if isinstance(loaded, TyperGroup)
}
every_leaf = pytest.mark.parametrize("path", LEAVES)
every_group = pytest.mark.parametrize("path", GROUPS)


def summary_of(help_text: str) -> str:
    return help_text.split("\n\n", maxsplit=1)[0].replace("\n", " ").removesuffix(".")


def help_at(columns: int, command: Any, path: str) -> str:
    return command.get_help(typer.Context(command, info_name=path, terminal_width=columns - 2))


def test_the_list_of_commands_says_what_each_command_says_of_itself():
    listed = {name: summary for commands in COMMANDS.values() for name, (_, summary) in commands.items()}
    assert listed == {name: summary_of(loaded.help) for name, loaded in TOP.items()}


def test_what_most_people_need_comes_first():
    assert list(COMMANDS["Start here"])[:2] == ["init", "compare"]
    assert list(COMMANDS) == [
        "Start here", "Decide", "Measure", "Launch", "Prices", "Look closer", "Set up",
    ]  # fmt: skip


@every_group
def test_no_summary_wraps_or_is_cut_in_a_list_of_commands(path):
    group = GROUPS[path]
    lines = help_at(NARROW, group, path).splitlines()
    for name, command in group.commands.items():
        (line,) = [line for line in lines if line.startswith(f"  {name} ")]
        assert line.split(maxsplit=1)[1] == summary_of(command.short_help or command.help)


@every_leaf
def test_every_option_has_a_help_that_fits_its_line(path):
    command, context = LEAVES[path]
    text = help_at(WIDTH, command, path)
    for parameter in command.params:
        name, meaning = parameter.get_help_record(context)
        assert parameter.help, name
        assert meaning in text, f"{name} wraps: {meaning}"
        assert meaning[0].isupper(), name
        assert not parameter.help.endswith("."), name


@every_leaf
def test_the_example_of_a_command_parses(path):
    example = LEAVES[path][0].epilog.removeprefix("Example: ")
    program, *words = shlex.split(example)
    arguments = words[: next((i for i, word in enumerate(words) if word in (">", "||", "|")), len(words))]
    assert program == "planner"
    assert example.startswith(path)
    name, *rest = path.split()[1:]
    command = TOP[name].commands[rest[0]] if rest else TOP[name]
    command.make_context(path, arguments[1 + len(rest) :])


def test_no_function_of_the_command_line_takes_many_parameters():
    many = {}
    for path in sorted(CLI.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef):
                given = node.args
                many[f"{path.name}:{node.name}"] = len(given.posonlyargs + given.args + given.kwonlyargs)
    assert len(many) > 100
    assert {name: count for name, count in many.items() if count > MOST_PARAMETERS} == {}


def test_the_reference_is_that_of_these_commands():
    assert TARGET.read_text("utf-8") == reference(), "run: make cli-docs"
