"""A measurement is recognized in any spelling, and leaves the evidence with its source."""

from __future__ import annotations

import hashlib
import math
from dataclasses import replace

import numpy as np
import pytest

from planner.adapters.catalog import load_catalog
from planner.adapters.evidence import evidence_files, read_measurements
from planner.model.evidence.measurement import Measurement
from planner.speed.calibration.hold_out import text_folds
from planner.speed.calibration.same_measurement import Measurements, identity_of, without, without_twins
from planner.speed.physics.observation import Observation
from planner.use_cases.published.evidence import observations_of
from tests.bundled import image_rows, text_rows

ASKED = 200


@pytest.fixture(scope="module")
def evidence() -> list[Observation]:
    return text_rows()


def respelt(row: Measurement, place: int) -> Measurement:
    """Return a row as another person would enter it: other names, and a rate with three digits or 0.8 % off."""
    assert row.tokens_per_s_per_gpu is not None
    rate = row.tokens_per_s_per_gpu
    rate = float(f"{rate:.3g}") if place % 2 else rate * (1.008 if place % 4 else 0.992)
    changes = {
        "id": f"copy-{place}",
        "source": f"a copy of {row.source}, page {place}",
        "site": "",
        "source_ref": "table",
        "source_date": "2026-10",
        "model": f"the {row.model.upper()}",
        "precision": row.precision.upper(),
        "packing": row.packing,
        "throughput_total": None,
        "tokens_per_s_per_gpu": rate,
        "notes": "",
    }
    return row.model_copy(update=changes)


def test_two_hundred_rows_leave_under_other_names(evidence: list[Observation]) -> None:
    catalog = load_catalog()
    known = {(row.labels.source, row.id) for row in evidence}
    rows = [
        row
        for path in evidence_files()
        for row in read_measurements(path)
        if row.tokens_per_s_per_gpu is not None and (row.origin, row.id) in known
    ]
    rows = sorted(rows, key=lambda row: hashlib.sha256(f"{row.origin} {row.id}".encode()).hexdigest())[:ASKED]
    copies, refused = observations_of([respelt(row, place) for place, row in enumerate(rows)], catalog)
    assert len(copies) == ASKED
    assert refused == []
    originals = {(row.origin, row.id) for row in rows}
    others = {(row.labels.source, row.id) for row in without(evidence, copies)}
    assert others.isdisjoint(originals)
    pool = [*copies, *evidence]
    test, train = np.arange(ASKED), np.arange(ASKED, len(pool))
    trained = {(pool[int(at)].labels.source, pool[int(at)].id) for at in without_twins(train, test, pool)}
    assert trained == others


@pytest.mark.slow
def test_no_fold_trains_on_what_it_asks(evidence: list[Observation]) -> None:
    for split in ("source", "precision"):
        for fold in text_folds(split, evidence):
            asked: dict[object, list[float]] = {identity_of(evidence[int(at)]): [] for at in fold.test}
            for at in fold.test:
                asked[identity_of(evidence[int(at)])].append(math.log(evidence[int(at)].tokens_per_s_per_gpu))
            for at in fold.train:
                row = evidence[int(at)]
                rate = math.log(row.tokens_per_s_per_gpu)
                assert all(abs(rate - each) > math.log(1.01) for each in asked.get(identity_of(row), ()))


def test_a_rate_over_one_per_cent_off_is_another_measurement(evidence: list[Observation]) -> None:
    copy = replace(evidence[0], labels=replace(evidence[0].labels, source="elsewhere"))
    known = Measurements(evidence[:1])
    for times, same in ((1.009, True), (1.011, False), (1 / 1.009, True), (1 / 1.011, False)):
        assert bool(known.like(replace(copy, tokens_per_s_per_gpu=copy.tokens_per_s_per_gpu * times))) is same


def test_a_source_s_repeat_of_a_configuration_leaves_at_any_rate(evidence: list[Observation]) -> None:
    row = evidence[0]
    repeat = replace(row, id="again", tokens_per_s_per_gpu=1.3 * row.tokens_per_s_per_gpu)
    assert without([repeat], [row]) == []
    assert len(without([replace(repeat, labels=replace(row.labels, source="elsewhere"))], [row])) == 1


@pytest.mark.parametrize("name", ["layers", "hidden", "seq_len", "dp"])
def test_another_size_is_another_measurement(evidence: list[Observation], name: str) -> None:
    row = evidence[0]
    other = replace(row, id="b", config=row.config | {name: 2 * row.config[name]})
    assert without([other], [row]) == [other]


def test_images_are_told_apart_by_their_network() -> None:
    row = image_rows()[0]
    renamed = replace(row, id="b", labels=replace(row.labels, source="elsewhere"))
    assert without([renamed], [row]) == []
    other = replace(renamed, config=row.config | {"flops": 2 * row.config["flops"]})
    assert without([other], [row]) == [other]
