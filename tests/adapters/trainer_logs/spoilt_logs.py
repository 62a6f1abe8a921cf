"""Logs of known trainings, spoilt as people's logs are: merged, cut, interleaved, repeated, with clocks that jump."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Line = tuple[int, float, str]
"""Step, the moment it was written, text."""
BATCH = 16


@dataclass(frozen=True)
class SpoiltLog:
    """A folder with a log, the seconds of a step that generated it, and what was done to it."""

    folder: Path
    seconds: float
    done: tuple[str, ...]


def _clock(seconds: float) -> str:
    whole = round(seconds)
    days, rest = divmod(whole, 86_400)
    text = f"{rest // 3600}:{rest % 3600 // 60:02d}:{rest % 60:02d}"
    return f"{days} days, {text}" if days else text


def _words(seconds: float) -> str:
    whole = round(seconds)
    parts = [(whole // 3600, "h"), (whole % 3600 // 60, "m"), (whole % 60, "s")]
    return " ".join(f"{number}{unit}" for number, unit in parts if number or unit == "s")


def _factory(step: int, clock: float, total: int) -> str:
    row = {"current_steps": step, "total_steps": total, "loss": 0.5, "elapsed_time": _clock(clock)}
    return json.dumps(row)


def _swift(step: int, clock: float, total: int) -> str:
    return f"{{'loss': 0.5, 'global_step/max_steps': '{step}/{total}', 'elapsed_time': '{_words(clock)}'}}"


def _swift_jsonl(step: int, clock: float, total: int) -> str:
    return json.dumps({"loss": 0.5, "global_step/max_steps": f"{step}/{total}", "elapsed_time": _words(clock)})


def _bar(step: int, clock: float, total: int) -> str:
    whole = round(clock)
    shown = (
        f"{whole // 3600}:{whole % 3600 // 60:02d}:{whole % 60:02d}"
        if whole >= 3600
        else f"{whole // 60:02d}:{whole % 60:02d}"
    )
    figures = "{'loss': 0.5, 'epoch': 0.1}"
    return f" {100 * step // total:2d}%|##        | {step}/{total} [{shown}<1:00:00,  2.00s/it]\n{figures}"


def _csv(step: int, clock: float, total: int) -> str:
    return f"{step},{clock:.2f},0.5"


FORMS: dict[str, tuple[str, str, Callable[[int, float, int], str]]] = {
    "factory": ("trainer_log.jsonl", "", _factory),
    "swift": ("train.log", "", _swift),
    "swift jsonl": ("logging.jsonl", "", _swift_jsonl),
    "bar": ("train.log", "***** Running training *****\n  Total optimization steps = {total}", _bar),
    "csv": ("steps.csv", "step,elapsed_s,loss", _csv),
}
"""File, header and a line of each format."""


def _process(
    random_: random.Random, form: str, steps: range, seconds: float, *, start: float, total: int, moment: float
) -> list[Line]:  # fmt: skip
    """Write the steps that one process logs, whose clock shows `start` when it begins at `moment`."""
    line = FORMS[form][2]
    jitter = random_.choice([0.0, 0.01, 0.05])
    clock, lines = random_.uniform(0, 20), []
    for step in range(steps.start + 1, steps.stop + 1):
        clock += seconds * (1 + random_.uniform(-jitter, jitter))
        if step % steps.step == 0:
            lines.append((step, moment + clock, line(step, start + clock, total)))
    return lines


def _with_other_ranks(
    random_: random.Random, form: str, lines: list[Line], shifts: list[float], *, start: float, total: int,
    moment: float,
) -> list[Line]:  # fmt: skip
    """Add ranks that write the same file at the same time, their clocks apart."""
    write = FORMS[form][2]
    others = [
        (step, written + random_.uniform(0, 0.1), write(step, start + written - moment + shift, total))
        for shift in shifts
        for step, written, _ in lines
    ]
    return sorted([*lines, *others], key=lambda numbered: numbered[1])


def _parts(random_: random.Random, logged: int, every: int, resumes: int) -> list[range]:
    """Return the steps of each process: every resume does some steps again that the one before has done."""
    stops = sorted(random_.sample(range(2, logged), resumes)) if resumes > 1 else []
    stops = stops or [random_.randint(logged // 3, logged - 2)] * resumes
    parts, begin = [], 0
    for stop in [*stops, logged]:
        parts.append(range(begin * every, stop * every, every))
        begin = max(0, stop - random_.randint(0, 10))
    return parts


def spoilt_log(seed: int, folder: Path) -> SpoiltLog:
    """Write the log of this seed into a folder."""
    random_ = random.Random(seed)
    form = random_.choice(list(FORMS))
    every = random_.choice([1, 5, 10]) if form != "bar" else random_.choice([1, 2])
    logged = random_.randint(40, 120)
    seconds = max(random_.uniform(0.5, 30), 10 / every)
    if form == "bar" and random_.random() < 0.3:  # a bar that shows several steps in a second
        every, logged, seconds = 1, 1500, random_.uniform(0.1, 1.5)
    total = every * logged
    name, head, _ = FORMS[form]
    ranks = random_.choice([2, 2, 3]) if random_.random() < 0.35 else 1
    resumes = random_.choice([1, 1, 1, 2, 4, 6, 9, 12]) if random_.random() < 0.4 else 0
    shifts = [random_.uniform(0, 3 * every * seconds) for _ in range(ranks - 1)]
    shifts = [random_.choice([apart, float(round(apart))]) for apart in shifts]
    absolute = form == "csv" and random_.random() < 0.5
    done = [form, *(["ranks"] if ranks > 1 else []), *([f"{resumes} resumes"] if resumes else [])]
    lines: list[Line] = []
    moment = 0.0
    for steps in _parts(random_, logged, every, resumes):
        start = moment if absolute else 0.0
        part = _process(random_, form, steps, seconds, start=start, total=total, moment=moment)
        lines += _with_other_ranks(random_, form, part, shifts, start=start, total=total, moment=moment)
        moment = max((written for _, written, _ in lines), default=0.0) + random_.uniform(60, 20_000)
    if random_.random() < 0.2:  # a clock that jumps
        done.append("jump")
        place, jump = random_.randint(5, len(lines) - 5), random_.choice([-3600.0, 3600.0])
        if form == "csv":
            lines = lines[:place] + [
                (step, written, f"{step},{float(text.split(',')[1]) + jump:.2f},0.5")
                for step, written, text in lines[place:]
            ]
    texts = [text for _, _, text in lines]
    if random_.random() < 0.25:  # cut at either end, also within a line
        done.append("cut")
        texts = texts[random_.randint(0, len(texts) // 4) : len(texts) - random_.randint(0, len(texts) // 4)]
        texts[-1] = texts[-1][: random_.randint(1, len(texts[-1]))]
    if random_.random() < 0.2:  # pasted twice
        done.append("repeated")
        texts = [*texts, *texts] if random_.random() < 0.5 else [copy for text in texts for copy in (text, text)]
    if random_.random() < 0.2:  # lines of other programs
        done.append("noise")
        noise = ["WARNING: NCCL timeout", "Loading shards: 100%|##| 3/3 [00:01<00:00, 3.00it/s]", ""]
        if form in ("swift", "bar"):
            texts = [
                line
                for text in texts
                for line in ((text, random_.choice(noise)) if random_.random() < 0.2 else (text,))
            ]
    folder.mkdir(parents=True, exist_ok=True)
    top = [head.format(total=f"{total:,}")] if head else []
    (folder / name).write_text("\n".join([*top, *texts]) + "\n", encoding="utf-8")
    if form == "factory" and random_.random() < 0.5:
        done.append("merged")
        runtime = total * seconds + random_.uniform(5, 30)
        results = {"train_runtime": runtime, "train_steps_per_second": round(total / runtime, 3), "epoch": 1.0}
        (folder / "all_results.json").write_text(json.dumps(results), encoding="utf-8")
        state = {"global_step": total, "max_steps": total, "log_history": [results | {"step": total}]}
        (folder / "trainer_state.json").write_text(json.dumps(state), encoding="utf-8")
    return SpoiltLog(folder, seconds, tuple(done))
