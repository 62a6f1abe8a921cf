"""Names that people use for machines: short, and unique within one answer."""

from __future__ import annotations

from typing import Any

import pytest

from planner.decide.options.card_name import card_names
from planner.decide.options.display_name import provider_name
from planner.decide.options.estimate_plan import estimate_plan
from planner.model.catalog import Catalog
from planner.model.plan.plan import Plan
from planner.model.prices.service import Provider

P4D = {"offer": "aws/p4d.24xlarge", "region": "us-east-1"}
P5 = {"offer": "aws/p5.48xlarge", "usd_per_hour": 98.32}
LAMBDA = {"offer": "lambda/gpu_8x_h100_sxm5"}
BOUGHT = {"own": "RTX-4090", "count": 2, "hold": "buy", "purchase_usd": 6500}
SERVICE = {"offer": "acme-ai/llama", "price": "hosted_training", "usd_per_million_tokens": 2.5}
SMALL = {"site": "rtx3090-x10", "accelerators": 2}


def names(catalog: Catalog, *options: dict[str, Any]) -> list[str]:
    plan = {
        "schema_version": 1,
        "name": "test",
        "workload": {"ref": "gpt-305m", "seq_len": 512},
        "work": {"tokens": 1e9},
        "training": {"strategy": "ddp"},
        "options": list(options),
    }
    return [option.display_name for option in estimate_plan(Plan.model_validate(plan), catalog).options]


@pytest.mark.parametrize(
    ("option", "name"),
    [
        pytest.param(LAMBDA, "Lambda, 8x H100", id="provider and cards"),
        pytest.param(P4D, "AWS p4d, 8x A100", id="AWS machines are known by their family"),
        pytest.param(P4D | {"price": "spot"}, "AWS p4d spot, 8x A100", id="spot is always said"),
        pytest.param(P4D | {"nodes": 2}, "2x AWS p4d, 16x A100", id="several nodes, all their cards"),
        pytest.param({"site": "dgx-station-v100"}, "DGX Station, 4x V100", id="what it carries is said once"),
        pytest.param({"site": "pc-rtx4090"}, "PC, 1x RTX 4090", id="a PC"),
        pytest.param({"site": "onprem-a100-40gb", "nodes": 4}, "4x On-premises, 32x A100", id="a cluster"),
        pytest.param(SMALL, "Server, 2x RTX 3090", id="a part of a machine"),
        pytest.param({"site": "own-8xh200"}, "Our HGX H200, 8x H200", id="a product's name stays whole"),
        pytest.param({"offer": "thunder-compute/1x-l40s"}, "Thunder Compute, 1x L40S", id="a name of two words"),
        pytest.param(
            {"offer": "acme-ai/llama", "price": "hosted_training", "usd_per_million_tokens": 2.5},
            "Acme ai by the token", id="a service of a provider that no catalog knows",
        ),
    ],
)  # fmt: skip
def test_a_machine_has_the_name_that_people_use(catalog, option, name):
    assert names(catalog, option) == [name]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param(
            [P4D, {"offer": "lambda/gpu_8x_a100_80gb_sxm4"}], ["AWS p4d, 8x A100 40GB", "Lambda, 8x A100 80GB"],
            id="the size where both sizes occur",
        ),
        pytest.param(
            [LAMBDA, {"offer": "lambda/gpu_1x_h100_pcie"}], ["Lambda, 8x H100", "Lambda, 1x H100 PCIe"],
            id="the form that is not the usual one",
        ),
        pytest.param(
            [P4D | {"usd_per_hour": 20.0}, P4D | {"region": "us-west-2", "usd_per_hour": 20.0}],
            ["AWS p4d us-east-1, 8x A100", "AWS p4d us-west-2, 8x A100"], id="the region",
        ),
        pytest.param(
            [SMALL | {"strategy": "ddp"}, SMALL | {"strategy": "zero2"}, SMALL | {"accelerators": 4}],
            ["Server, 2x RTX 3090, DDP", "Server, 2x RTX 3090, ZeRO-2", "Server, 4x RTX 3090"],
            id="the strategy of those that are alike, and of no other",
        ),
        pytest.param(
            [P5, P5 | {"usd_per_hour": 55.04}],
            ["AWS p5, 8x H100, at 98.32 USD/h", "AWS p5, 8x H100, at 55.04 USD/h"], id="prices of one's own",
        ),
        pytest.param(
            [P5 | {"strategy": "ddp"}, P5 | {"strategy": "ddp", "usd_per_hour": 55.04}, P5 | {"strategy": "zero2"}],
            [
                "AWS p5, 8x H100, DDP, at 98.32 USD/h", "AWS p5, 8x H100, DDP, at 55.04 USD/h",
                "AWS p5, 8x H100, ZeRO-2, at 98.32 USD/h",
            ], id="two differences where one is not enough",
        ),
        pytest.param(
            [BOUGHT | {"sell_after": True}, BOUGHT, BOUGHT | {"other_use": 0.5}, BOUGHT | {"other_use": 0.3}],
            [
                "2x RTX 4090, sold after", "2x RTX 4090", "2x RTX 4090, half used by others",
                "2x RTX 4090, 30 % used by others",
            ], id="what the plan says differently",
        ),
        pytest.param(
            [BOUGHT | {"ready_on": "2027-01-15"}, BOUGHT | {"ready_on": "2027-02-01"}],
            ["2x RTX 4090, ready 2027-01-15", "2x RTX 4090, ready 2027-02-01"], id="the day it is there",
        ),
        pytest.param(
            [SERVICE | {"training_hours": 3}, SERVICE | {"training_hours": 5.5}],
            ["Acme ai by the token, 3 h stated", "Acme ai by the token, 5.5 h stated"], id="hours of a service",
        ),
        pytest.param(
            [BOUGHT | {"sell_after": True}, BOUGHT | {"sell_after": True}, BOUGHT],
            ["2x RTX 4090, sold after", "2x RTX 4090, sold after (2)", "2x RTX 4090"], id="a remark and a number",
        ),
        pytest.param(
            [{"offer": "vultr/1x-gh200-96gb"}, {"offer": "vultr/1x-gh200-96gb-72vcpu"}],
            ["Vultr, 1x GH200", "Vultr 72 vCPU, 1x GH200"], id="what an instance has beside the cards",
        ),
        pytest.param(
            [
                {"offer": f"dataoorts/1x-rtx-pro-6000-blackwell-server-{kind}", "price": "marketplace"}
                for kind in ("nvlink-host", "se", "other-list")
            ],
            [f"DataOorts {kind}, 1x RTX PRO 6000" for kind in ("NVLink host", "SE", "other list")], id="in words",
        ),
        pytest.param(
            [{"offer": "lambda/gpu_8x_v100"}, {"offer": "lambda/gpu_8x_v100_n"}],
            ["Lambda, 8x V100", "Lambda gpu_8x_v100_n, 8x V100"], id="the provider's own names",
        ),
        pytest.param([SMALL, SMALL], ["Server, 2x RTX 3090", "Server, 2x RTX 3090 (2)"], id="nothing differs"),
    ],
)  # fmt: skip
def test_equal_names_gain_the_least_that_makes_them_unlike(catalog, options, expected):
    assert names(catalog, *options) == expected


def test_every_accelerator_of_the_catalog_is_called_without_hyphens(catalog):
    called = {card: card_names({card})[card] for card in catalog.accelerators}
    assert not [name for name in called.values() if "-" in name]
    assert called["RTX-4070Ti-Super"] == "RTX 4070 Ti Super"
    assert called["GB200-per-GPU"] == "GB200"


def test_every_provider_of_the_catalog_has_a_name(catalog):
    rented = {node.partition("/")[0] for node in catalog.nodes if "/" in node}
    assert (rented | {row.provider for row in catalog.prices}) <= catalog.providers.keys()


def test_a_provider_of_ones_own_is_called_by_its_id():
    assert provider_name("acme-ai", {}) == "Acme ai"
    assert provider_name("acme-ai", {}, machine="ACME AI a1.large") == "ACME AI"
    assert provider_name("acme-ai", {"acme-ai": Provider(id="acme-ai", name="ACME")}) == "ACME"


@pytest.mark.parametrize("card", ["H100-SXM", "H100-PCIe", "H100-NVL", "A100-80GB-PCIe", "A100-80GB-SXM"])
def test_a_card_is_called_the_same_alone_as_beside_the_other_forms_of_its_chip(card):
    forms = {"H100-SXM", "H100-PCIe", "H100-NVL"} if card.startswith("H100") else {"A100-80GB-PCIe", "A100-80GB-SXM"}
    assert card_names({card})[card] == card_names(forms)[card]
    assert len(set(card_names(forms).values())) == len(forms)
