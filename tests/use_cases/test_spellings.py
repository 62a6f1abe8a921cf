"""Users' spellings of machines, counts, dates and adapters."""

from __future__ import annotations

from datetime import date

import pytest
import typer

from planner.cli.number_arguments import short_number
from planner.errors import InputError, NotFoundError, PlannerError
from planner.model.network.workload import Method
from planner.use_cases.asking.ask import plan_of_question
from planner.use_cases.asking.machines import own_cards
from planner.use_cases.asking.question import TrainingQuestion
from planner.use_cases.cluster_names import cluster_named
from planner.use_cases.memory import MemoryRequest, estimate_memory
from planner.use_cases.trained_adapters import read_adapters
from tests.bundled import bundled_catalog

TODAY = date(2026, 11, 26)


@pytest.mark.parametrize(
    ("text", "accelerator", "nodes", "per_node"),
    [
        ("RTX-5090", "RTX-5090", 1, 1),
        ("8xRTX-5090", "RTX-5090", 1, 8),
        ("8 x RTX 5090", "RTX-5090", 1, 8),
        ("4x8xA100-40GB-SXM", "A100-40GB-SXM", 4, 8),
        ("aws/p5.48xlarge", "H100-SXM", 1, 8),
        ("rtx3090-x10", "RTX-3090", 1, 10),
    ],
)
def test_a_machine_has_several_spellings(text: str, accelerator: str, nodes: int, per_node: int) -> None:
    found = cluster_named(text, bundled_catalog())
    assert (found.accelerator.id, found.nodes, found.accelerators_per_node) == (accelerator, nodes, per_node)


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("0xRTX-5090", InputError, "8xRTX-5090"),
        ("", InputError, "8xRTX-5090"),
        ("8xRTX-9090", NotFoundError, "RTX-5090"),
        ("aws/p9.48xlarge", NotFoundError, "aws/p5.48xlarge"),
    ],
)
def test_an_unknown_machine_gets_the_spellings_that_work(text: str, error: type[PlannerError], said: str) -> None:
    with pytest.raises(error) as raised:
        cluster_named(text, bundled_catalog())
    assert said in f"{raised.value} {raised.value.fix}"


def test_memory_takes_the_count_from_the_machine() -> None:
    def total(**asked: object) -> float:
        document = estimate_memory(
            MemoryRequest(workload="llama3-8b", strategy="zero3", micro_batch=1, **asked), bundled_catalog()
        )
        return document.total_gib.value

    assert total(on="8xH100-SXM") == total(on="H100-SXM", gpus=8) == total(on="aws/p5.48xlarge")
    assert total(on="aws/p5.48xlarge", gpus=4) == total(on="4xH100-SXM")
    with pytest.raises(InputError, match="is not 4 accelerators"):
        total(on="8xH100-SXM", gpus=4)


@pytest.mark.parametrize(
    ("text", "number"), [("50B", 50e9), ("1.5T", 1.5e12), ("300m", 3e8), ("10 k", 1e4), ("5e10", 5e10), ("7", 7.0)]
)
def test_large_numbers_may_be_short(text: str, number: float) -> None:
    assert short_number(text) == number


@pytest.mark.parametrize("text", ["50G", "fifty", "-5B", "5 0B", "\u06650B", "", "B", "1e", "nan", "inf"])
def test_a_number_that_is_none_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="50B"):
        short_number(text)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("3w", date(2026, 12, 17)),
        ("10d", date(2026, 12, 6)),
        ("2m", date(2027, 1, 25)),
        ("2027-02", date(2027, 2, 28)),
        ("2027-06-30", date(2027, 6, 30)),
    ],
)
def test_a_deadline_may_count_from_today(text: str, day: date) -> None:
    asked = plan_of_question(
        TrainingQuestion(workload="llama3-8b", tokens=1e9, by=text), bundled_catalog(), today=TODAY
    )
    assert asked.plan.campaign.deadline == day


@pytest.mark.parametrize("text", ["3", "w3", "3y", "0d", "9999999w", "2027-13"])
def test_no_deadline_is_guessed(text: str) -> None:
    with pytest.raises(InputError, match="is not a date"):
        plan_of_question(TrainingQuestion(workload="llama3-8b", tokens=1e9, by=text), bundled_catalog(), today=TODAY)


@pytest.mark.parametrize(
    ("text", "machine"),
    [
        ("RTX-3090", (1, 1, "RTX-3090")),
        ("2xRTX-3090", (1, 2, "RTX-3090")),
        ("4x8xA100-40GB-SXM", (4, 8, "A100-40GB-SXM")),
        ("a100-80gb-x2", (1, 2, "A100-80GB-SXM")),
    ],
)
def test_owned_machines_may_be_several(text: str, machine: tuple[int, int, str]) -> None:
    assert own_cards(text, bundled_catalog()) == machine


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("all", ("query", "key", "value", "out", "gate", "up", "down")),
        ("all-linear", ("query", "key", "value", "out", "gate", "up", "down")),
        ("q_proj,v_proj", ("query", "value")),
        ("query, down_proj", ("query", "down")),
    ],
)
def test_adapters_stand_beside_maps_by_any_of_their_names(text: str, targets: tuple[str, ...]) -> None:
    adapters = read_adapters(Method.LORA, 16, text)
    assert adapters is not None
    assert adapters.targets == targets


@pytest.mark.parametrize("text", ["q_proj,query", "lm_head", "", "all,query"])
def test_adapters_beside_unknown_maps_are_refused(text: str) -> None:
    with pytest.raises(PlannerError, match="--lora-targets"):
        read_adapters(Method.LORA, 16, text)
