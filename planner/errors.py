"""Errors that users can meet, with their exit codes.

PlannerError             1  our own fault; asks for a report
|- InputError            2  a file, key, flag or number is wrong: what, where, how to fix it
|  |- NotFoundError      2  a name (run, site, offer, workload) that no catalog knows
|  |- NotModelledError   2  a machine or network that exists and that the planner has no formula for
|  |- StoreError         2  the workspace cannot be read or written
|  `- MissingExtraError  2  a part of the planner that is not installed
|- RefusedError          3  a cap, a missing price or a deadline forbids it; nothing was started
|- NodeError             4  a machine or a provider failed
|  `- PriceSourceError   4  a source of prices did not answer, or not with prices; the known prices are kept
`- StoppedError    128 + n  signal n asked the command to stop (130: Ctrl-C, 143: SIGTERM); its processes have ended
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

EXIT_DONE = 0
EXIT_NOTHING_FEASIBLE = 3
"""Exit code of an answer without a feasible option. Its document names the binding limit and the nearest option."""
EXIT_INTERRUPTED = 130
LONGEST_LINE = 2_000
"""Largest number of characters of one line of a message, which may quote a file."""


class PlannerError(Exception):
    """A problem (`message`) and its solution (`fix`). Secrets are removed, because providers repeat their input."""

    kind = "internal"
    exit_code = 1

    def __init__(self, message: str, *, fix: str = "") -> None:
        from planner.redact import clean  # imported late, because commands without an error need no patterns

        self.message = _with_bounded_lines(clean(message))
        self.fix = _with_bounded_lines(clean(fix))
        super().__init__(self.message)

    def __str__(self) -> str:
        return f"{self.message} {self.fix}".strip()

    def document(self) -> dict[str, object]:
        """Return the error as the document that `--json` prints."""
        return {"schema_version": 1, "error": {"kind": self.kind, "message": self.message, "fix": self.fix}}


def _with_bounded_lines(text: str) -> str:
    """Shorten long lines of a text that quotes a file."""
    lines = (line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE - 3]}..." for line in text.split("\n"))
    return "\n".join(lines)


class InputError(PlannerError):
    """Wrong input or usage."""

    kind = "input"
    exit_code = 2


class NotFoundError(InputError):
    """A name that no catalog and no workspace knows. The fix suggests similar names."""

    kind = "not_found"

    def __init__(self, what: str, name: str, known: Iterable[str], *, where: str = "", fix: str = "") -> None:
        similar = difflib.get_close_matches(name, list(known), n=3, cutoff=0.5)
        hint = f"Did you mean {' or '.join(similar)}?" if similar else fix
        prefix = f"{where}: " if where else ""
        self.what = what
        super().__init__(f"{prefix}there is no {what} '{name}'.", fix=hint)


class NotModelledError(InputError):
    """Something real that the planner has no formula for. The fix names the nearest alternative."""


class StoreError(InputError):
    """The workspace cannot be read or written; nothing was lost."""

    kind = "store"


class MissingExtraError(InputError):
    """A part of the planner that is not installed."""

    kind = "missing_extra"

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} is not installed.", fix=f"Install it with: pip install 'training-planner[{extra}]'")


class RefusedError(PlannerError):
    """A cap, a missing price or a deadline forbids the request. Nothing was started."""

    kind = "refused"
    exit_code = EXIT_NOTHING_FEASIBLE


class NodeError(PlannerError):
    """A machine or a provider failed."""

    kind = "node"
    exit_code = 4


class PriceSourceError(NodeError):
    """A source of prices did not answer, or not with prices. Known prices are kept."""

    kind = "price_source"


class StoppedError(PlannerError):
    """A signal asked the command to stop, and its processes have ended."""

    kind = "stopped"

    def __init__(self, message: str, *, signal_number: int, fix: str = "") -> None:
        super().__init__(message, fix=fix)
        self.exit_code = 128 + signal_number
