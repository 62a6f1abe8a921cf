"""Turns a question of the command line into a plan, and answers it. Each assumption names the flag that changes it."""

from __future__ import annotations

import math
import re
from calendar import monthrange
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

from planner.adapters.documents import parse_model
from planner.adapters.user_text import name_without_secrets
from planner.errors import InputError
from planner.model.answer.documents import ComparisonDocument
from planner.model.catalog import Catalog
from planner.model.evidence.run import RunRecord
from planner.model.network.adapters import Adapters
from planner.model.network.architecture import Architecture
from planner.model.network.workload import ArchitectureFile, Precision
from planner.model.plan.plan import Plan
from planner.text.number_text import read_grouped_number
from planner.use_cases import plans
from planner.use_cases.asking.machines import limits_of, named_offers, owned_machines, usual_precision
from planner.use_cases.asking.question import Draft, MissingAnswerError, QuestionPlan, TrainingQuestion
from planner.use_cases.asking.stated_files import with_stated
from planner.use_cases.networks import find_architecture, is_name
from planner.use_cases.plans import DatedPlan, dated, with_found_options
from planner.use_cases.runs import find_run
from planner.use_cases.suggestions import with_suggestions

SHORTEST_SEQUENCE = 512
PACKED_SAMPLES = 2
"""Smallest number of samples of the mean length that fit an assumed sequence length."""
DATA = re.compile(r"([\d.,_]{1,20}(?:[eE]\d{1,2})?)(?:\s?[xX*]\s?([\d.,_]{1,12}))?", re.ASCII)
DAY = re.compile(r"(\d{4})-(\d{2})(?:-(\d{2}))?", re.ASCII)
AHEAD = re.compile(r"([1-9][0-9]{0,3}) ?([dwmDWM])")
DAYS = {"d": 1, "w": 7, "m": 30}


def plan_of_question(question: TrainingQuestion, catalog: Catalog, *, today: date) -> QuestionPlan:
    """Return the plan that a question means, with its options listed.

    Raises MissingAnswerError for what cannot be assumed.
    """
    question = with_stated(question, catalog)
    draft = Draft(question, catalog, today)
    if question.stated is not None and question.stated.divided is not None:
        draft.assume(f"the best way to divide the network, not {question.stated.divided}", "planner strategies FILE")
    name, choice, network, run = _what(draft)
    method = question.objective.method
    if method is not None and method.generates and question.objective.completion_tokens is None:
        raise MissingAnswerError("how long its completions are, in tokens", "--completion", "900-4096: mean and most")
    seq_len = _seq_len(draft, choice, network, run)
    owned, offers = owned_machines(draft), named_offers(draft)
    data: dict[str, Any] = {
        "schema_version": 1,
        "name": f"{name}, as asked",
        "workload": choice if seq_len is None else choice | {"seq_len": seq_len},
        "work": _work(draft, network),
        "training": _training(draft, network, run),
        "campaign": _campaign(draft),
        "options": [*owned, *offers],
        "limits": limits_of(draft, owned) if offers else {},
        "currency": question.currency,
        "assumptions": _electricity(draft, owned),
    }
    if not question.finds:
        if not data["options"]:
            raise MissingAnswerError("on which machines", "--own", "2xRTX-3090, or --on lambda/gpu_8x_h100_sxm5")
        plan = _plan(data)
        return QuestionPlan(plan, tuple(draft.assumed), plan)
    named = _plan(data).options if data["options"] else ()
    plan = _plan(data | {"options": [], "find": question.filters, "limits": {}})
    listed = with_found_options(plan, catalog, today=today)
    known = {(option.offer, option.site) for option in named}
    found = [option for option in listed.options if (option.offer, option.site) not in known]
    draft.assume("machines: the best dozen of all that are offered", "--on aws/p5.48xlarge")
    return QuestionPlan(
        listed.model_copy(update={"options": (*named, *found)}),
        tuple(draft.assumed),
        plan.model_copy(update={"options": named}),
    )


def _plan(data: dict[str, Any]) -> Plan:
    return parse_model(Plan, data, where="planner ask", fix="See: planner ask --help")


def _electricity(draft: Draft, owned: Sequence[dict[str, Any]]) -> dict[str, Any]:
    question = draft.question
    stated: dict[str, Any] = {} if question.country is None else {"country": question.country}
    if question.kwh is not None:
        return stated | {f"electricity_{'local' if question.currency else 'usd'}_per_kwh": question.kwh}
    if owned and question.country is None and question.currency is None:
        draft.assume("electricity at the price of a country that is not known", "--country, --kwh")
    return stated


def _what(draft: Draft) -> tuple[str, dict[str, Any], Architecture | None, RunRecord | None]:
    """Return the name of the workload, its entry in the plan, its network, and the run that it starts from."""
    question, catalog = draft.question, draft.catalog
    log, workload = question.log, question.workload
    if question.network is not None:
        read = question.network
        return workload or read.name or "network", {"architecture": read.architecture}, read.architecture, log
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
    return network.name or name_without_secrets(Path(workload).stem), named, network.architecture, log


def _seq_len(draft: Draft, choice: dict[str, Any], network: Architecture | None, run: RunRecord | None) -> int | None:
    """Return the sequence length in tokens: stated, from the log, room for two mean samples, or the usual length."""
    question = draft.question
    if "measured" in choice or (network is not None and network.sample == "image"):
        return None
    if question.seq_len is not None:
        return question.seq_len
    if run is not None and run.seq_len is not None:
        return run.seq_len
    usual = _usual_seq_len(question, draft.catalog)
    mean = samples_and_tokens(question.data)[1] if question.data else None
    mean = question.objective.sequence_tokens(mean)
    if question.objective.completion_tokens is not None and mean is None:
        raise InputError("--completion: how long the prompts are is not said.", fix="Write --data 8000x300.")
    length = usual
    if mean is not None:
        length = SHORTEST_SEQUENCE
        while length < PACKED_SAMPLES * mean:
            length *= 2
        length = min(length, usual)
    if question.objective.method is None:
        draft.assume(f"sequences of {length:,} tokens, samples joined to full ones", "--seq-len")
        return length
    most = question.objective.completion_tokens.most if question.objective.completion_tokens else None
    if most is not None and mean is not None and question.objective.completion_tokens is not None:
        length = max(length, math.ceil(mean - question.objective.completion_tokens.mean + most))
    draft.assume(f"a prompt with its answer has at most {length:,} tokens", "--seq-len")
    return length


def _usual_seq_len(question: TrainingQuestion, catalog: Catalog) -> int:
    if question.network is not None:
        return question.network.seq_len or 2048
    assert question.workload is not None, "a log that is not named by a workload has samples of a length"
    return find_architecture(question.workload, catalog).seq_len or 2048


def _work(draft: Draft, network: Architecture | None) -> dict[str, Any]:
    question = draft.question
    if question.data and question.tokens is not None:
        raise InputError("--data and --tokens are two amounts of work.", fix="Keep one.")
    if question.tokens is not None:
        if question.epochs is not None:
            raise InputError("--epochs: --tokens is the whole training.", fix="Write --data instead of --tokens.")
        return {"tokens": question.tokens}
    if question.data is None:
        planned = question.log.log.planned_samples if question.log is not None and question.log.log else None
        if planned is not None:
            draft.assume(f"the whole job that the log states, {planned:,.0f} samples", "--data, --tokens")
            return {"samples": planned}
        stated = question.stated
        if stated is not None and stated.planned_steps is not None and question.training.global_batch is not None:
            draft.assume(f"the {stated.planned_steps:,} steps that the files state", "--data, --tokens")
            return {"steps": stated.planned_steps}
        of_images = network is not None and network.sample == "image"
        what = "1281167" if of_images else "50000x700 (samples x tokens), or --tokens 1e9"
        asked = (
            "how much is it trained on in all (the log holds a part)" if question.log else "how much is it trained on"
        )
        raise MissingAnswerError(asked, "--data", what)
    samples, mean = samples_and_tokens(question.data)
    if question.epochs is None:
        draft.assume("one epoch", "--epochs")
    work: dict[str, Any] = {"epochs": question.epochs or 1.0, "samples_per_epoch": samples}
    if mean is not None:
        return work | {"tokens_per_sample": mean}
    if network is not None and network.sample == "tokens":
        draft.assume("every sample fills its sequence", "--data 50000x700")
    return work


def samples_and_tokens(text: str) -> tuple[float, float | None]:
    """Read `50000x700` (samples x mean tokens), or a number of samples alone."""
    found = DATA.fullmatch(text.strip())
    try:
        numbers = [read_grouped_number(part) for part in found.groups() if part] if found else []
    except ValueError:
        numbers = []
    if not numbers or min(numbers) <= 0 or numbers[0] % 1:
        raise InputError(f"--data {text}: is not a number of samples.", fix="Write --data 50000x700: samples x tokens.")
    return numbers[0], numbers[1] if len(numbers) > 1 else None


def _training(draft: Draft, network: Architecture | None, run: RunRecord | None) -> dict[str, Any]:
    question = draft.question
    file = ArchitectureFile(architecture=network, seq_len=None if network.sample == "image" else 1) if network else None
    adapters = question.adapters(question.stated or file) if file is not None else None
    if run is not None and run.method == "lora" and adapters is None:
        adapters = run.adapters or Adapters()
    stated = question.training.model_dump(exclude_defaults=True)
    if adapters is not None:
        draft.assume(
            f"adapters of rank {adapters.rank} on {', '.join(adapters.targets)}", "--lora-rank, --lora-targets"
        )
    precision = run.precision if run is not None else None
    if run is None and "precision" not in stated:
        precision = usual_precision(draft)
        why = "" if precision is Precision.BF16 else ", as your card has no bf16"
        draft.assume(f"{precision.value}{why}", "--precision")
    of_log = question.log.log if question.log is not None else None
    usual = {
        "precision": precision,
        "framework": None if of_log is None else of_log.framework,
        "global_batch": None if run is None else run.global_batch,
    }
    if run is not None and of_log is not None:
        stated_by_log = {"micro_batch": run.micro_batch, "checkpointing": run.checkpointing, "strategy": run.strategy}
        usual |= {name: value for name, value in stated_by_log.items() if value is not None}
    objective = question.objective.model_dump(exclude_defaults=True)
    if (rollouts := question.objective.with_rollouts()) != question.objective:
        group = f"{rollouts.group} completions of a prompt, " if rollouts.group is not None else ""
        draft.assume(
            f"{group}{rollouts.prompts} prompts a step, written by vllm on the devices that train, scored by code",
            "--group, --prompts, training.generation of a plan",
        )
    return usual | stated | objective | {"adapters": adapters}


def _campaign(draft: Draft) -> dict[str, Any]:
    question = draft.question
    campaign: dict[str, Any] = {}
    if question.budget is not None:
        campaign["budget_local" if question.currency else "budget_usd"] = question.budget
    else:
        draft.assume("no limit on money", "--budget")
    if question.by is not None:
        campaign["deadline"] = _day(question.by, draft.today)
    else:
        draft.assume("no deadline", "--by")
    if question.confidence is not None:
        campaign["confidence"] = question.confidence
    if question.runs is None:
        draft.assume("one training", "--runs")
        return campaign
    return campaign | {"runs": question.runs}


def _day(text: str, today: date) -> date:
    """Read a day: `2027-06-30`, `2027-06` for the month's last day, or `3w` from today (d, w, or m for 30 days)."""
    found, ahead = DAY.fullmatch(text.strip()), AHEAD.fullmatch(text.strip())
    try:
        if ahead is not None:
            return today + timedelta(days=int(ahead[1]) * DAYS[ahead[2].lower()])
        if found is None:
            raise ValueError
        year, month, day = int(found[1]), int(found[2]), int(found[3] or 1)
        if found[3]:
            return date(year, month, day)
        return date(year, month, monthrange(year, month)[1])
    except (ValueError, OverflowError):
        fix = "Write --by 2027-06-30, 2027-06, or 3w for three weeks from today."
        raise InputError(f"--by {text}: is not a date.", fix=fix) from None


def answer_of(question: QuestionPlan, catalog: Catalog, *, now: datetime) -> tuple[ComparisonDocument, DatedPlan]:
    """Compare the options of a question's plan, and add suggestions. Also return the plan as it was answered."""
    plan, today, assumed = dated(question.plan, now=now)
    document = plans.compare(plan, catalog, today=today)
    search = dated(question.search, now=now).plan
    document = with_suggestions(document, search, catalog, today=today)
    return document, DatedPlan(plan, today, (*question.assumed, *assumed))
