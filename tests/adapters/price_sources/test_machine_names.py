"""Ids of other sources become ours by what the machine is."""

from __future__ import annotations

import pytest

from planner.adapters.price_sources.source import Machines
from tests.bundled import bundled_catalog

NODES = bundled_catalog().nodes
MACHINES = Machines(NODES)


@pytest.mark.parametrize(
    ("provider", "offer", "ours"),
    [
        pytest.param("azure", ("Standard_ND96isr_H100_v5", "H100-SXM", 8), "Standard_ND96isr_H100_v5", id="its name"),
        pytest.param(
            "nebius", ("gpu-l40s-a-1gpu-8vcpu-32gb", "L40S", 1), "gpu-l40s-a_1gpu-8vcpu-32gb", id="its name, spelled"
        ),
        pytest.param("nebius", ("gpu-h100-sxm-8gpu-128vcpu-1600gb", "H100-SXM", 8), "gpu-h100-sxm_8gpu", id="table"),
        pytest.param("verda", ("1A6000.10V", "RTX-A6000", 1), "1x-rtx-a6000", id="the only one that carries this"),
        pytest.param("vultr", ("vcg-l40s-16c", "L40S", 1), "1x-l40s-16vcpu", id="the only machine of the card"),
        pytest.param("verda", ("4A6000.40V", "RTX-A6000", 4), "4A6000.40V", id="none of ours"),
        pytest.param("aws", ("p5.48xlarge", "A100-80GB-SXM", 8), "p5.48xlarge", id="known name, another card"),
    ],
)
def test_the_machine_decides(provider, offer, ours):
    assert MACHINES.of_source(provider, [offer]) == {offer: ours}


def test_the_offer_that_has_the_name_keeps_the_machine_for_itself():
    small, large = ("gpu-l40s-a 1gpu-8vcpu-32gb", "L40S", 1), ("gpu-l40s-a 1gpu-40vcpu-160gb", "L40S", 1)
    found = MACHINES.of_source("nebius", [large, small])
    assert found[small] == "gpu-l40s-a_1gpu-8vcpu-32gb"
    assert found[large] == large[0]


def test_a_new_machine_does_not_take_the_name_of_a_known_one():
    """A list once said of eight cards `epyc-h100` first; now it lists one card under the name too."""
    eight = NODES["aws/p5.48xlarge"].model_copy(update={"id": "verda/epyc-h100"})
    found = Machines({eight.id: eight}).of_source("verda", [("epyc-h100", "H100-SXM", 1), ("epyc-h100", "H100-SXM", 8)])
    assert list(found.values()) == ["1x-epyc-h100", "epyc-h100"]


def test_every_row_of_the_table_means_a_machine_of_the_catalog():
    assert all(f"{provider}/{ours}" in NODES for (provider, _), ours in MACHINES._aliases.items())
