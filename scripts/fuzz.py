"""Give damaged files to the commands that read them, and report inputs that were neither answered nor refused.

Run: make fuzz.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.fuzz.trial import TrialOutcome

ROOT = Path(__file__).parents[1]
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
KEPT = 3
"""Inputs to keep per kind of fault."""
EVERY_COMMAND = 1000
"""Inputs from which on each good file is first given to every command that reads it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the inputs, print the results, and keep failing inputs."""
    asked = _asked(arguments)
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # children are forked without threads
    _find_tests()
    from planner import clock
    from tests.fuzz.readers import trials
    from tests.fuzz.trial import outcomes
    from tests.fuzz.warm import warm

    clock.now = lambda: NOON
    with tempfile.TemporaryDirectory(dir=MEMORY) as scratch:
        refused = warm(Path(scratch), every_command=asked.count >= EVERY_COMMAND)
        if refused:
            print("good files are refused:", *refused, sep="\n")
            return 1
        assert threading.active_count() == 1, "children are forked from one thread"
        print(f"seed {asked.seed}, inputs {asked.begin} to {asked.begin + asked.count - 1}", flush=True)
        inputs = trials(asked.seed, asked.begin, asked.begin + asked.count, only=asked.reader)
        faults = _watch(outcomes(inputs, scratch=Path(scratch), workers=asked.workers), asked)
    for (reader, fault), count in faults.most_common():
        print(f"{count} x {reader}: {fault}")
    return 1 if faults else 0


def _find_tests() -> None:
    """Make `tests` the planner's own, because an installed package may have the same name."""
    sys.path.insert(0, str(ROOT))
    tests = sys.modules["tests"] = ModuleType("tests")
    tests.__path__ = [str(ROOT / "tests")]


def _watch(ended: Iterable[TrialOutcome], asked: argparse.Namespace) -> Counter[tuple[str, str]]:
    """Count faults, keep their inputs, and print speed, the longest and the largest run."""
    faults: Counter[tuple[str, str]] = Counter()
    codes: Counter[int | None] = Counter()
    longest: TrialOutcome | None = None
    largest: TrialOutcome | None = None
    began = time.monotonic()
    for outcome in ended:
        codes[outcome.code] += 1
        longest = outcome if longest is None or outcome.seconds > longest.seconds else longest
        largest = outcome if largest is None or outcome.megabytes > largest.megabytes else largest
        if outcome.fault is not None:
            kind = (outcome.trial.reader, outcome.fault)
            faults[kind] += 1
            if faults[kind] <= KEPT:
                _keep(outcome, asked.keep, asked.seed)
        if codes.total() % 1000 == 0:
            speed = codes.total() / (time.monotonic() - began)
            print(f"{codes.total()} inputs, {speed:.0f}/s, {faults.total()} faults", flush=True)
    seconds = time.monotonic() - began
    print(f"{codes.total()} inputs in {seconds:.0f} s, {codes.total() / seconds:.0f}/s, exit codes {dict(codes)}")
    for what, example in (("longest", longest), ("largest", largest)):
        if example is not None:
            command = " ".join(example.trial.command)
            print(
                f"{what}: {example.seconds:.2f} s, {example.megabytes:.0f} MB, input {example.trial.index}: {command}"
            )
    return faults


def _asked(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="inputs")
    parser.add_argument("--seed", default="1", help="seed of the inputs; the same seed makes the same inputs")
    parser.add_argument("--begin", type=int, default=0, help="number of the first input")
    parser.add_argument("--reader", default="", help="a word in the names of the readers to try")
    parser.add_argument("--workers", type=int, default=2, help="inputs at a time")
    parser.add_argument("--keep", type=Path, default=Path("build/fuzz"), help="folder for failing inputs")
    return parser.parse_args(arguments)


def _keep(outcome: TrialOutcome, where: Path, seed: str) -> None:
    """Keep a failing input with its command and its output."""
    folder = where / f"{seed}-{outcome.trial.index}"
    outcome.trial.lay(folder)
    command = ["planner", *outcome.trial.command]
    said = {"fault": outcome.fault, "seed": seed, "command": command, "seconds": outcome.seconds}
    (folder / "fault.json").write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")
    (folder / "detail.txt").write_text(outcome.detail, encoding="utf-8", errors="backslashreplace")
    print(f"{folder}: {outcome.trial.reader}: {outcome.fault}: {' '.join(command)}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
