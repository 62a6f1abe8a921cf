"""Progress output of `planner bench`: on a terminal one line that is rewritten, elsewhere one line per phase."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Mapping

from planner.cli.streams import say
from planner.cli.visible_output import Drawn
from planner.text.visible_text import visible_text

REDRAW_EVERY_S = 0.5
ERASED = "\r\x1b[2K"


class BenchProgress:
    """Sentences and steps of a running benchmark, on stderr."""

    def __init__(self) -> None:
        self._on_terminal = sys.stderr.isatty()
        self._drawn = False
        self._next_s = 0.0
        self._phase: object = None

    def say(self, text: str) -> None:
        """Print a sentence on its own line."""
        self.close()
        self._phase = None  # the next start prints its phases again
        say(text)

    def step(self, step: Mapping[str, object]) -> None:
        """Show a step: on a terminal in place of the step before it, elsewhere only the first step of a phase."""
        if not self._on_terminal:
            if step["phase"] != self._phase:
                say(f"  {_step_text(step)}")
        elif time.monotonic() >= self._next_s:
            self._next_s = time.monotonic() + REDRAW_EVERY_S
            width = shutil.get_terminal_size().columns - 1  # a line that wraps cannot be rewritten
            sys.stderr.write(Drawn(ERASED + visible_text(f"  {_step_text(step)}")[:width]))
            sys.stderr.flush()
            self._drawn = True
        self._phase = step["phase"]

    def close(self) -> None:
        """Erase the line of the last step."""
        if self._drawn:
            sys.stderr.write(Drawn(ERASED))
            sys.stderr.flush()
            self._drawn = False


def _step_text(step: Mapping[str, object]) -> str:
    unit = "images" if "images" in step else "tokens"
    seconds, done = float(str(step["seconds"])), float(str(step[unit]))
    rate = done / seconds if seconds > 0 else 0.0
    return f"{step['phase']} step {step['step']}: {seconds:.3f} s, {rate:,.4g} {unit}/s"
