"""A wrong table of measurements gets one clear error: line, what, and how to mend it."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from planner.adapters.workspace import catalogs_dir
from planner.errors import LONGEST_LINE
from tests.cli.refusals import one_error, replaced

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


@pytest.mark.slow
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


LIMIT = {"0001-01-01": "1990-01-01", "9999-12-31": "2100-12-31"}


class TestFiguresThatAreSlips:
    """A year, a count or a size that nothing real has: one error that names it."""

    @pytest.mark.parametrize("year", ["0001-01-01", "9999-12-31", "0000", "1989-12"])
    def test_the_year_of_a_measurement(self, planner: Any, tmp_path: Path, year: str) -> None:
        path = tmp_path / "mine.csv"
        path.write_text(f"{HEADER},source_date\n{ROW},{year}\n")
        one_error(
            planner("evidence", "check", path), f"{path}:2: source_date: must begin with a year from 1990 to 2100"
        )

    @pytest.mark.parametrize("day", LIMIT)
    @pytest.mark.parametrize("key", ["start", "deadline"])
    def test_a_day_of_a_plan(self, planner: Any, plan_file: Any, key: str, day: str) -> None:
        plan = plan_file(f"schema_version: 1\nname: x\ncampaign: {{{key}: {day}}}\n")
        one_error(planner("compare", plan), f"campaign.{key}: must be ", f"than or equal to {LIMIT[day]}")

    @pytest.mark.parametrize("day", LIMIT)
    @pytest.mark.parametrize("column", ["as_of", "valid_until", "fetched_at"])
    def test_a_day_of_a_price(self, planner: Any, tmp_path: Path, column: str, day: str) -> None:
        cells = {"provider": "us", "instance_type": "box", "region": "here", "price_kind": "on_demand"}
        cells |= {"usd_per_hour": "1", "source": "me", "as_of": "2026-11-20"} | {column: day}
        path = tmp_path / "prices.csv"
        path.write_text(f"{','.join(cells)}\n{','.join(cells.values())}\n")
        one_error(planner("prices", "check", path), f"{path}:2: {column}: must be ", f"than or equal to {LIMIT[day]} (")

    @pytest.mark.parametrize("epochs", ["1e18", "1000000000000000000"])
    def test_epochs(self, planner: Any, plan_file: Any, epochs: str) -> None:
        plan = plan_file(replaced("epochs: 10", f"epochs: {epochs}"))
        one_error(planner("compare", plan), "work.epochs: must be less than or equal to 1000000000")

    def test_trainings_whose_plan_takes_for_ever(self, planner: Any) -> None:
        answer = planner("ask", "gpt-305m", "--data", "1000x512", "--seq-len", "512", "--runs", str(2**31))
        one_error(answer, "campaign.runs: must be less than or equal to 100000000")

    @pytest.mark.parametrize(
        ("key", "value", "most"),
        [("image_size", 10**12, 100_000), ("image_size", 100_016, 100_000), ("layers", 10**6, 1000)],
    )
    def test_the_size_of_an_image_network(self, planner: Any, tmp_path: Path, key: str, value: int, most: int) -> None:
        vit = {"kind": "vit", "layers": 12, "hidden": 768, "heads": 12, "ffn_hidden": 3072, "patch_size": 16}
        path = tmp_path / "network.json"
        path.write_text(json.dumps({"architecture": {**vit, "image_size": 224, "classes": 1000, key: value}}))
        answer = planner("memory", path, "--on", "H100-SXM")
        one_error(answer, f"architecture.{key}: must be less than or equal to {most}")

    def test_the_image_of_a_model_s_configuration(self, planner: Any, tmp_path: Path) -> None:
        path = tmp_path / "config.json"
        path.write_text(json.dumps(VIT | {"image_size": 10**12}))
        one_error(planner("memory", path, "--on", "H100-SXM"), f"{path}: ", "image_size")


VIT = {
    "model_type": "vit", "hidden_size": 768, "image_size": 224, "intermediate_size": 3072, "num_attention_heads": 12,
    "num_channels": 3, "num_hidden_layers": 12, "patch_size": 16, "num_labels": 1000,
}  # fmt: skip


def test_a_header_with_100_000_columns_is_counted_once(planner: Any, tmp_path: Path) -> None:
    path = tmp_path / "prices.csv"
    path.write_text("provider," * 100_000 + "x\n")
    one_error(planner("prices", "check", path), f"{path}:1: x: no such column is known")


def test_a_node_of_an_accelerator_that_nobody_knows(planner: Any, tmp_path: Path) -> None:
    table = catalogs_dir() / "hardware" / "nodes.csv"
    path = tmp_path / "planner-home" / "hardware" / "nodes.csv"
    path.parent.mkdir(parents=True)
    path.write_text(table.read_text("utf-8").replace(",H100-SXM,", ",H1000,"), encoding="utf-8")
    words = ("there is no accelerator 'H1000'", "H100-SXM")
    one_error(planner("strategies", "gpt-305m", "--on", "aws/p5.48xlarge"), *words)


def test_a_result_without_the_length_of_its_samples(planner: Any, tmp_path: Path, result: Any) -> None:
    good = result()
    del good["spec"]["seq_len"]
    path = tmp_path / "result.json"
    path.write_text(json.dumps(good))
    one_error(planner("runs", "add", path), "spec", "seq_len is missing")


def test_a_ledger_whose_damage_has_no_letters(planner: Any, tmp_path: Path) -> None:
    path = tmp_path / "planner-home" / "ledger.sqlite"
    path.parent.mkdir(parents=True)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE launches (run_id TEXT)")
    path.write_bytes(path.read_bytes().replace(b"run_id TEXT)", b"run\xff\xfe TEXT("))
    one_error(planner("launches", "list"), f"{path}: the ledger cannot be used")
