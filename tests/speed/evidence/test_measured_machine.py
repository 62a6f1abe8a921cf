"""Links inside a machine and between machines, read from a published row."""

from __future__ import annotations

import pytest

from tests.speed.evidence.measured_row import config


@pytest.mark.parametrize(
    ("gpu", "link", "through_host"),
    [
        pytest.param("RTX3090", "", 1, id="consumer cards have no peer-to-peer"),
        pytest.param("RTX3090", "PCIe 4.0 x16", 1, id="and a slot says nothing of it"),
        pytest.param("RTX4090", "PCIe, patched driver with P2P", 0, id="unless it is named"),
        pytest.param("RTX4090", "PCI Express, peer-to-peer disabled", 1, id="or denied"),
        pytest.param("RTX3090", "no NVLink, PCI-E 4.0", 1, id="nor is a bridge that is denied"),
        pytest.param("GTX1080Ti", "PCIe 3", 0, id="Pascal had it"),
        pytest.param("L40S", "PCIe 4.0 x16", 0, id="professional cards have it"),
    ],
)
def test_cards_exchange_through_the_host_where_peer_to_peer_is_left_out(gpu: str, link: str, through_host: int) -> None:
    four = {"gpu": gpu, "num_gpus": "4", "interconnect_intra": link, "tokens_per_s_per_gpu": "50"}
    assert config(**four)["through_host"] == through_host


@pytest.mark.parametrize(
    ("changes", "key", "value"),
    [
        pytest.param({"gpu": "TPU-v5e", "num_gpus": "256"}, "nvlink_domain", 256, id="a slice is one domain"),
        pytest.param({"gpu": "RTX3090", "num_gpus": "4"}, "intra", 32e9, id="PCIe 4 x16"),
        pytest.param({"gpu": "GB200-NVL72", "num_gpus": "64"}, "nvlink_domain", 72, id="a rack is one domain"),
        pytest.param({}, "intra", 450e9, id="one direction of NVLink 4"),
        pytest.param({"interconnect_inter": "Ethernet", "num_gpus": "16"}, "inter", 100e9 / 8 / 8, id="Ethernet"),
        pytest.param({"interconnect_inter": "EFA", "num_gpus": "16"}, "inter", 3200e9 / 8 / 8, id="EFA of a p5"),
    ],
)
def test_a_row_says_its_wires(changes: dict[str, str], key: str, value: float) -> None:
    assert config(**changes)[key] == pytest.approx(value)


@pytest.mark.parametrize(
    ("words", "shards"),
    [
        pytest.param("FSDP2", 8, id="PyTorch's second FSDP"),
        pytest.param("FSDP2 ZeRO-3", 8, id="with a stage of ZeRO"),
        pytest.param("FSDP2 4 x TP1", 4, id="and its degree behind it"),
        pytest.param("FSDP4", 4, id="four shards"),
        pytest.param("DP4, FSDP2", 2, id="four replicas of two shards"),
        pytest.param("FSDP2 x DP=4", 2, id="in another order"),
        pytest.param("EP4 x FSDP2", 2, id="beside experts that make up the accelerators"),
        pytest.param("FSDP2 ZeRO-3 EP2", 8, id="but not beside others"),
    ],
)
def test_shards_of_weights(words: str, shards: float) -> None:
    assert config(parallelism=words)["shards"] == shards
