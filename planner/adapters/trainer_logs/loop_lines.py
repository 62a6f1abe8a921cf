"""Lines in which single-file training loops print a step: nanoGPT, llm.c, nanochat, modded-nanogpt, MaxText, others."""

from __future__ import annotations

import re
from dataclasses import dataclass

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
