"""JSON lines whose values are of kinds that no trainer writes."""

from __future__ import annotations

import json

import pytest

from planner.adapters.trainer_logs import json_lines
from planner.errors import InputError
from tests.adapters.trainer_logs.conftest import part


@pytest.mark.parametrize("text", ["null", "7", '"metrics"', "true", "{}", '{"metrics": 7}'])
def test_one_json_value_that_is_no_history_is_refused(read, write, text):
    with pytest.raises(InputError, match="no log of a known format"):
        read(write(a__jsonl=text + "\n"))


@pytest.mark.parametrize("column", ["gpus", "batch_size", "seq_len"])
@pytest.mark.parametrize("value", [[8], {"of": 8}, None])
def test_a_count_that_is_no_number_is_not_known(read, write, column, value):
    rows = [json.dumps({"step": n, "elapsed_s": 2 * n, column: value}) for n in range(30)]
    log = read(write(a__jsonl="\n".join(rows)))
    assert part(log).seconds / part(log).steps == 2.0
    assert (log.facts.devices, log.facts.global_batch, log.facts.seq_len) == (None, None, None)


ROWS = [{"step": n, "elapsed_s": 2 * n} for n in range(20)]


@pytest.mark.parametrize(
    ("limit", "text", "told"),
    [
        pytest.param("MOST_ROWS", "\n".join(map(json.dumps, ROWS)), "over 10 rows", id="lines"),
        pytest.param("MOST_ROWS", json.dumps(ROWS), "over 10 rows", id="a list"),
        pytest.param("MOST_ROWS", json.dumps({"metrics": ROWS}), "over 10 rows", id="a list in a mapping"),
        pytest.param("MOST_OF_ONE", json.dumps(ROWS), "one JSON value of over", id="one large value"),
    ],
)
def test_more_than_is_read_in_some_seconds_is_refused(read, write, monkeypatch, limit, text, told):
    path = write(a__jsonl=text)
    part(read(path))
    monkeypatch.setattr(json_lines, limit, 10)
    with pytest.raises(InputError, match=told):
        read(path)
