"""Write docs/plain-questions.md: common questions about speed with published answers. Run: make plain-questions."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from planner import api
from planner.adapters.workspace import catalogs_dir
from planner.model.answer.option_estimate import OptionEstimate
from planner.model.network.workload import WHOLE
from planner.model.plan.plan import FlopsConvention
from planner.network.flops import flops_per_token
from planner.use_cases.catalogs import open_catalog
from planner.use_cases.networks import find_architecture

TARGET = Path(__file__).parents[1] / "docs" / "plain-questions.md"
LORA = {"adapters": {"rank": 16}}
QLORA = {"adapters": {"rank": 16, "frozen": "nf4"}}


class PlainQuestion(NamedTuple):
    """A question about the speed of a training on an option, with the ids of similar published rows."""

    what: str
    network: str
    seq_len: int | None
    option: dict[str, Any]
    training: dict[str, Any]
    published: tuple[str, ...] = ()


def on(offer: str, nodes: int = 1) -> dict[str, Any]:
    """Return an option with an arbitrary price."""
    return {"offer": offer, "nodes": nodes, "usd_per_hour": 1.0}


TITAN, HF, MEGATRON = ({"framework": name} for name in ("torchtitan", "HF Trainer", "Megatron-LM"))
QUESTIONS = (
    PlainQuestion("Llama 3 8B, QLoRA", "llama3-8b", 2048, {"site": "pc-rtx4090"}, HF | QLORA, ("field-0119",)),
    PlainQuestion("Llama 3 8B, all weights", "llama3-8b", 2048, {"site": "pc-rtx4090"}, HF),
    PlainQuestion("Llama 3 8B, LoRA", "llama3-8b", 4096, on("lambda/gpu_1x_h100_sxm5"), HF | LORA, ("field-0478",)),
    PlainQuestion("Llama 3 8B, LoRA", "llama3-8b", 2048, on("aws/p4d.24xlarge"), HF | LORA),
    PlainQuestion(
        "Llama 3 8B, all weights",
        "llama3-8b",
        2048,
        on("aws/p3dn.24xlarge"),
        {"framework": "DeepSpeed", "precision": "fp16"},
    ),
    PlainQuestion("Llama 3 8B, all weights", "llama3-8b", 16_384, on("aws/p4de.24xlarge"), HF, ("fine-092",)),
    PlainQuestion("Llama 3 8B, all weights", "llama3-8b", 131_072, on("aws/p4de.24xlarge"), TITAN, ("fine-095",)),
    PlainQuestion("Llama 3 8B, all weights", "llama3-8b", 8192, on("aws/p5.48xlarge"), TITAN, ("titan-11", "titan-12")),
    PlainQuestion("Llama 3 8B, all weights", "llama3-8b", 512, on("aws/p5en.48xlarge"), HF),
    PlainQuestion("Llama 3 8B, all weights", "llama3-8b", 8192, on("aws/p6-b200.48xlarge"), TITAN),
    PlainQuestion(
        "Llama 3 8B, all weights", "llama3-8b", 8192, on("aws/p4de.24xlarge", 8), TITAN, ("titan-01", "titan-02")
    ),
    PlainQuestion("Llama 3 8B, all weights", "llama3-8b", 8192, on("aws/p5.48xlarge", 8), TITAN),
    PlainQuestion(
        "Llama 3.1 70B, all weights", "llama-3.1-70b", 8192, on("aws/p4de.24xlarge", 8), TITAN, ("titan-03",)
    ),
    PlainQuestion("Llama 3.1 70B, LoRA", "llama-3.1-70b", 4096, on("aws/p5.48xlarge"), TITAN | LORA, ("field-0480",)),
    PlainQuestion(
        "Llama 3.1 405B, all weights", "llama-3.1-405b", 8192, on("aws/p5.48xlarge", 64), TITAN, ("titan-22",)
    ),
    PlainQuestion("Qwen3 30B-A3B, all weights", "qwen3-30b-a3b", 4096, on("aws/p5.48xlarge"), MEGATRON, ("nemo-174",)),
    PlainQuestion(
        "Qwen3 30B-A3B, all weights", "qwen3-30b-a3b", 4096, on("aws/p5.48xlarge", 8), MEGATRON, ("third-g012",)
    ),
    PlainQuestion(
        "GPT of 305M", "gpt-305m", 512, on("aws/p4d.24xlarge"), {"framework": "PyTorch"}, ("ninth-a-033", "field-0506")
    ),
    PlainQuestion("ResNet-50", "resnet50", None, on("aws/p4d.24xlarge"), {"framework": "PyTorch"}, ("m01830",)),
    PlainQuestion("ViT-B/16", "vit-b16", None, on("aws/p5.48xlarge"), {"framework": "JAX"}, ("seventh-d-070",)),
)


def page() -> str:
    """Return the text of docs/plain-questions.md."""
    published = {row["id"]: row for path in (catalogs_dir() / "evidence").glob("*.csv") for row in _rows(path)}
    lines = [
        "# Plain questions",
        "",
        "After reading this page you know how fast well-known trainings run, by the planner (tuned) and as published.",
        'Settings are not always the same. Numbers are per accelerator and second; "of peak" is model FLOPs with full',
        'attention over the dense bf16 peak; "published" has framework, precision, count, and the row\'s id in',
        "`catalogs/evidence/`. Written by `make plain-questions`; a test compares it.",
        "",
        "| what | length | on | way | per accelerator (90 %) | of peak | published |",
        "|---|---|---|---|---|---|---|",
    ]
    return "\n".join([*lines, *(_line(asked, published) for asked in QUESTIONS)]) + "\n"


def answer(question: PlainQuestion) -> OptionEstimate:
    """Return the planner's estimate."""
    length = {} if question.seq_len is None else {"seq_len": question.seq_len}
    workload: dict[str, Any] = {"ref": question.network} | length
    work = {"tokens": 1e9} if question.seq_len else {"samples": 1e6}
    plan = {
        "schema_version": 1,
        "name": "question",
        "workload": workload,
        "work": work,
        "training": {"strategy": "auto"} | question.training,
        "options": [question.option],
    }
    return api.estimate(plan).document.options[0]


def _line(question: PlainQuestion, published: dict[str, dict[str, str]]) -> str:
    option = answer(question)
    count = option.accelerators
    where = f"{count:,}x {option.accelerator}"
    length = "" if question.seq_len is None else f"{question.seq_len:,}"
    similar = "; ".join(_published(published[name], question) for name in question.published)
    if option.throughput is None or option.fits is False:
        return f"| {question.what} | {length} | {where} | {option.why_not or 'not known'} | | | {similar} |"
    per_second = (question.seq_len or 1) / count
    value, low, high = (
        part * per_second for part in (option.throughput.value, option.throughput.low, option.throughput.high)
    )
    unit = "tokens" if question.seq_len else "images"
    speed = f"{_short(value)} {unit} ({_short(low)}-{_short(high)})"
    share = _share(question, option, value)
    return f"| {question.what} | {length} | {where} | {_way(option)} | {speed} | {share} | {similar} |"


def _way(option: OptionEstimate) -> str:
    divided = [] if option.split is None or option.split == WHOLE else [str(option.split)]
    parts = [option.strategy, *divided, f"micro-batch {option.micro_batch}"]
    return ", ".join([*map(str, parts), f"recompute {option.checkpointing or 'none'}"])


def _share(question: PlainQuestion, option: OptionEstimate, tokens_per_s: float) -> str:
    """Return the share of the dense peak; empty for images and adapters, whose FLOPs are counted differently."""
    if question.seq_len is None or "adapters" in question.training:
        return ""
    catalog = open_catalog(None)
    flops = flops_per_token(
        find_architecture(question.network, catalog).architecture,
        seq_len=question.seq_len,
        convention=FlopsConvention.FULL_ATTENTION,
    )
    peak = catalog.accelerators[option.accelerator].bf16_tflops
    return "" if peak is None else f"{tokens_per_s * flops / peak / 1e12:.0%}"


def _published(row: dict[str, str], question: PlainQuestion) -> str:
    value = row["tokens_per_s_per_gpu"] or row["throughput_total"]
    rate = float(value) if question.seq_len else float(row["throughput_total"]) / float(row["num_gpus"])
    settings = " ".join(part for part in (row["precision"], f"{int(float(row['num_gpus']))}x {row['gpu']}") if part)
    return f"{_short(rate)} ({row['framework']}, {settings}: `{row['id']}`)"


def _short(value: float) -> str:
    """Write a number with three digits."""
    return f"{float(f'{value:.3g}'):,.0f}" if value >= 100 else f"{value:.3g}"


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
    print(f"written {TARGET}")
