"""Speed-up and efficiency, compared with the figures in the RTX 3090 report."""

from __future__ import annotations

from typing import Any

import pytest

from planner.errors import InputError
from planner.model.answer.sweep_answer import SweepDocument
from planner.model.catalog import Catalog
from planner.model.evidence.run import RunRecord
from planner.speed.throughput.scaling_table import efficiency, scaling_table, speedup

REPORT = "GPU cluster report (document 003)"
DDP = {1: 27.4, 2: 29.3, 4: 28.6, 8: 39.6, 10: 47.9}
ZERO2 = {1: 27.5, 2: 31.4, 4: 36.3, 8: 59.4, 10: 52.6}


def series(catalog: Catalog, strategy: str, *counts: int) -> list[RunRecord]:
    return [catalog.runs[f"seed-003-rtx3090-{strategy}-x{count}"] for count in counts]


def changed(run: RunRecord, **changes: Any) -> RunRecord:
    return run.model_copy(update=changes)


def at_rate(run: RunRecord, samples_per_s: float) -> RunRecord:
    rate = {"value": samples_per_s, "low": samples_per_s, "high": samples_per_s}
    return changed(run, throughput=run.throughput.model_copy(update=rate))


def efficiencies(document: SweepDocument) -> list[float]:
    return [row.efficiency for row in document.rows]


@pytest.mark.parametrize(
    ("count", "printed_speedup"),
    [pytest.param(count, value, id=f"{REPORT}: {count} cards") for count, value in
     {1: 1.00, 2: 1.14, 4: 1.32, 8: 2.16, 10: 1.91}.items()],
)  # fmt: skip
def test_the_reports_own_speedups_under_zero2(count: int, printed_speedup: float) -> None:
    got = speedup(samples_per_s=ZERO2[count], base_samples_per_s=ZERO2[1])
    assert round(got, 2) == printed_speedup


@pytest.mark.parametrize(
    ("count", "printed_percent"),
    [pytest.param(count, value, id=f"{REPORT}: {count} cards") for count, value in
     {2: 57, 4: 33, 8: 27, 10: 19}.items()],
)  # fmt: skip
def test_the_reports_own_efficiencies_under_zero2(count: int, printed_percent: int) -> None:
    got = efficiency(samples_per_s=ZERO2[count], accelerators=count, base_samples_per_s=ZERO2[1], base_accelerators=1)
    assert round(100 * got) == printed_percent


@pytest.mark.parametrize(("strategy", "rates"), [("ddp", DDP), ("zero2", ZERO2)])
def test_the_bundled_runs_give_the_reports_table(catalog: Catalog, strategy: str, rates: dict[int, float]) -> None:
    document = scaling_table(series(catalog, strategy, 10, 1, 8, 2, 4))  # in any order
    assert [row.accelerators for row in document.rows] == [1, 2, 4, 8, 10]
    assert [row.throughput.value for row in document.rows] == list(rates.values())
    for row in document.rows:
        assert row.throughput_per_accelerator.value == pytest.approx(rates[row.accelerators] / row.accelerators)
        assert row.speedup == pytest.approx(row.efficiency * row.accelerators)
    assert (document.workload, document.accelerator, document.strategy) == ("gpt-305m", "RTX-3090", strategy)
    assert document.doubts == ()


def test_it_is_relative_to_the_smallest_count(catalog: Catalog) -> None:
    """8 cards at 59.4 are 1.89 times as fast as 2 at 31.4, with four times as many cards: 47 %."""
    document = scaling_table(series(catalog, "zero2", 8, 2))
    assert [round(row.speedup, 2) for row in document.rows] == [1.0, 1.89]
    assert [round(value, 2) for value in efficiencies(document)] == [1.0, 0.47]


def test_two_runs_of_one_count_are_two_rows(catalog: Catalog) -> None:
    runs = [*series(catalog, "zero2", 1, 10), catalog.runs["seed-003-rtx3090-zero2-x10-b"]]
    assert [row.accelerators for row in scaling_table(runs).rows] == [1, 10, 10]


def test_of_two_runs_of_the_smallest_count_the_median_is_the_base(catalog: Catalog) -> None:
    single, two = series(catalog, "ddp", 1, 2)
    again = changed(at_rate(single, 30.6), id="again")  # with 27.4 the median is 29
    document = scaling_table([single, again, at_rate(two, 58.0)])
    assert document.rows[-1].speedup == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("share", "doubted"),
    [pytest.param(1.04, False, id="4 % over"), pytest.param(1.06, True, id="6 % over")],
)
def test_more_than_perfect_scaling_is_doubted(catalog: Catalog, share: float, doubted: bool) -> None:
    single, two = series(catalog, "ddp", 1, 2)
    doubts = scaling_table([single, at_rate(two, 2 * share * single.throughput.value)]).doubts
    assert bool(doubts) is doubted
    if doubted:
        assert "each do 106% of what each of 1 does" in doubts[0]


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("micro_batch", 8),
        ("strategy", "zero3"),
        ("precision", "bf16"),
        ("method_version", 2),
        ("channels_last", True),
    ],
)
def test_runs_that_differ_in_more_than_their_count_say_so(catalog: Catalog, setting: str, value: object) -> None:
    single, two = series(catalog, "ddp", 1, 2)
    (doubt,) = scaling_table([single, changed(two, **{setting: value})]).doubts
    assert f"differ in more than their count: {setting} is" in doubt


def test_doubts_about_a_run_stay_with_it(catalog: Catalog) -> None:
    single, two = series(catalog, "ddp", 1, 2)
    assert scaling_table([single, changed(two, verdict=("it drifted",))]).doubts == (
        "seed-003-rtx3090-ddp-x2: it drifted",
    )


@pytest.mark.parametrize(
    ("pick", "message"),
    [
        pytest.param(lambda single, _: [single], "at least two", id="one run"),
        pytest.param(lambda single, two: [single, two, two], "named twice", id="twice"),
        pytest.param(
            lambda single, _: [single, changed(single, id="again")], "all runs were made on 1", id="one count"
        ),
        pytest.param(
            lambda single, two: [single, changed(two, workload="mine")], "different networks", id="other network"
        ),
        pytest.param(
            lambda single, two: [single, changed(two, architecture=two.architecture.model_copy(update={"layers": 4}))],
            "different networks",
            id="a cut",
        ),
        pytest.param(
            lambda single, two: [
                single,
                changed(two, hardware=two.hardware.model_copy(update={"accelerator": "H200-SXM"})),
            ],
            "RTX-3090, H200-SXM",
            id="other accelerators",
        ),
    ],
)
def test_runs_that_are_no_series_are_refused(catalog: Catalog, pick: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        scaling_table(pick(*series(catalog, "ddp", 1, 2)))


@pytest.mark.parametrize(
    ("global_batches", "said"),
    [
        pytest.param((128, 128), "Strong scaling: every count does 128 samples a step", id="tuned"),
        pytest.param((8, 32), "Weak scaling: each accelerator does 4 samples a step", id="matched"),
        pytest.param((8, 16), "Neither weak nor strong scaling: the global batch is 8 on 2, 16 on 8", id="mixed"),
        pytest.param((8, None), None, id="not stated"),
    ],
)
def test_the_kind_of_scaling_is_noted(
    catalog: Catalog, global_batches: tuple[int, int | None], said: str | None
) -> None:
    runs = [
        run.model_copy(update={"global_batch": batch})
        for run, batch in zip(series(catalog, "zero2", 2, 8), global_batches, strict=True)
    ]
    found = [note for note in scaling_table(runs).notes if "scaling" in note]
    assert len(found) == (said is not None)
    assert said is None or found[0].startswith(said)
