"""The table of whole trainings: complete, sourced, and set apart before it was predicted."""

from __future__ import annotations

import pytest

from planner.adapters.catalog import load_catalog
from planner.adapters.evidence import evidence_files, whole_trainings
from planner.model.evidence.whole_training import Exclusion, TrainingKind, usual_count
from planner.use_cases.published.evidence import observations_of

ROWS = whole_trainings()
SCORED = [row for row in ROWS if row.excluded is None]
BY_ID = {row.run.id: row for row in ROWS}


def test_there_are_enough_trainings_of_enough_sources():
    assert len(SCORED) >= 120
    assert len({row.run.source for row in SCORED}) >= 60


def test_every_row_says_where_it_stands():
    assert len(BY_ID) == len(ROWS)
    bad = [row.run.id for row in ROWS if not row.run.source_ref or not row.run.source_date[:4].isdecimal()]
    assert bad == []


def test_what_is_scored_states_data_and_hours():
    assert [row.run.id for row in SCORED if row.hours is None or not _rate(row)] == []
    assert [row.run.id for row in ROWS if row.excluded is Exclusion.NO_DATA and _rate(row)] == []


def test_the_physics_understands_what_is_scored():
    seen, refused = observations_of([row.run for row in SCORED], load_catalog())
    assert refused == []
    assert len(seen) == len(SCORED)


def test_every_kind_has_several_sources():
    sources = {kind: {row.run.source for row in SCORED if row.kind is kind} for kind in TrainingKind}
    assert min(len(found) for found in sources.values()) >= 7


def test_five_are_well_known():
    assert {row.run.id for row in ROWS if row.well_known} == {
        "llama2-70b", "llama3-8b", "llama31-405b", "bloom-176b", "deepseek-v3",
    }  # fmt: skip


def test_they_are_no_evidence_of_benchmark_speeds():
    assert all("whole_trainings" not in path.name for path in evidence_files())


@pytest.mark.parametrize(
    ("name", "tokens_per_s_per_gpu"),
    [
        ("llama2-70b", 2e12 / 1_720_320 / 3600),  # 323: Table 2 of the paper
        ("llama3-8b", 15e12 / 1.3e6 / 3600),  # 3,205: the model card
        ("mpt-7b", 1e12 / (440 * 9.5 * 86_400)),  # 2,769: the model card
        ("nanogpt-124m", 600_000 * 491_520 / (8 * 4 * 86_400)),  # 106,667: the README
    ],
)
def test_rates_are_data_by_device_time(name: str, tokens_per_s_per_gpu: float):
    assert BY_ID[name].run.tokens_per_s_per_gpu == pytest.approx(tokens_per_s_per_gpu)


@pytest.mark.parametrize(("device_hours", "count"), [(720, 1), (184_320, 256), (1.3e6, 2048), (1, 1)])
def test_a_count_that_nobody_states_ends_in_about_a_month(device_hours: float, count: int):
    assert usual_count(device_hours) == count


def _rate(row) -> float | None:
    return row.run.tokens_per_s_per_gpu or row.run.throughput_total
