"""The `planner` command: runs one command, and turns every error into one message and an exit code."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import sys
from collections.abc import Sequence

import typer

from planner.cli.command_tree import command_tree
from planner.cli.streams import error_document, wants_json
from planner.cli.visible_output import silence, visible_output
from planner.errors import EXIT_DONE, EXIT_INTERRUPTED, InputError, PlannerError

MEANT_OPTIONS = {"--deadline": "--by"}
"""Options by the name of their key in a plan."""
LONGEST_ARGUMENT = 10_000
"""Longest argument in characters. A longer one was pasted by mistake, and some patterns would take minutes."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a Korean name must not stop an answer, as on stderr
    gc.set_threshold(20_000, 20, 20)  # a command keeps most of what it makes: collecting often finds little
    sys.exit(run(list(sys.argv[1:] if arguments is None else arguments)))


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code."""
    with visible_output():
        return _run(arguments)


def _run(arguments: list[str]) -> int:
    try:
        if not all(argument.isascii() and len(argument) <= LONGEST_ARGUMENT for argument in arguments):
            from planner.cli.number_arguments import check_arguments  # rarely needed: most calls skip these imports

            check_arguments(arguments, longest=LONGEST_ARGUMENT)
        code = command_tree()(args=arguments, prog_name="planner", standalone_mode=False)
        sys.stdout.flush()
        if code == EXIT_INTERRUPTED:  # typer has caught the interruption
            raise KeyboardInterrupt
        return code if isinstance(code, int) else EXIT_DONE
    except PlannerError as error:
        return _fail(error, arguments)
    except typer.TyperException as error:
        return _misused(error, arguments)
    except (KeyboardInterrupt, typer.Abort):
        print("Interrupted.", file=sys.stderr)
        return EXIT_INTERRUPTED
    except (BrokenPipeError, SystemExit) as left:
        if BrokenPipeError not in (type(left), type(left.__context__)):
            raise
        silence(sys.stdout)  # the reader closed the pipe
        return EXIT_DONE
    except OSError as error:
        where = f"{error.filename}: " if error.filename else "the output: "
        return _fail(
            InputError(f"{where}{error.strerror or error}.", fix="Check the path, its permissions and the free space."),
            arguments,
        )
    except Exception as error:
        if os.environ.get("PLANNER_DEBUG"):
            raise
        fault = PlannerError(
            f"this is a fault of the planner: {type(error).__name__}: {error}.",
            fix="Please report it with the output of the same command under PLANNER_DEBUG=1.",
        )
        return _fail(fault, arguments)


def _misused(error: typer.TyperException, arguments: list[str]) -> int:
    message = error.format_message()
    if message.startswith("Usage:"):  # no command was named: the help is the whole message
        print(message, file=sys.stderr)
        return InputError.exit_code
    asked = getattr(error, "ctx", None)  # of the command that was named
    command = "planner" if asked is None else asked.command_path
    meant = MEANT_OPTIONS.get(getattr(error, "option_name", ""), "")
    if asked is not None and any(meant in parameter.opts for parameter in asked.command.params):
        message = f"{message.partition(' (')[0]}; write {meant}"
    return _fail(InputError(message, fix=f"See: {command} --help"), arguments)


def _fail(error: PlannerError, arguments: list[str]) -> int:
    if wants_json(arguments):
        with contextlib.suppress(OSError):  # if stdout is full, stderr says what was wrong
            print(error_document(error), flush=True)
    print(f"Error: {error.message}", file=sys.stderr)
    if error.fix:
        print(error.fix, file=sys.stderr)
    return error.exit_code


if __name__ == "__main__":
    main()
