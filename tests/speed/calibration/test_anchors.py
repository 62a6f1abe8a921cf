"""Choice of the measurements that are known when the estimator is tested with own runs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.adapters.evidence import read_calibration
from planner.speed.calibration.anchors import Cell, draw_anchors, informative_anchors, most_informative
from planner.speed.estimator.expected_error import NOISE, PART_ERROR, KnownLabels
from planner.speed.estimator.own_runs import UpdatePoints, covariance, update
from planner.speed.estimator.text_estimator import OF_TEXT, fitted
from planner.speed.physics.observation import Labels, Observation
from tests.bundled import text_rows


@pytest.fixture(scope="module")
def evidence() -> list[Observation]:
    """Return measurements that all differ in their settings."""
    return list({repr((sorted(row.config.items()), row.labels)): row for row in text_rows()}.values())[:300]


def place_of(rows: list[Observation]) -> UpdatePoints:
    data, calibration = OF_TEXT.sample(rows), read_calibration()
    return OF_TEXT.modelled(fitted(calibration), data.configs, data.labels, KnownLabels.of(calibration)).place


def line(positions: list[float]) -> UpdatePoints:
    """Return runs of one machine and workload that differ in one setting, with steps of nothing but products."""
    count, label = len(positions), Labels("A100", "ampere", "f", "site", "w")
    shares = {name: np.full(count, float(name == "products")) for name in PART_ERROR}
    return UpdatePoints(
        [label] * count, shares, np.array(positions)[:, None], np.full(count, 0.3), np.zeros(count, bool)
    )


@pytest.mark.parametrize("count", [0, 1, 3])
def test_every_row_is_either_known_or_asked(evidence: list[Observation], count: int) -> None:
    for cells in (draw_anchors(evidence, anchors=count), informative_anchors(evidence, place_of, anchors=count)):
        assert sorted(place for cell in cells for place in (*cell.anchors, *cell.asked)) == list(range(len(evidence)))
        for cell in cells:
            assert len(cell.anchors) == min(count, len(cell.anchors) + len(cell.asked))
            labels = {
                (evidence[place].labels.source, evidence[place].labels.accelerator, evidence[place].labels.framework)
                for place in (*cell.anchors, *cell.asked)
            }
            assert len(labels) == 1 or not cell.anchors


def test_neither_the_table_s_order_nor_its_results_choose(evidence: list[Observation]) -> None:
    def chosen(rows: list[Observation], cells: list[Cell]) -> set[str]:
        return {rows[place].id for cell in cells for place in cell.anchors}

    backwards = [replace(row, tokens_per_s_per_gpu=2 * row.tokens_per_s_per_gpu) for row in reversed(evidence)]
    assert chosen(evidence, draw_anchors(evidence, anchors=2)) == chosen(backwards, draw_anchors(backwards, anchors=2))
    assert chosen(evidence, informative_anchors(evidence, place_of, anchors=2)) == chosen(
        backwards, informative_anchors(backwards, place_of, anchors=2)
    )


def test_the_run_in_the_middle_is_most_informative_and_the_next_ones_lie_apart() -> None:
    """The middle of a line is closest to all; once it is known, the ends are least known."""
    picked = most_informative(line([-3.0, -1.0, 0.0, 1.0, 3.0]), runs=3)
    assert picked[0] == 2
    assert set(picked[1:]) <= {0, 1, 3, 4}
    assert picked[1] != picked[2]
    assert np.sign(picked[1] - 2) != np.sign(picked[2] - 2), "one on each side"


@given(
    positions=st.lists(st.floats(-4, 4), min_size=3, max_size=7),
    runs=st.integers(1, 2),
)
def test_each_choice_leaves_no_more_unknown_than_any_other(positions: list[float], runs: int) -> None:
    """Each choice is compared with every run after those chosen before, by the update's own solve."""
    where = line(positions)
    picked = most_informative(where, runs=runs)
    before = picked[:-1]
    matrix = covariance(where, where)

    def variance_of_others(chosen: list[int]) -> float:
        """Return the remaining variance of the rows other than the last chosen one."""
        some = np.array(chosen)
        inner = matrix[np.ix_(some, some)] + NOISE**2 * np.eye(len(some))
        remaining = np.diag(matrix - matrix[:, some] @ np.linalg.solve(inner, matrix[some]))
        return float(remaining.sum() - remaining[chosen[-1]])

    def gain_of(run: int) -> float:
        """Return the variance of the others before a run minus that after it."""
        after = variance_of_others([*before, run])
        if not before:
            return float(np.trace(matrix) - matrix[run, run]) - after
        some = np.array(before)
        inner = matrix[np.ix_(some, some)] + NOISE**2 * np.eye(len(some))
        stays = np.diag(matrix - matrix[:, some] @ np.linalg.solve(inner, matrix[some]))
        return float(stays.sum() - stays[run]) - after

    best = max(gain_of(run) for run in range(len(positions)) if run not in before)
    assert gain_of(picked[-1]) == pytest.approx(best, abs=1e-7)


def test_more_informative_runs_narrow_more() -> None:
    """The most informative run leaves the others narrower than the one at the far end."""
    where = line([-2.0, -0.5, 0.0, 0.5, 9.0])

    def remaining_share(known: int) -> float:
        others = np.array([place for place in range(5) if place != known])
        anchors = where._replace(labels=where.labels[:1], shares={k: v[:1] for k, v in where.shares.items()},
                                 features=where.features[[known]], expected=where.expected[:1],
                                 between_nodes=where.between_nodes[:1])  # fmt: skip
        asked = where._replace(labels=where.labels[:4], shares={k: v[:4] for k, v in where.shares.items()},
                               features=where.features[others], expected=where.expected[:4],
                               between_nodes=where.between_nodes[:4])  # fmt: skip
        return float(update(asked, anchors, np.zeros(1)).left.mean())

    assert remaining_share(most_informative(where, runs=1)[0]) < remaining_share(4) - 0.01
