"""The bundled measurements: each of a repository or site, and excluded by a code alone."""

from __future__ import annotations

import re
from collections import Counter

from planner.adapters.evidence import evidence_files, read_measurements
from planner.model.evidence.measurement import Excluded, exclusion_of
from planner.model.evidence.source_site import is_set_aside, owner_of

ROWS = [row for path in evidence_files() for row in read_measurements(path)]
SITE = re.compile(r"arxiv:\d{4}\.\d{4,5}|paper:[a-z0-9.-]+|[a-z0-9_.-]+(?:/[a-z0-9_.-]+){0,2}")


def test_every_row_is_of_a_repository_or_site() -> None:
    assert [(row.id, row.site) for row in ROWS if not SITE.fullmatch(row.site)] == []


def test_no_two_sites_differ_by_spelling() -> None:
    spelt = {re.sub(r"[^a-z0-9/:]", "", site) for site in {row.site for row in ROWS}}
    assert len(spelt) == len({row.site for row in ROWS})


def test_pages_of_a_repository_are_one_source() -> None:
    """Twenty-six spellings of torchtitan, MLPerf's rounds and NeMo's pages were as many sources."""
    for words, site in (("torchtitan PR", "pytorch/torchtitan"), ("training_results_v", "mlcommons/training_results")):
        assert {row.site for row in ROWS if words in row.source} == {site}


def test_a_row_without_a_code_states_what_decides_the_speed() -> None:
    open_ = [row.id for row in ROWS if row.excluded is None and exclusion_of(row, text=row.unit != "images/s")]
    assert open_ == []


def test_every_doubt_has_a_code_and_no_code_is_a_doubt() -> None:
    assert [row.id for row in ROWS if row.quality.startswith("weak") and row.excluded is None] == []
    assert Excluded.DOUBTED not in {row.excluded for row in ROWS}


def test_runs_that_were_published_because_they_were_slow_are_evidence() -> None:
    slow = [row for row in ROWS if re.match(r"ok: (reported as slow|report of a problem|log of a search)", row.quality)]
    assert len(slow) > 30
    assert {row.excluded for row in slow} <= {None, Excluded.NO_BATCH, Excluded.NO_LENGTH, Excluded.NO_METHOD}


def test_about_half_of_the_sources_are_set_aside() -> None:
    owners = Counter(is_set_aside(owner) for owner in {owner_of(row.site) for row in ROWS})
    assert 0.4 < owners[True] / owners.total() < 0.6
