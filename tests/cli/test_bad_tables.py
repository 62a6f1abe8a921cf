"""A wrong table of measurements gets one clear error: line, what, and how to mend it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from planner.errors import LONGEST_LINE
from tests.cli.refusals import one_error

HEADER = "id,source,gpu,num_gpus,n_layers,hidden,n_heads,seq_len,tokens_per_s_per_gpu"
ROW = "a,mine,H100-SXM,8,32,4096,32,2048,9000"


@pytest.mark.parametrize("verb", ["check", "add"])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param(f"{HEADER}\n{ROW}\rb,x\n", [":2: is not CSV", "carriage return"], id="a lone carriage return"),
        pytest.param(f"{HEADER}\r{ROW}\r", [":1: is not CSV", "carriage return"], id="line ends of an old Macintosh"),
        pytest.param(f"{HEADER}\n{ROW},{'x' * 200_000}\n", [":2: is not CSV", "131,072"], id="200,000 characters"),
        pytest.param(f'{HEADER}\n{ROW}\n"b{"x" * 200_000}\n', [":3: is not CSV", "131,072"], id="an open quote"),
        pytest.param(f"{HEADER}\n{ROW}\n".encode() + b"b\xff,x\n", ["is not UTF-8 text"], id="not UTF-8"),
        pytest.param("", [":1: the column id is missing"], id="empty"),
    ],
)
def test_a_wrong_table(planner: Any, tmp_path: Path, verb: str, text: str | bytes, words: list[str]) -> None:
    path = tmp_path / "mine.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    one_error(planner("evidence", verb, path), str(path), *words)


@pytest.mark.parametrize("command", ["evidence list", "accuracy"])
def test_a_wrong_table_of_the_workspace(planner: Any, tmp_path: Path, command: str) -> None:
    path = tmp_path / "planner-home" / "evidence" / "mine.csv"
    path.parent.mkdir(parents=True)
    path.write_text(f"{HEADER}\n{ROW}\rb\n")
    one_error(planner(*command.split()), f"{path}:2: is not CSV")


class TestWhatAnErrorQuotes:
    """A terminal must not be driven by a file, nor be filled by it."""

    def test_control_characters(self, planner: Any, tmp_path: Path) -> None:
        path = tmp_path / "prices.csv"
        path.write_text("provider,\x1b[2J\x07\x9bx\naws,1\n", encoding="utf-8")
        answer = planner("prices", "check", path)
        one_error(answer, r":1: \x1b[2J\x07\u009bx: no such column is known")
        assert not [letter for letter in answer.err if letter != "\n" and not letter.isprintable()]

    def test_a_name_without_end(self, planner: Any, plan_file: Any) -> None:
        answer = planner("estimate", plan_file(f'{{"{"x" * 100_000}": 1}}', "plan.json"))
        one_error(answer, "xxx...")
        assert max(map(len, answer.err.splitlines())) == LONGEST_LINE


@pytest.mark.parametrize(
    ("name", "command"),
    [
        pytest.param("hosts.yaml", "launch cpu-smoke --on host/a --dry-run", id="hosts"),
        pytest.param("budget.yaml", "launch cpu-smoke --on local --dry-run", id="budget"),
        pytest.param("settings.yaml", "runs list", id="settings"),
        pytest.param("defaults.yaml", "runs list", id="defaults"),
        pytest.param("sites/mine.yaml", "runs list", id="site"),
        pytest.param("tariffs/mine.yaml", "runs list", id="tariff"),
        pytest.param("workloads/mine.yaml", "runs list", id="workload"),
        pytest.param("price_book.yaml", "prices show --with-price-book", id="price book"),
    ],
)
def test_every_file_of_the_workspace_says_how_to_mend_it(planner: Any, tmp_path: Path, name: str, command: str) -> None:
    path = tmp_path / "planner-home" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("schema_version: 1\nnobodys: key\n", encoding="utf-8")
    one_error(planner(*command.split()), f"Error: {path}")
