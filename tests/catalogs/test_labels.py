"""One label means one machine: over the catalog, within each screen of `find`, and from one screen to another."""

from __future__ import annotations

from collections import defaultdict
from datetime import date
from itertools import product
from typing import Any

import pytest

from planner.decide.options.display_name import named_beside, with_display_names
from planner.model.answer.option_estimate import OptionEstimate, RankedOption
from planner.model.plan.find_filters import FindFilters
from planner.model.plan.plan import Plan
from planner.model.prices.offer import PriceKind
from planner.use_cases import plans
from tests.bundled import bundled_catalog

CATALOG = bundled_catalog()
TODAY = date(2026, 11, 27)


def an_option(node: str, *, kind: PriceKind = PriceKind.ON_DEMAND, **more: Any) -> RankedOption:
    """Return the parts of an option that its name is made of."""
    machine = CATALOG.nodes[node]
    return RankedOption.model_construct(
        offer=node, name=machine.name, accelerator=machine.accelerator, accelerators=machine.accelerators,
        nodes=1, price_kind=kind, region=None, site=None, hold=None, strategy=None, usd_per_hour=None,
        usd_per_million_tokens=None, **more,
    )  # fmt: skip


def label(option: OptionEstimate, *others: OptionEstimate) -> str:
    named = with_display_names((option, *others), CATALOG.providers, CATALOG.nodes)
    return named[0].display_name


def ambiguous(labels: dict[str, set[Any]]) -> dict[str, list[Any]]:
    """Return the labels of more than one thing."""
    return {label: sorted(things, key=str) for label, things in labels.items() if len(things) > 1}


def test_a_label_means_one_machine_of_the_catalog() -> None:
    machines = defaultdict(set)
    rented = [node for node in CATALOG.nodes if "/" in node]
    for node in rented:
        machines[label(an_option(node))].add(node)
    assert len(machines) > 250
    assert ambiguous(machines) == {}


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        pytest.param("lambda/gpu_8x_h100_sxm5", "Lambda, 8x H100", id="the first of two"),
        pytest.param("lambda/1cc_8x_h100_sxm5", "Lambda 1cc_8x_h100_sxm5, 8x H100", id="the second"),
        pytest.param("verda/8x-h100-sxm-cluster", "Verda cluster, 8x H100", id="what a cluster adds"),
        pytest.param("aws/g5.xlarge", "AWS g5, 1x A10G", id="the smallest of a family"),
        pytest.param("aws/g5.16xlarge", "AWS g5.16xlarge, 1x A10G", id="a larger one with as many cards"),
        pytest.param("azure/Standard_ND96asr_A100_v4", "Azure, 8x A100 40GB", id="the provider has both sizes"),
        pytest.param("azure/Standard_ND96amsr_A100_v4", "Azure, 8x A100 80GB", id="the other size"),
        pytest.param("crusoe/8x-h100-sxm", "Crusoe, 8x H100", id="nothing beside it"),
    ],
)
def test_a_label_says_what_tells_a_machine_from_its_provider_s_others(node: str, expected: str) -> None:
    assert label(an_option(node)) == expected


def test_a_suggestion_is_not_taken_for_a_row_with_another_price() -> None:
    secure, community = (
        an_option("runpod/1x-h100-sxm", kind=kind) for kind in (PriceKind.ON_DEMAND, PriceKind.MARKETPLACE)
    )
    shown, found = (with_display_names((price,), CATALOG.providers, CATALOG.nodes)[0] for price in (secure, community))
    assert shown.display_name == found.display_name == "RunPod, 1x H100"
    assert named_beside(found, (shown,), CATALOG.providers, CATALOG.nodes).display_name == "RunPod marketplace, 1x H100"
    assert named_beside(shown, (shown,), CATALOG.providers, CATALOG.nodes) is shown


def found(network: str, accelerator: str | None, gpus: int | None) -> tuple[RankedOption, ...]:
    filters = FindFilters(accelerator=accelerator and (accelerator,), gpus=gpus and (gpus,))
    plan = Plan.model_validate(
        {"schema_version": 1, "name": "test", "workload": {"ref": network}, "work": {"tokens": 1e9}}
        | {"options": "auto", "find": filters.model_dump(exclude_defaults=True)}
    )
    listed, paced = plans.find_options(plan, CATALOG, today=TODAY)
    return plans.compare(
        listed, CATALOG, today=TODAY, estimated=plans.estimates_of(listed, CATALOG, today=TODAY, paced=paced)
    ).options


@pytest.mark.slow
def test_a_label_means_one_offer_on_every_screen() -> None:
    machines = defaultdict(set)
    for network, accelerator, gpus in product(
        ("qwen3-0.6b", "llama3-8b"), (None, "A100", "H100", "H200"), (None, 8, 16)
    ):
        offers = defaultdict(set)
        for answer in found(network, accelerator, gpus):
            offers[answer.display_name].add((answer.id, answer.price_kind, answer.region))
            machines[answer.display_name].add(answer.offer or answer.site)
        assert ambiguous(offers) == {}, (network, accelerator, gpus)
    assert len(machines) > 40
    assert ambiguous(machines) == {}
