"""One question of the command line as a plan; what nobody said is assumed, each with the flag that changes it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from planner.adapters.documents import parse_model
from planner.errors import InputError, NotFoundError
from planner.model.catalog import Catalog
from planner.model.evidence.run import RunRecord
from planner.model.network.adapters import Adapters
from planner.model.network.architecture import Architecture, ImageModel
from planner.model.network.workload import ArchitectureFile, Precision
from planner.model.plan.find_filters import FindFilters
from planner.model.plan.plan import Plan
from planner.model.quantity import Basis
from planner.use_cases.networks import find_architecture, is_name
from planner.use_cases.plans import with_found_options
from planner.use_cases.runs import find_run

SHORTEST_SEQUENCE = 512
PACKED_SAMPLES = 2
"""Of a sequence whose length nobody states: at least so many samples of the mean length fill it."""
OWN = re.compile(r"(?:(\d{1,3})\s?[xX*]\s?)?([A-Za-z][\w .+/-]{1,60})")
DATA = re.compile(r"([\d.,_]{1,20}(?:[eE]\d{1,2})?)(?:\s?[xX*]\s?([\d.,_]{1,12}))?")
DAY = re.compile(r"(\d{4})-(\d{2})(?:-(\d{2}))?")


class MissingAnswerError(InputError):
    """A question that must be answered: its flag and an example."""

    def __init__(self, what: str, flag: str, example: str) -> None:
        super().__init__(f"planner ask: {what}?", fix=f"Add {flag} {example}")
        self.what, self.flag, self.example = what, flag, example


@dataclass(frozen=True, kw_only=True)
class Question:
    """What was asked, in the words of the options; None: not said."""

    workload: str | None = None
    data: str | None = None
    tokens: float | None = None
    epochs: float | None = None
    seq_len: int | None = None
    precision: Precision | None = None
    framework: str | None = None
    adapters: Callable[[ArchitectureFile], Adapters | None] = lambda network: network.adapters
    own: tuple[str, ...] = ()
    on: tuple[str, ...] = ()
    budget: float | None = None
    by: str | None = None
    runs: int | None = None
    log: RunRecord | None = None
    """The run of a trainer's log."""


@dataclass(frozen=True)
class Asked:
    """The plan, and what was assumed in it."""

    plan: Plan
    assumed: tuple[str, ...]


@dataclass
class _Draft:
    question: Question
    catalog: Catalog
    today: date
    assumed: list[str] = field(default_factory=list)

    def assume(self, what: str, *flags: str) -> None:
        self.assumed.append(f"{what} ({', '.join(flags)})")


def plan_of_question(question: Question, catalog: Catalog, *, today: date) -> Asked:
    """Return the plan that a question means, its options listed; MissingAnswerError where it cannot be guessed."""
    draft = _Draft(question, catalog, today)
    name, choice, network, run = _what(draft)
    seq_len = _seq_len(draft, choice, network, run)
    data: dict[str, Any] = {
        "schema_version": 1,
        "name": f"{name}, as asked",
        "workload": choice if seq_len is None else choice | {"seq_len": seq_len},
        "work": _work(draft, network, run),
        "training": _training(draft, network, run),
        "campaign": _campaign(draft),
        "options": [*_owned(draft), *_offers(draft)],
    }
    plan = parse_model(
        Plan, data if question.on else data | {"options": [], "find": FindFilters()}, where="planner ask"
    )
    if not question.on:
        plan = with_found_options(plan, catalog, today=today)
        owned = parse_model(Plan, data | {"options": data["options"]}, where="planner ask") if data["options"] else None
        plan = plan.model_copy(update={"options": (*(owned.options if owned else ()), *plan.options)})
        draft.assume("machines: the best dozen of all that are offered", "--on aws/p5.48xlarge")
    return Asked(plan, tuple(draft.assumed))


def _what(draft: _Draft) -> tuple[str, dict[str, Any], Architecture | None, RunRecord | None]:
    """Return name and choice of the workload, its network, and the run that it starts from."""
    question, catalog = draft.question, draft.catalog
    log, workload = question.log, question.workload
    if workload is None and log is None:
        raise MissingAnswerError("what is trained", "the network's name:", "planner ask llama3-8b")
    if workload is None:
        assert log is not None
        own = {"architecture": log.architecture, "seq_len": log.seq_len}
        known = catalog.preset_named(log.workload)
        return log.workload, {"ref": known.name} if known else own, log.architecture, log
    if workload == "latest" or workload in catalog.runs:
        run = find_run(workload, catalog)
        return run.workload, {"measured": run.id}, run.architecture, run
    network = find_architecture(workload, catalog)
    named = {"ref": workload} if is_name(workload, catalog) else {"architecture": network.architecture}
    return network.name or Path(workload).stem, named, network.architecture, log


def _seq_len(draft: _Draft, choice: dict[str, Any], network: Architecture | None, run: RunRecord | None) -> int | None:
    """Return the tokens of a sequence: as said, as in the log, of data with a mean length room for two, else usual."""
    question = draft.question
    if "measured" in choice or isinstance(network, ImageModel):
        return None
    if question.seq_len is not None:
        return question.seq_len
    if run is not None and run.seq_len is not None:
        return run.seq_len
    assert question.workload is not None, "a log that is not named by a workload has samples of a length"
    usual = find_architecture(question.workload, draft.catalog).seq_len or 2048
    mean = _data(question.data)[1] if question.data else None
    length = usual
    if mean is not None:
        length = SHORTEST_SEQUENCE
        while length < PACKED_SAMPLES * mean:
            length *= 2
        length = min(length, usual)
    draft.assume(f"sequences of {length:,} tokens, samples joined to full ones", "--seq-len")
    return length


def _work(draft: _Draft, network: Architecture | None, run: RunRecord | None) -> dict[str, Any]:
    question = draft.question
    if question.data and question.tokens is not None:
        raise InputError("--data and --tokens are two amounts of work.", fix="Keep one.")
    if question.tokens is not None:
        if question.epochs is not None:
            raise InputError("--epochs: --tokens is the whole training.", fix="Write --data instead of --tokens.")
        return {"tokens": question.tokens}
    if question.data is None:
        if question.log is not None and run is not None and run.samples:
            draft.assume(f"as much work as the log timed, {run.samples:,} samples", "--data, --tokens")
            return {"samples": float(run.samples)}
        what = "1281167" if isinstance(network, ImageModel) else "50000x700 (samples x tokens), or --tokens 1e9"
        raise MissingAnswerError("how much is it trained on", "--data", what)
    samples, mean = _data(question.data)
    if question.epochs is None:
        draft.assume("one epoch", "--epochs")
    work: dict[str, Any] = {"epochs": question.epochs or 1.0, "samples_per_epoch": samples}
    if mean is not None:
        return work | {"tokens_per_sample": mean}
    if network is not None and not isinstance(network, ImageModel):
        draft.assume("every sample fills its sequence", "--data 50000x700")
    return work


def _data(text: str) -> tuple[float, float | None]:
    """Read `50000x700`, samples x mean tokens, or samples alone."""
    found = DATA.fullmatch(text.strip())
    try:
        numbers = [float(part.replace(",", "").replace("_", "")) for part in found.groups() if part] if found else []
    except ValueError:
        numbers = []
    if not numbers or min(numbers) <= 0:
        raise InputError(f"--data {text}: is no number of samples.", fix="Write --data 50000x700: samples x tokens.")
    return numbers[0], numbers[1] if len(numbers) > 1 else None


def _training(draft: _Draft, network: Architecture | None, run: RunRecord | None) -> dict[str, Any]:
    question = draft.question
    file = (
        ArchitectureFile(architecture=network, seq_len=None if isinstance(network, ImageModel) else 1)
        if network
        else None
    )
    adapters = question.adapters(file) if file is not None else None
    if run is not None and run.method == "lora" and adapters is None:
        adapters = run.adapters or Adapters()
    precision = question.precision or (run.precision if run is not None else None)
    if precision is None and run is None:
        precision = Precision.BF16
        draft.assume("bf16", "--precision")
    if adapters is not None:
        draft.assume(
            f"adapters of rank {adapters.rank} on {', '.join(adapters.targets)}", "--lora-rank, --lora-targets"
        )
    framework = question.framework
    if framework is None and question.log is not None and question.log.log is not None:
        framework = question.log.log.framework
    return {
        "precision": precision,
        "adapters": adapters,
        "framework": framework,
        "global_batch": run.global_batch if run is not None else None,
    }


def _campaign(draft: _Draft) -> dict[str, Any]:
    question = draft.question
    campaign: dict[str, Any] = {}
    if question.budget is not None:
        campaign["budget_usd"] = question.budget
    else:
        draft.assume("no limit on money", "--budget")
    if question.by is not None:
        campaign["deadline"] = _day(question.by)
    else:
        draft.assume("no deadline", "--by")
    if question.runs is None:
        draft.assume("one training", "--runs")
    return campaign | {"runs": question.runs or 1}


def _day(text: str) -> date:
    """Read a day, or a month, whose last day is meant."""
    found = DAY.fullmatch(text.strip())
    try:
        if found is None:
            raise ValueError
        year, month, day = int(found[1]), int(found[2]), int(found[3] or 1)
        if found[3]:
            return date(year, month, day)
        return (date(year, month, 28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)
    except ValueError:
        raise InputError(f"--by {text}: is no date.", fix="Write --by 2027-06-30, or 2027-06.") from None


def _owned(draft: _Draft) -> list[dict[str, Any]]:
    options = []
    for text in draft.question.own:
        if text in draft.catalog.sites:
            options.append({"site": text})
            continue
        count, card = own_cards(text)
        options.append(_with_step(draft, {"own": _card(card, draft), "count": count}))
    return options


def own_cards(text: str) -> tuple[int, str]:
    """Read `2xRTX-3090`: how many of which card."""
    found = OWN.fullmatch(text.strip())
    if found is None or found[1] == "0":
        raise InputError(f"--own {text}: is no machine.", fix="Write --own 2xRTX-3090, or a site's id.")
    return int(found[1] or 1), found[2].strip()


def _card(name: str, draft: _Draft) -> str:
    """Return an accelerator's id; of a chip that is sold as module and as card (H100) the module that most have."""
    usual = f"{name.upper()}-SXM"
    if name in draft.catalog.accelerators or usual not in draft.catalog.accelerators:
        return name
    draft.assume(f"{name} is {usual}", f"--own {name.upper()}-PCIe")
    return usual


def _with_step(draft: _Draft, option: dict[str, Any]) -> dict[str, Any]:
    """Give the machine on which a log was written the step that it measured."""
    log = draft.question.log
    if log is None or log.global_batch is None or log.hardware.accelerators != option["count"]:
        return option
    rate, basis = log.throughput, Basis.MEASURED
    if log.verdict:
        basis = Basis.ASSUMED
        draft.assume(f"the log's speed, which is doubtful: {log.verdict[0]}", "--log")
    step = {"batch": log.global_batch, "seconds": log.global_batch / rate.value, "basis": basis.value,
            "low_seconds": log.global_batch / rate.high, "high_seconds": log.global_batch / rate.low,
            "source": "the trainer's log"}  # fmt: skip
    return option | {"step": step}


def _offers(draft: _Draft) -> list[dict[str, Any]]:
    return [{"offer": _offer(text, draft)} for text in draft.question.on]


def _offer(text: str, draft: _Draft) -> str:
    """Return an offer by its id, or by its family (p5), of which the machine with the most accelerators is meant."""
    nodes = draft.catalog.nodes
    if text in nodes:
        return text
    asked = text.casefold()
    alike = [node for node in nodes.values() if _is_of(node.id.casefold(), asked)]
    if not alike:
        raise NotFoundError("offer", text, nodes, where="--on", fix="See: planner prices list")
    largest = max(alike, key=lambda node: (node.accelerators, node.id))
    if len(alike) > 1:
        smallest = min(alike, key=lambda node: (node.accelerators, node.id))
        draft.assume(f"{text} is {largest.id}", f"--on {smallest.id}")
    return largest.id


def _is_of(node: str, asked: str) -> bool:
    instance = node.rpartition("/")[2]
    return asked in (instance, node) or instance.startswith(f"{asked}.") or node.startswith(f"{asked}.")


def assumed_lines(assumed: Sequence[str]) -> list[str]:
    """Return one line for each assumption."""
    return [f"Assumed: {one}" for one in assumed]
