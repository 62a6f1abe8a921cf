"""Accelerators that names mean, in the spellings of many sources."""

from __future__ import annotations

import pytest

from planner.adapters.catalog import accelerator_aliases
from planner.model.hardware.accelerator_name import accelerator_named, spelling
from tests.bundled import bundled_catalog


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        pytest.param("RTX-4090", "RTX-4090", id="an id"),
        pytest.param("NVIDIA GeForce RTX 4070 Ti SUPER", "RTX-4070Ti-Super", id="what a driver reports"),
        pytest.param("rtx 4090", "RTX-4090", id="small letters"),
        pytest.param("AMD Instinct MI300X", "MI300X", id="with its maker"),
        pytest.param("RTX4090-24GB", "RTX-4090", id="memory at the end"),
        pytest.param("H100 80GB PCIe", "H100-PCIe", id="memory in the middle"),
        pytest.param("A100 (40 GB)", "A100-40GB-SXM", id="memory that tells two apart"),
        pytest.param("V100-32GB-SXM2", "V100-SXM2-32GB", id="in another order"),
        pytest.param("B200 192GB", "B200-SXM", id="memory of the chip, of which 180 GB are left"),
        pytest.param("8x A100 80G", "A100-80GB-SXM", id="how many there are"),
        pytest.param("TPU v5e-16", "TPU-v5e", id="a slice"),
        pytest.param("H200 141GB HBM3e", "H200-SXM", id="a kind of memory"),
        pytest.param("B300-SXM6-288GB", "B300-SXM", id="the generation of a socket"),
        pytest.param("L40S 48GB PCIe", "L40S", id="the slot of a card"),
        pytest.param("H100 80GB PCIe", "H100-PCIe", id="a slot that tells two apart"),
        pytest.param("B200 PCIe", None, id="no slot has a module"),
        pytest.param("H100 NVL PCIe", "H100-NVL", id="cards that a bridge joins"),
        pytest.param("L40S_PCIe", "L40S", id="an underscore"),
        pytest.param("L40S PCIe Gen4 x16", "L40S", id="generation and lanes"),
        pytest.param("MI250X (one GCD)", None, id="half of one in brackets"),
        pytest.param("TPU v3 (v3-8, 4 chips of 32GB)", "TPU-v3", id="a slice in brackets"),
        pytest.param("V100-16GB (300 W)", "V100-SXM2-16GB", id="a limit of power in brackets"),
        pytest.param("Ascend 910B (Atlas 800T A2, 64GB)", "Ascend-910B", id="a machine in brackets"),
        pytest.param("A100-PCIe (Azure NC24ads, 80GB)", "A100-80GB-PCIe", id="memory in a remark that tells two apart"),
        pytest.param("A100 (Azure NC24ads, 48GB)", None, id="memory in a remark that no such accelerator has"),
        pytest.param("TPU7x (Ironwood) 192GB", "TPU7x", id="a name of its maker's in brackets"),
        *(
            pytest.param(name, None, id=name)
            for name in (
                "RTX 4090 (laptop)",
                "RTX 5090 (D)",
                "A6000 (Ada)",
                "MI250X (1/2)",
                "H100 (50%)",
                "H100 (GH200)",
                "TPU v4 (TPU v3)",
                "A100 (host 40GB)",
                "Max 1550 (one stack)",
            )
        ),
        pytest.param("RTX 9999 (24GB)", None, id="no vendor's, with a remark"),
        pytest.param("H100 96GB", "H100-96GB-SXM", id="an H100 with the older memory"),
        pytest.param("V100-SXM4-32GB", None, id="but not another one than those that tell two apart"),
        pytest.param("RTX 6000", None, id="three generations carry the name"),
        pytest.param("Quadro RTX 6000", "RTX-6000-Turing", id="one of them by its full name"),
        pytest.param("A100 40GB 80GB", None, id="two sizes"),
        pytest.param("H100 48GB", None, id="another size than any that is known"),
        pytest.param("RTX 9999", None, id="no vendor's"),
        pytest.param("24GB", None, id="nothing but memory"),
        pytest.param("", None, id="nothing"),
    ],
)
def test_a_name_means(name: str, meant: str | None) -> None:
    found = accelerator_named(name, bundled_catalog().accelerators, accelerator_aliases())
    assert (None if found is None else found.id) == meant


def test_no_two_accelerators_are_spelled_alike() -> None:
    accelerators, aliases = bundled_catalog().accelerators, accelerator_aliases()
    meant: dict[str, set[str]] = {}
    for name, accelerator in [*aliases.items(), *((name, name) for name in accelerators)]:
        meant.setdefault(spelling(name), set()).add(accelerator)
    assert {name: ids for name, ids in meant.items() if len(ids) > 1} == {}
    assert set(aliases.values()) <= set(accelerators)
