"""Offers of the user's own price file: what their rows say they carry is the machine that is compared."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

COLUMNS = "provider,instance_type,region,price_kind,usd_per_hour,source,as_of,accelerator,accelerators,valid_from,"
ROWS = """valid_until,node_hours_limit
acme,h100-8,eu,on_demand,24,quote,2026-11-10,H100-SXM,8,,,
acme,h100-1,eu,on_demand,3,quote,2026-11-10,H100-SXM,1,,,
acme,cards,eu,on_demand,2.4,quote,2026-11-10,RTX-4090,4,,,
acme,bare,eu,on_demand,24,quote,2026-11-10,,,,,
acme,typo,eu,on_demand,24,quote,2026-11-10,H100-SMX,8,,,
academy,hall,eu,grant,0,award,2026-11-10,A100-80GB-SXM,8,2026-11-01,2027-06-30,2000
"""


@pytest.fixture
def asked(planner, tmp_path: Path):
    """Estimate Llama 3 8B on one offer, with rows of one's own."""
    folder = Path(os.environ["PLANNER_HOME"]) / "prices"
    folder.mkdir(parents=True)
    (folder / "own.csv").write_text(COLUMNS + ROWS)

    def call(command: str = "estimate", **option: Any):
        path = tmp_path / "plan.yaml"
        workload = {"ref": "llama3-8b", "seq_len": 4096}
        plan = {"schema_version": 1, "name": "own", "workload": workload, "work": {"tokens": 1e9}, "options": [option]}
        path.write_text(yaml.safe_dump(plan), encoding="utf-8")
        return planner(command, path, "--json")

    return call


def test_it_is_as_fast_as_the_same_machine_elsewhere_at_its_own_price(asked) -> None:
    [own] = asked(offer="acme/h100-8").document["options"]
    [known] = asked(offer="lambda/gpu_8x_h100_sxm5").document["options"]
    assert (own["accelerators"], own["accelerator"], own["usd_per_hour"]["value"]) == (8, "H100-SXM", 24)
    assert own["throughput"]["value"] == pytest.approx(known["throughput"]["value"])


@pytest.mark.parametrize(
    ("offer", "assumed"),
    [
        pytest.param("acme/h100-8", "NVSwitch between its accelerators, no network to others", id="a board of eight"),
        pytest.param("acme/cards", "PCIe without P2P between its accelerators, no network to others", id="cards"),
        pytest.param("acme/h100-1", "no network to others", id="one alone"),
    ],
)
def test_what_is_assumed_of_it_is_named(asked, offer: str, assumed: str) -> None:
    [option] = asked(offer=offer).document["options"]
    assert f"{offer}: assumed: {assumed}" in option["notes"]


def test_a_grant_is_used(asked) -> None:
    [option] = asked("campaign", offer="academy/hall", price="grant").document["options"]
    assert (option["hold"], option["accelerators"], option["usd_total"]["value"]) == ("use", 8, 0)


def test_several_nodes_need_a_network_that_the_option_states(asked) -> None:
    [without] = asked(offer="acme/h100-8", nodes=2).document["options"]
    [stated] = asked(offer="acme/h100-8", nodes=2, network_gbit_per_s=3200).document["options"]
    assert "network between its nodes is not known" in without["why_not"]
    assert stated["throughput"] is not None


@pytest.mark.parametrize(
    ("offer", "says"),
    [
        pytest.param("acme/bare", "acme/bare has a price, but its row does not say what it carries", id="no columns"),
        pytest.param("acme/typo", "H100-SXM", id="the nearest accelerator"),
    ],
)
def test_a_row_that_describes_no_machine_is_refused_with_the_remedy(asked, offer: str, says: str) -> None:
    answer = asked(offer=offer)
    assert answer.code == 2
    assert says in answer.err
    assert "trains by the token" not in answer.err
