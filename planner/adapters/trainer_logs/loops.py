"""Single-file training loops that print a line per step, each by its row in `LOOPS`."""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

from planner.adapters.trainer_logs.csv_columns import RATES_ALONE
from planner.adapters.trainer_logs.log_source import LONGEST_LINE, LogSource
from planner.adapters.trainer_logs.numbers_in_text import count, number, number_or_nan, positive
from planner.adapters.trainer_logs.trainer_log import Facts, LogSpan, OtherWork, Total, TrainerLog, spans_between

FIGURE = r"[-+\w.,]{1,30}"


@dataclass(frozen=True)
class Loop:
    """A loop's line pattern.

    Its groups: `step`, `loss`; `ms` or `s` of the step, or `clock` in ms since the start with the `mean` of a step;
    `minutes` of all steps so far; `rate` in tokens/s of all accelerators, or `device_rate` of one.
    """

    name: str
    framework: str | None
    line: re.Pattern[str]
    evaluates: re.Pattern[str] | None = None
    """Line that names the step whose time contains an evaluation."""
    smoothed: bool = False
    """True if the rate is a moving mean."""


def _line(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern.replace("FIGURE", FIGURE))


LOOPS = (
    # nanoGPT's train.py: `iter 10: loss 3.2000, time 312.45ms, mfu 2.30%`, one of every few; `step 250: train loss ...`
    Loop("nanogpt", "nanoGPT",
         _line(r"(?:^|\s)iter (?P<step>\d{1,9}): loss (?P<loss>FIGURE), time (?P<ms>[\d.]{1,20})ms"),
         evaluates=re.compile(r"(?:^|\s)step (\d{1,9}): (?:train|val) loss ")),
    # llm.c's train_gpt2.cu and train_gpt2.py: `step 61/74 | loss 3.2 (+nanz)| ... | 44.57 ms | ... | 91886 tok/s`
    Loop("llm.c", "llm.c", _line(
        r"^step\s{1,9}(?P<step>\d{1,9})/\d{1,9} \| (?:train )?loss\s{1,9}(?P<loss>FIGURE).{1,120}?\|\s{1,9}\(?"
        r"(?P<ms>[\d.]{1,20}) ms.{1,60}?(?P<rate>\d{1,15}) tok/s"), smoothed=True),
    Loop("llm.c", "llm.c", _line(
        r"^step (?P<step>\d{1,9})/\d{1,9}: train loss (?P<loss>FIGURE)(?: \(acc FIGURE\))? "
        r"\((?P<ms>[\d.]{1,20}) ms, (?P<rate>\d{1,15}) tok/s\)")),
    # nanochat's base_train.py, build-nanogpt: `step 00100/21400 (0.47%) | loss: 5.5 | ... | dt: 338ms | tok/sec: 1,548`
    Loop("nanochat", "nanoGPT", _line(
        r"^step\s{1,9}(?P<step>\d{1,9})(?:/\d{1,9})?(?: \([\d.]{1,6}%\))?(?: \||,) loss: "
        r"(?P<loss>FIGURE?),? .{0,160}?dt: (?P<ms>[\d.]{1,20})ms(?: \||,) tok/sec: (?P<rate>[\d.,]{1,20})"
        r"(?:.{0,80}? total time: (?P<minutes>[\d.]{1,20})m)?")),
    # modded-nanogpt: `step:125/1480 val_loss:4.3719 train_time:29736ms step_avg:258.57ms`, without evaluation
    Loop("modded-nanogpt", "nanoGPT", _line(
        r"(?:^|\s)step:(?P<step>\d{1,9})/\d{1,9} .{0,80}?train_time:(?P<clock>[\d.]{1,20})ms"
        r"(?: step_avg:(?P<mean>[\d.]{1,20})ms)?")),
    Loop("loop", None, _line(r"^(?P<step>\d{1,9}) \| loss (?P<loss>FIGURE) \| lr FIGURE \| (?P<ms>[\d.]{1,20})ms")),
    # MaxText's metric_logger.py
    Loop("maxtext", "JAX", _line(
        r"completed step: (?P<step>\d{1,9}), seconds: (?P<s>[\d.]{1,20}), TFLOP/s/device: FIGURE Tokens/s/device: "
        r"(?P<device_rate>[\d.]{1,20}),.{0,80}? loss: (?P<loss>FIGURE)")),
    # PrimeIntellect's trainers: `[INFO] [Rank 0] step: 2, loss: 10.8607, tokens_per_second: 628145.53, mfu: 50.78`
    Loop("prime", "PyTorch", _line(
        r"step: (?P<step>\d{1,9}), loss: (?P<loss>[\d.]{1,20}), tokens_per_second: (?P<rate>[\d.]{1,20})")),
    # NeMo Automodel: `step 9 | epoch 0 | loss 0.6974 | ... | tps 11278.56(1409.82/gpu) | num_label_tokens 21541`
    Loop("automodel", "Automodel", _line(
        r"step (?P<step>\d{1,9}) \| epoch \d{1,9} \| loss (?P<loss>[-\w.]{1,20}) \|.{0,200}? "
        r"tps (?P<rate>[\d.]{1,20})\(")),
)  # fmt: skip
FACTS = {
    "tokens": (r"tokens per iteration(?: will be)?: ([\d,]{1,30})",
               r"\| total batch size {1,30}\| ([\d,]{1,15}) ", r"^total (?:desired )?batch size:? ([\d,]{1,15})\b"),
    "micro_batch": (r"^(?:Overriding: )?batch_size = (\d{1,9})\s*$",
                    r"\| (?:micro )?batch[ _]size B {1,30}\| (\d{1,9}) ", r"Tokens / micro-batch / rank: (\d{1,9}) x "),
    "seq_len": (r"^(?:Overriding: )?block_size = (\d{1,9})\s*$", r"\| sequence length T {1,30}\| (\d{1,9}) ",
                r"Tokens / micro-batch / rank: \d{1,9} x (\d{1,9}) "),
    "devices": (r"\| num_processes {1,30}\| (\d{1,9}) ",),
    "accumulation": (r"gradient accumulation steps: (\d{1,9})",),
}  # fmt: skip
FACT_LINES = {name: [re.compile(pattern, re.IGNORECASE) for pattern in patterns] for name, patterns in FACTS.items()}
DEVICE_LINE = re.compile(r"^\| device {1,30}\| (\w[\w .-]{1,60}?) *\||^GPU: (\w[\w .-]{1,60}?) \|")
PRECISION_LINE = re.compile(r"^\| precision {1,30}\| (BF16|FP16|FP32|TF32) ")


LIKE_A_STEP = re.compile(r"\b(?:step|iter)\b.{0,200}\bloss\b", re.IGNORECASE)
RESET = 11
"""Step after which modded-nanogpt has reset its clock to 0 (after ten steps)."""
WHOLE_TOKENS = 256
"""Tokens of which a batch is a multiple."""
TOKENS_TOLERANCE = 0.005
"""Relative difference within which a batch's tokens are taken to be the multiple."""


def loop_log(source: LogSource, name: str) -> TrainerLog | None:
    """Return the training in the output of a loop; None if no row of `LOOPS` matches."""
    loop = _loop(source, name)
    if loop is None:
        return None
    steps: list[dict[str, str | None]] = []
    skipped = 0
    evaluated: set[int] = set()
    facts = _FactsSaid()
    for whole in source.lines(name):
        line = whole[:LONGEST_LINE]
        if found := loop.line.search(line):
            steps.append(found.groupdict())
        elif loop.evaluates and (found := loop.evaluates.search(line)):
            evaluated.add(int(found[1]))
        elif not steps:
            facts.take(line)
        elif LIKE_A_STEP.search(line):
            skipped += 1
        log = TrainerLog(
            format=loop.name,
            framework=loop.framework,
            facts=facts.facts(),
            losses=tuple(number_or_nan(step["loss"]) for step in steps if step.get("loss")),
            used_lines=len(steps),
            skipped_lines=skipped,
            files=(name,),
        )
    if "clock" in loop.line.groupindex:
        return _with_clock(log, steps, facts.tokens)
    spans = [span for step in steps if (span := _span(step, facts.tokens, evaluated)) is not None]
    if not spans:
        return None
    if "ms" not in loop.line.groupindex and "s" not in loop.line.groupindex:
        return replace(log, spans=tuple(spans), rates_alone=True, doubts=(RATES_ALONE,))
    if loop.smoothed and not facts.tokens:
        spans = _with_even_tokens(spans)
    return replace(
        log,
        spans=tuple(spans),
        check=_total(steps, spans),
        whole_batches=not facts.tokens,
        tokens_of_one_device="device_rate" in loop.line.groupindex,
    )


def _total(steps: Sequence[dict[str, str | None]], spans: Sequence[LogSpan]) -> Total | None:
    """Return steps and seconds between the first and the last line with the minutes of all steps so far."""
    timed = [(int(step["step"] or 0), minutes) for step in steps if (minutes := positive(step.get("minutes")))]
    if len(timed) < 2 or timed[-1][0] <= timed[0][0] or len(spans) < timed[-1][0] - timed[0][0]:
        return None
    return Total(timed[-1][0] - timed[0][0], 60 * (timed[-1][1] - timed[0][1]))


def _loop(source: LogSource, name: str) -> Loop | None:
    for line in source.lines(name):
        if "step" in line or "iter" in line or " | loss " in line:
            for loop in LOOPS:
                if loop.line.search(line[:LONGEST_LINE]):
                    return loop
    return None


class _FactsSaid:
    """Facts in the lines before the first step."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.device: str | None = None
        self.precision: str | None = None

    def take(self, line: str) -> None:
        for fact, patterns in FACT_LINES.items():
            for pattern in patterns:
                if (found := pattern.search(line)) and (value := count(found[1])):
                    self.numbers.setdefault(fact, value)
        if found := DEVICE_LINE.match(line):
            self.device = found[1] or found[2]
        if found := PRECISION_LINE.match(line):
            self.precision = found[1].casefold()

    @property
    def tokens(self) -> float | None:
        """Tokens of a step."""
        return self.numbers.get("tokens")

    def facts(self) -> Facts:
        said = self.numbers
        seq_len, tokens = said.get("seq_len"), said.get("tokens")
        return Facts(
            accelerator=self.device,
            devices=said.get("devices"),
            micro_batch=said.get("micro_batch"),
            accumulation=said.get("accumulation"),
            global_batch=tokens // seq_len if tokens and seq_len and tokens % seq_len == 0 else None,
            seq_len=seq_len,
            precision=self.precision,
            padded=False,
        )


def _span(step: dict[str, str | None], tokens: float | None, evaluated: set[int]) -> LogSpan | None:
    at = int(step["step"] or 0)
    rate = positive(step.get("rate") or step.get("device_rate"))
    ms, seconds = positive(step.get("ms")), positive(step.get("s"))
    seconds = ms / 1e3 if ms else seconds
    if seconds is None:
        return LogSpan(at, at + 1, 1 / rate, 1.0) if rate else None
    other_work = OtherWork.EVALUATION if at in evaluated else None
    return LogSpan(at, at + 1, seconds, tokens or (rate * seconds if rate else None), other_work)


def _with_even_tokens(spans: Sequence[LogSpan]) -> list[LogSpan]:
    """Give each step the same tokens: the median of smoothed rate x seconds, rounded to 256 if near a multiple."""
    middle = statistics.median(span.tokens or 0.0 for span in spans)
    whole = round(middle / WHOLE_TOKENS) * WHOLE_TOKENS
    tokens = whole if whole and abs(whole / middle - 1) < TOKENS_TOLERANCE else middle
    return [replace(span, tokens=tokens) for span in spans]


def _with_clock(log: TrainerLog, steps: Sequence[dict[str, str | None]], tokens: float | None) -> TrainerLog | None:
    """Return the spans between the lines. A clock reset after the first ten steps is not a fault."""
    points = [(int(step["step"] or 0), (number(step["clock"]) or 0.0) / 1e3) for step in steps]
    early = [place for place, (step, _) in enumerate(points) if place and step <= RESET]
    begun = [place for place in early if points[place][1] < points[place - 1][1]]
    spans, doubts = spans_between(points[begun[-1] if begun else 0 :])
    first, mean = next((step for step in steps if positive(step["clock"])), None), None
    if first is not None and points[0] == (0, 0.0) and spans and (mean := positive(first["mean"])):
        done = round((number(first["clock"]) or 0.0) / mean)
        spans[0] = replace(spans[0], begin=max(0, spans[0].end - done))
    spans = [replace(span, tokens=tokens and tokens * span.steps) for span in spans]
    return replace(log, spans=tuple(spans), resolution_s=0.001, doubts=tuple(doubts)) if spans else None
