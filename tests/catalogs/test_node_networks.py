"""Networks of the catalog's nodes: every machine with eight accelerators states one, with a source and a date.

Expected rates come from the providers' documentation, named in the ids.
"""

from __future__ import annotations

from collections import Counter

import pytest
from pydantic import ValidationError

from planner.model.hardware.machines import ClusterSale, Node, NodeNetworkKind
from planner.model.prices.offer import PriceKind
from planner.scenario.price_choice import current_price
from tests.bundled import bundled_catalog
from tests.every_row import every

CATALOG = bundled_catalog()
LARGE = [(node.id, node) for node in CATALOG.nodes.values() if node.accelerators >= 8]
ROW = {
    "id": "cloud/8x", "name": "Eight", "accelerator": "H100-SXM", "accelerators": 8, "link": "nvswitch",
    "source": "a test", "as_of": "2026-11-26",
}  # fmt: skip


@every(LARGE)
def test_a_machine_with_eight_accelerators_says_what_joins_it_to_others(node: Node) -> None:
    assert node.network_source is not None
    assert node.network_as_of is not None
    single = node.clusters is ClusterSale.SINGLE_NODES
    assert (node.network_gbit_per_s is None) is single
    assert node.network_source.startswith("assumed: ") is (node.network_range is not None)


def test_most_networks_are_known_and_not_assumed() -> None:
    kinds = Counter(
        "single" if node.network_gbit_per_s is None else "assumed" if node.network_range else "known"
        for _, node in LARGE
    )
    assert kinds["known"] >= 56
    assert kinds["assumed"] <= 24


@pytest.mark.parametrize(
    ("node", "kind", "gbit"),
    [
        pytest.param("crusoe/8x-h100-sxm", NodeNetworkKind.INFINIBAND, 3200, id="Crusoe: total InfiniBand bandwidth"),
        pytest.param("crusoe/8x-a100-80gb-sxm", NodeNetworkKind.INFINIBAND, 1600, id="Crusoe: of A100"),
        pytest.param("nebius/gpu-b200-sxm_8gpu", NodeNetworkKind.INFINIBAND, 8 * 400, id="Nebius in MLPerf: 8x NDR"),
        pytest.param("runpod/8x-a100-80gb-sxm-cluster", None, 1600, id="RunPod Instant Clusters: of A100"),
        pytest.param("runpod/8x-h100-sxm-cluster", None, 3200, id="RunPod Instant Clusters: of others"),
        pytest.param("oci/BM.GPU.H100.8", None, 8 * 2 * 200, id="Oracle: 8 x 2 x 200 of RDMA"),
        pytest.param("oci/BM.GPU.A100-v2.8", None, 16 * 100, id="Oracle: 16 x 100 of RDMA"),
        pytest.param(
            "gcp/tpu-v5litepod-16", NodeNetworkKind.TCP, 16 * 6400 / 256, id="TPU v5e: 6.4 Tbit/s of 256 chips"
        ),
        pytest.param("gb200-nvl72", NodeNetworkKind.INFINIBAND, 72 * 400, id="DGX GB200: 72 ports"),
    ],
)
def test_a_network_is_the_one_published(node: str, kind: NodeNetworkKind | None, gbit: float) -> None:
    assert (CATALOG.nodes[node].network_kind, CATALOG.nodes[node].network_gbit_per_s) == (kind, gbit)
    assert CATALOG.nodes[node].network_range is None


@pytest.mark.parametrize(
    ("network", "says"),
    [
        pytest.param({"network_low_gbit_per_s": 10}, "needs network_low_gbit_per_s and", id="half a range"),
        pytest.param(
            {"network_low_gbit_per_s": 10, "network_high_gbit_per_s": 100, "network_gbit_per_s": 400},
            "must lie between",
            id="a rate outside its range",
        ),
        pytest.param(
            {"network_low_gbit_per_s": 10, "network_high_gbit_per_s": 100}, "must lie between", id="a range alone"
        ),
        pytest.param({"clusters": "single_nodes", "network_gbit_per_s": 400}, "single_nodes", id="joined and not"),
    ],
)
def test_a_row_that_contradicts_itself_is_refused(network: dict[str, object], says: str) -> None:
    assert Node.model_validate(ROW).network_range is None
    with pytest.raises(ValidationError, match=says):
        Node.model_validate(ROW | network)


def test_a_stated_network_takes_the_place_of_all_that_the_row_says() -> None:
    node = CATALOG.nodes["lambda/gpu_8x_h100_sxm5"].with_network(3200)
    assert (node.network_gbit_per_s, node.network_range, node.network_kind) == (3200, None, None)


# Prices that agree with each other


def test_no_mean_of_listings_stands_for_a_list_price() -> None:
    listed = [row for row in CATALOG.prices if row.price_kind is PriceKind.ON_DEMAND and row.amount is not None]
    assert [row.node for row in listed if "mean of" in row.source or "a mean over" in (row.note or "")] == []


BY_THE_CARD = [
    ("verda/1x-a100-80gb-sxm", "verda/8x-a100-80gb-sxm"),
    ("verda/1x-h100-sxm", "verda/8x-h100-sxm"),
    ("verda/1x-h200-sxm", "verda/8x-h200-sxm"),
    ("verda/1x-b200-sxm", "verda/8x-b200-sxm"),
    ("verda/1x-b300-sxm", "verda/8x-b300-sxm"),
    ("runpod/1x-a100-80gb-sxm", "runpod/8x-a100-80gb-sxm"),
    ("runpod/1x-h100-sxm", "runpod/8x-h100-sxm"),
    ("runpod/1x-h200-sxm", "runpod/8x-h200-sxm"),
    ("jarvis-labs/1x-h100-sxm", "jarvis-labs/8x-h100-sxm"),
    ("jarvis-labs/1x-h200-sxm", "jarvis-labs/8x-h200-sxm"),
    ("nebius/gpu-h100-sxm_1gpu", "nebius/gpu-h100-sxm_8gpu"),
    ("nebius/gpu-h200-sxm_1gpu", "nebius/gpu-h200-sxm_8gpu"),
]
"""Offers of one card and of eight, by providers whose list has one price a GPU-hour."""


@pytest.mark.parametrize(("small", "large"), BY_THE_CARD)
def test_eight_cards_cost_eight_times_one(small: str, large: str) -> None:
    single, eight = (current_price(name, CATALOG, kind=PriceKind.ON_DEMAND, region=None) for name in (small, large))
    assert single is not None
    assert eight is not None
    assert single.amount is not None
    assert eight.amount == pytest.approx(8 * single.amount)


@pytest.mark.parametrize(
    ("node", "kind", "usd"),
    [
        pytest.param("hyperstack/1x-h100-pcie", PriceKind.ON_DEMAND, 2.50, id="Hyperstack, page of 2026-08-26"),
        pytest.param("nebius/gpu-h100-sxm_8gpu", PriceKind.ON_DEMAND, 8 * 4.50, id="Nebius, since 2026-10-01"),
        pytest.param("akash/1x-h100-sxm", PriceKind.MARKETPLACE, 2.71, id="Akash H100, page of 2026-09-20"),
        pytest.param("akash/1x-h200-sxm", PriceKind.MARKETPLACE, 4.45, id="Akash H200, page of 2026-09-20"),
    ],
)
def test_a_newer_price_of_a_source_takes_the_place_of_its_older_one(node: str, kind: PriceKind, usd: float) -> None:
    price = current_price(node, CATALOG, kind=kind, region=None)
    assert price is not None
    assert price.amount == pytest.approx(usd)
