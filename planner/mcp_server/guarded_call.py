"""One call of a tool: one at a time, within the folder, and every failure as a sentence that says what to change."""

from __future__ import annotations

import functools
import gc
import itertools
import os
import re
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from mcp.server.mcpserver.exceptions import ToolError

from planner.adapters.files import check_readable, reading_only_below
from planner.adapters.user_text import secrets_noted
from planner.errors import PlannerError
from planner.mcp_server.tool_answer import ToolAnswer, few, shown

FLAG = re.compile(r"--([a-z]+(?:-[a-z]+)*)")
LONGEST_ERROR = 800
COLLECT_EVERY = 25
"""Calls. Reading prices puts off Python's own collection of what refers to itself, in a server without end."""
Arguments = ParamSpec("Arguments")
_one_at_a_time = Lock()
"""What is read and warned of is noted for the whole process."""
_calls = itertools.count(1)


class Guarded(Protocol):
    """What has tools, and the folders that they may read."""

    @property
    def readable(self) -> tuple[Path, ...]:
        """Return the folders from which files may be read."""


Tools = TypeVar("Tools", bound=Guarded)


def in_words_of_arguments(text: str) -> str:
    """Write an option of the command line as the argument of a tool: `--seq-len` is `seq_len`."""
    return FLAG.sub(lambda found: found[1].replace("-", "_"), text)


def guarded(
    tool: Callable[Concatenate[Tools, Arguments], ToolAnswer],
) -> Callable[Concatenate[Tools, Arguments], ToolAnswer]:
    """Return a tool that reads only below its folders and whose every error is a sentence."""

    @functools.wraps(tool)
    def call(tools: Tools, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> ToolAnswer:
        with _one_at_a_time, reading_only_below(tools.readable), secrets_noted() as secrets:
            answer = _outcome(lambda: tool(tools, *args, **kwargs))
            if next(_calls) % COLLECT_EVERY == 0:
                gc.collect()
        if isinstance(answer, str):  # raised out here: an error that remembers the first would keep a whole catalog
            raise ToolError(shown(answer, longest=LONGEST_ERROR))
        told = map(shown, (*secrets, *answer.assumptions))
        return answer.model_copy(
            update={
                "headline": [in_words_of_arguments(sentence) for sentence in answer.headline],
                "assumptions": few(in_words_of_arguments(one) for one in told),
            }
        )

    return call


def _outcome(tool: Callable[[], ToolAnswer]) -> ToolAnswer | str:
    """Return the answer, or what is wrong in a sentence."""
    try:
        return tool()
    except PlannerError as error:
        return in_words_of_arguments(f"{error.message} {error.fix}")
    except Exception as error:  # noqa: BLE001  a fault may quote what was read: only its kind is told
        if os.environ.get("PLANNER_DEBUG"):
            traceback.print_exc(file=sys.stderr)
        return f"this is a fault of the planner ({type(error).__name__}); please report it."


def inside(name: str) -> str:
    """Return a name or path that stays in the folders; a mere name never leaves them."""
    check_readable(Path(name))
    return name
