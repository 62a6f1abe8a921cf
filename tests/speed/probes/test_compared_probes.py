"""Comparison of a probe with others of its kind, by hand."""

from datetime import date

import pytest

from planner.model.evidence.probe import KernelTime, ProbeRecord
from planner.model.evidence.run import RunHardware
from planner.speed.evidence.compared_probes import compared, comparison_text

SHAPE = {"tokens": 64, "hidden": 64, "kv_dim": 64, "ffn_hidden": 256, "inputs": 64, "outputs": 64, "times": 2}


def probe(name: str, seconds: float, *, accelerator: str = "H100-SXM", copy: float = 1.0) -> ProbeRecord:
    return ProbeRecord(
        schema_version=1, id=name, measured_on=date(2026, 11, 27), seconds=60.0,
        hardware=RunHardware(accelerator=accelerator, node=f"local/{name}", nodes=1, accelerators_per_node=1),
        kernels=(
            KernelTime(kind="products", shape=SHAPE, precision="bf16", seconds=seconds, rounds=3),
            KernelTime(kind="copy", shape={"bytes": 1024}, seconds=copy, rounds=3),
        ),
    )  # fmt: skip


def test_products_are_six_per_cent_below_the_median_of_four() -> None:
    """Seconds 1, 1, 1 and 1.0638: the median is 1, and 1 / 1.0638 = 0.940."""
    others = [probe("a", 1.0), probe("b", 1.0), probe("c", 1.0)]
    slow = probe("slow", 1.0638)

    assert comparison_text(slow, [*others, slow]) == "matrix products 6 % below the median of 4"


def test_a_probe_without_another_of_its_kind_is_compared_with_nothing() -> None:
    alone = probe("alone", 1.0)

    assert compared(alone, [alone, probe("other", 1.0, accelerator="A100-40GB-SXM")]) == []
    assert comparison_text(alone, [alone]) == ""


def test_differences_under_two_per_cent_are_not_listed() -> None:
    first, other = probe("one", 1.0), probe("other", 1.02)

    assert comparison_text(first, [first, other]) == "as the median of 2"


def test_kernels_without_their_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="inputs is missing, which matrix products have"):
        KernelTime(
            kind="products", shape={"tokens": 1, "hidden": 1, "kv_dim": 1, "ffn_hidden": 1}, seconds=1.0, rounds=1
        )
