"""A machine that a plan names by its card alone: by what names, and what is assumed of the rest."""

from __future__ import annotations

from typing import Any

import pytest

from planner.errors import InputError, NotFoundError, NotModelledError
from planner.model.catalog import Catalog
from planner.model.hardware.machines import Link
from planner.scenario.candidate import Candidate
from planner.scenario.hardware_match import same_hardware
from planner.scenario.own_machine import find_own
from tests.speed.throughput.asking import asked

TWO_CARDS = "seed-003-rtx3090-ddp-x2"


def own(catalog: Catalog, name: str, count: int | None = None, **more: Any) -> Candidate:
    option = {"own": name} | ({"count": count} if count else {}) | more
    return asked(catalog, option, workload={"ref": "gpt-305m"})[1]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("RTX-3090", "RTX-3090"), ("RTX 3090", "RTX-3090"), ("rtx3090", "RTX-3090"), ("3090", "RTX-3090"),
        ("NVIDIA GeForce RTX 4090", "RTX-4090"), ("4070 Ti Super", "RTX-4070Ti-Super"), ("A6000", "RTX-A6000"),
        ("A100 80GB PCIe", "A100-80GB-PCIe"), ("H100 SXM", "H100-SXM"), ("RTX 3080", "RTX-3080-10GB"),
    ],
)  # fmt: skip
def test_names_that_people_write(catalog: Catalog, name: str, meant: str) -> None:
    assert find_own(name, catalog, where="options.0").id == meant


def test_a_name_that_may_be_several_or_is_misspelt_is_refused_with_those_alike(catalog: Catalog) -> None:
    with pytest.raises(InputError, match=r"options\.0\.own: 'RTX 3009' .*RTX-3090"):
        find_own("RTX 3009", catalog, where="options.0")


def test_an_unknown_name_says_where_names_stand(catalog: Catalog) -> None:
    with pytest.raises(NotFoundError, match=r"no accelerator 'Foo'.*accelerators\.csv"):
        find_own("Foo", catalog, where="options.0")


@pytest.mark.parametrize(
    ("name", "count", "link"),
    [
        pytest.param("RTX-3090", 1, Link.SINGLE, id="one card"),
        pytest.param("RTX-3090", 2, Link.PCIE_NO_P2P, id="GeForce cards have no P2P over PCIe"),
        pytest.param("RTX-A6000", 4, Link.PCIE, id="workstation cards have"),
        pytest.param("A100-80GB-PCIe", 4, Link.PCIE, id="as have a data centre's cards"),
        pytest.param("A100-80GB-SXM", 4, Link.NVLINK, id="a board of four"),
        pytest.param("H100-SXM", 8, Link.NVSWITCH, id="a board of eight"),
        pytest.param("V100-SXM2-16GB", 8, Link.NVLINK, id="which had no switch before the A100"),
        pytest.param("MI300X", 8, Link.OTHER, id="another maker's board"),
    ],
)
def test_what_joins_the_cards(catalog: Catalog, name: str, count: int, link: Link) -> None:
    node = own(catalog, name, count).node
    assert (node.link, node.network_gbit_per_s) == (link, None)


@pytest.mark.parametrize(
    ("name", "count", "kw"),
    [
        pytest.param("RTX-3090", 2, 2 * 0.35 + 0.1, id="a PC: 100 W beside the cards"),
        pytest.param("RTX-3090", 4, 4 * 0.35 + 0.4, id="a server: 400 W"),
        pytest.param("H100-SXM", 8, 8 * 0.7 * 1.8, id="a board: 80 % of the cards' power; its data sheet says 10.2 kW"),
    ],
)
def test_what_it_draws_at_most_and_in_training(catalog: Catalog, name: str, count: int, kw: float) -> None:
    """Power in training is 0.76 of it, as a measured node of eight H100; at most all of it."""
    site = own(catalog, name, count).site
    assert site is not None
    assert site.rated_kw is not None
    assert site.power is not None
    assert site.rated_kw.value == pytest.approx(kw)
    assert site.power.value == pytest.approx(0.76 * kw)
    assert site.power.low < site.power.value < site.power.high == pytest.approx(site.rated_kw.highest)


@pytest.mark.parametrize(
    ("name", "offer"),
    [("TPU-v5e", "gcp/tpu-v5litepod-8"), ("Trainium1", "aws/trn1.32xlarge")],
)
def test_a_chip_whose_power_is_not_published_is_refused_and_the_nearest_named(
    catalog: Catalog, name: str, offer: str
) -> None:
    with pytest.raises(NotModelledError, match=f"power of {name} is not published") as error:
        own(catalog, name, 8)
    assert error.value.fix.endswith(f"offer: {offer}")


def test_such_a_chip_is_owned_where_the_plan_states_its_power(catalog: Catalog) -> None:
    assert own(catalog, "TPU-v5e", 8, power_kw=2.0).site is not None


def test_it_has_an_id_and_a_name(catalog: Catalog) -> None:
    mine = own(catalog, "3090", 2)
    assert (mine.id, mine.node.name) == ("own/RTX-3090-x2", "Your 2x RTX 3090")
    assert own(catalog, "3090", 2, hold="buy").node.name == "New 2x RTX 3090"


@pytest.mark.parametrize(
    ("node", "same"),
    [
        pytest.param(None, True, id="a machine without a name"),
        pytest.param("local/pc-with-2x-rtx-3090-1a2b3c", True, id="the benchmark on one's own machine"),
        pytest.param("rtx3090-x10", False, id="a machine of the catalog"),
    ],
)
def test_runs_on_such_a_machine_answer_for_it(catalog: Catalog, node: str | None, same: bool) -> None:
    run = catalog.runs[TWO_CARDS]
    made = run.model_copy(update={"hardware": run.hardware.model_copy(update={"node": node})})
    assert same_hardware(made, own(catalog, "RTX-3090", 2)) is same
    assert same_hardware(made, own(catalog, "RTX-3090", 4)) is False


@pytest.mark.parametrize("name", ["A100", "V100", "H100"])
def test_a_name_of_unlike_memories_is_refused(catalog: Catalog, name: str) -> None:
    with pytest.raises(InputError, match="unlike memories") as refused:
        find_own(name, catalog, where="options.0")
    assert f"{name}-" in refused.value.fix
