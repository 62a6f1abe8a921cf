"""A result.json is untrusted: any content is either read or reported as one problem."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planner.adapters.catalog import accelerator_aliases
from planner.errors import InputError
from planner.launcher.collect.record import record_of
from planner.launcher.collect.results import (
    READ_LIMIT_BYTES,
    collected,
    last_step,
    read_probes,
    read_result,
    result_problem,
)

MakeResult = Callable[..., dict[str, Any]]

CHANGES: dict[str, tuple[dict[str, Any], str]] = {
    "a text for a count": ({"world_size": "8"}, "world_size"),
    "more devices than there are": ({"world_size": 10**9}, "world_size"),
    "steps below 0": ({"steps": -1}, "steps"),
    "impossible samples": ({"samples": 10**30}, "samples"),
    "a spec without a network": ({"spec": {"workload": "x"}}, "spec"),
    "a spec that is a list": ({"spec": []}, "spec"),
    "devices that are numbers": ({"telemetry": {"devices": [1, 2]}}, "telemetry"),
    "devices that are a text": ({"telemetry": {"devices": "none"}}, "telemetry"),
    "shares that are texts": ({"telemetry": {"devices": [{"throttle_shares": {"power_cap": "all"}}]}}, "telemetry"),
    "rates that are one number": ({"calibration": {"rank_matmul_tflop_per_s": 7}}, "calibration"),
    "memory in words": ({"memory": {"peak_reserved_gib": "much"}}, "memory"),
    "the year 1": ({"finished_at": "0001-01-01T00:00:00Z"}, "finished_at"),
    "the year 9999": ({"finished_at": "9999-12-31T23:59:59Z"}, "finished_at"),
    "a time that is none": ({"finished_at": "yesterday"}, "finished_at"),
    "a reason that is an escape sequence": ({"exit_reason": "\x1b[2J"}, "exit_reason"),
    "an unknown key": ({"more": 1}, "more"),
    "a figure in the topology beyond all": ({"topology": [{"a": 10**30}]}, "topology"),
}


def texts() -> dict[str, tuple[bytes, str]]:
    return {
        "nothing": (b"", "cut off or no JSON"),
        "cut in half": (b'{"kind": "resu', "cut off or no JSON"),
        "a list": (b"[]", "not a result of the benchmark"),
        "of another kind": (b'{"kind": "spec"}', "not a result of the benchmark"),
        "not UTF-8": (b'{"kind": "result", "error": "\xff\xfe"}', "not UTF-8"),
        "NaN": (b'{"kind": "result", "window_s": NaN}', "NaN"),
        "infinite": (b'{"kind": "result", "window_s": -Infinity}', "Infinity"),
        "a number of many digits": (b'{"kind": "result", "samples": ' + b"9" * 5000 + b"}", "digits"),
        "nested deeply": (b'{"kind": "result", "spec": ' + b"[" * 200_000 + b"]" * 200_000 + b"}", "nested too deeply"),
        "nested within what JSON bears": (
            b'{"kind": "result", "topology": [{"a": ' + b"[" * 300 + b"]" * 300 + b"}]}",
            "cannot be read",
        ),
        "nothing but its kind": (b'{"kind": "result"}', "schema_version"),
    }


def put(folder: Path, body: bytes, *, start: int = 1) -> Path:
    place = folder / f"start-{start}" / "result.json"
    place.parent.mkdir()
    place.write_bytes(body)
    return place


@pytest.mark.parametrize("name", list(CHANGES))
def test_a_wrong_value_is_one_problem_that_names_its_key(result: MakeResult, tmp_path: Path, name: str) -> None:
    change, key = CHANGES[name]
    place = put(tmp_path, json.dumps(result(**change)).encode())
    (problem,) = collected(tmp_path, run_id="r", nodes=1).problems
    assert problem.startswith("start-1/result.json cannot be read: ")
    assert key in problem
    assert "\n" not in problem
    assert read_result(place) is None
    with pytest.raises(InputError, match=key):
        record_of([result(**change)], aliases=accelerator_aliases())


@pytest.mark.parametrize("name", list(texts()))
def test_a_wrong_text_is_one_problem_that_says_why(tmp_path: Path, name: str) -> None:
    body, why = texts()[name]
    place = put(tmp_path, body)
    (problem,) = collected(tmp_path, run_id="r", nodes=1).problems
    assert problem.startswith("start-1/result.json cannot be read: ")
    assert why in problem
    assert "\n" not in problem
    assert read_result(place) is None


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    place = put(tmp_path, b"")
    os.truncate(place, READ_LIMIT_BYTES + 1)
    assert "over 16 MiB" in str(result_problem(place))


def test_a_link_is_not_followed(result: MakeResult, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text(json.dumps(result()))
    place = tmp_path / "start-1" / "result.json"
    place.parent.mkdir()
    place.symlink_to(tmp_path / "elsewhere")
    assert "it is a link" in str(result_problem(place))
    assert read_result(place) is None


def test_a_good_result_beside_a_bad_one_is_read(result: MakeResult, tmp_path: Path) -> None:
    good = put(tmp_path, json.dumps(result()).encode())
    put(tmp_path, b'{"kind": "result", "spec": 1}', start=2)
    found = collected(tmp_path, run_id="r", nodes=1)
    assert [problem[:7] for problem in found.problems] == ["start-2"]
    assert read_result(good) == result()


def test_figures_that_are_each_possible_and_together_make_no_record_are_one_error(result: MakeResult) -> None:
    """10^18 samples in 10^-18 s are 10^36 samples/s, over what a quantity of ours can be."""
    with pytest.raises(InputError, match="its figures do not fit together"):
        record_of([result(samples=10**18, window_s=1e-18)], aliases=accelerator_aliases())


def test_texts_of_a_node_come_without_secrets(result: MakeResult, tmp_path: Path) -> None:
    place = put(tmp_path, json.dumps(result(error="refused: hf_AbCdEf0123456789", disk_problem="x")).encode())
    read = read_result(place)
    assert read is not None
    assert read["error"] == "refused: [hidden]"


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("[1, 2]", id="a list"),
        pytest.param("[" * 9000, id="nested"),
        pytest.param('{"phase": "\\u001b[2J", "step": 1, "tokens": 1, "seconds": 1}', id="an escape sequence"),
        pytest.param('{"phase": "measure", "step": 1, "tokens": NaN, "seconds": 1}', id="NaN"),
        pytest.param('{"phase": "measure", "step": 1, "tokens": "many", "seconds": 1}', id="a text"),
        pytest.param('{"phase": "measure", "step": 1, "tokens": 1' + "0" * 400 + ', "seconds": 1}', id="huge"),
        pytest.param("7", id="a number"),
    ],
)
def test_a_wrong_line_of_steps_is_skipped(line: str) -> None:
    good = '{"phase": "measure", "step": 3, "tokens": 100, "seconds": 2}'
    assert last_step([good, line]) == "measure step 3, 50 tokens/s"
    assert last_step([line]) is None


def test_probes_of_another_kind_are_none(tmp_path: Path) -> None:
    (tmp_path / "start-1").mkdir()
    for body in (b"{}", b"[" * 200_000, b"\xff", b'[{"micro_batch": 0}]'):
        (tmp_path / "start-1" / "probes.json").write_bytes(body)
        assert read_probes(tmp_path) == ()
