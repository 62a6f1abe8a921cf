"""`planner bench` of a cut, of a network of one's own, and over several counts; `planner runs scaling`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from planner.decide.options.estimate_plan import estimate_plan
from planner.errors import NodeError, StoreError
from planner.launcher.bench.bench_settings import BenchSettings
from planner.model.evidence.run import RunRecord
from planner.model.network.workload import QUICK_WINDOW, BenchWorkload
from planner.model.plan.plan import Plan
from planner.model.quantity import Basis
from planner.use_cases import networks, runs
from tests.bundled import bundled_catalog

NETWORK = {
    "architecture": {
        "layers": 3,
        "hidden": 64,
        "heads": 2,
        "kv_heads": 1,
        "head_dim": 32,
        "ffn_hidden": 128,
        "mlp": "swiglu",
        "norm": "rmsnorm",
        "positions": "rope",
        "max_positions": 128,
        "vocab": 512,
        "tied_head": True,
    },
    "seq_len": 64,
    "micro_batch": 2,
    "precision": "fp32",
}
ROW = {"accelerators", "nodes", "run", "throughput", "throughput_per_accelerator", "speedup", "efficiency"}
RATES = {1: 10.0, 2: 19.0, 4: 36.0}


@pytest.fixture
def mine(tmp_path: Path) -> Callable[..., Path]:
    """Write an architecture file of one's own."""

    def write(**changes: Any) -> Path:
        path = tmp_path / "mine.yaml"
        path.write_text(yaml.safe_dump(NETWORK | changes), encoding="utf-8")
        return path

    return write


class SweepBench:
    """Stands for the benchmark: notes what it was asked, and answers with a rate for the count."""

    def __init__(self) -> None:
        self.asked: list[tuple[BenchWorkload, BenchSettings]] = []
        self.rates = dict(RATES)

    def __call__(self, workload: BenchWorkload, settings: BenchSettings, **_: Any) -> RunRecord:
        self.asked.append((workload, settings))
        devices = settings.devices
        if devices not in self.rates:
            raise NodeError(f"{devices} processes do not start here.")
        template = bundled_catalog().runs["seed-003-rtx3090-ddp-x1"]
        rate = self.rates[devices]
        return template.model_copy(
            update={
                "id": f"fake-x{devices}",
                "workload": workload.name,
                "architecture": workload.architecture,
                "seq_len": workload.seq_len,
                "hardware": template.hardware.model_copy(update={"accelerators_per_node": devices}),
                "micro_batch": settings.micro_batch or (16 if settings.search_micro_batch else workload.micro_batch),
                "throughput": template.throughput.model_copy(update={"value": rate, "low": rate, "high": rate}),
                "note": workload.note,
                "document": None,
            }
        )


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> SweepBench:
    stand_in = SweepBench()
    monkeypatch.setattr("planner.launcher.bench.bench.benchmark", stand_in)
    return stand_in


@pytest.mark.slow
def test_a_cut_of_a_network_of_ones_own_on_one_and_two_processes(
    planner: Any, mine: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    blink = {"min_warmup_s": 0.0, "max_warmup_s": 1.0, "min_s": 0.3, "max_s": 2.0}
    monkeypatch.setattr(networks, "QUICK_WINDOW", QUICK_WINDOW.model_copy(update=blink))
    answer = planner("bench", mine(), "--layers", "1", "--seq-len", "32", "--sweep-gpus", "2,1", "--quick", "--json")
    assert answer.code == 0, answer.err
    sweep = answer.document
    assert (sweep["schema_version"], sweep["kind"], sweep["workload"]) == (1, "sweep", "mine-1layer")
    assert [row["accelerators"] for row in sweep["rows"]] == [1, 2]
    assert sweep["rows"][0]["efficiency"] == 1
    for row in sweep["rows"]:
        record = planner("runs", "show", row["run"]).document
        assert record["throughput"] == row["throughput"]
        assert (record["architecture"]["layers"], record["seq_len"], record["micro_batch"]) == (1, 32, 2)
        assert "A cut of mine to 1 of its 3 layers" in record["note"]
    again = planner("runs", "scaling", *(row["run"] for row in sweep["rows"]), "--json")
    assert again.document == sweep


def test_a_series_gives_one_record_each_and_one_table(planner: Any, bench: SweepBench) -> None:
    answer = planner("bench", "gpt-305m", "--sweep-gpus", "1,2,4", "--json")
    sweep = answer.document
    assert [set(row) for row in sweep["rows"]] == [ROW] * 3
    assert [row["speedup"] for row in sweep["rows"]] == pytest.approx([1.0, 1.9, 3.6])
    assert [row["efficiency"] for row in sweep["rows"]] == pytest.approx([1.0, 0.95, 0.9])
    assert [row["throughput"]["unit"] for row in sweep["rows"]] == ["samples/s"] * 3
    stored = sorted(path.stem for path in (Path(os.environ["PLANNER_HOME"]) / "runs").glob("*.json"))
    assert stored == ["fake-x1", "fake-x2", "fake-x4"]

    table = planner("runs", "scaling", *stored, "--format", "tsv").out.splitlines()
    assert table[0].split("\t")[:4] == ["accelerators", "throughput", "speed-up", "efficiency"]
    assert [line.split("\t")[2:4] for line in table[1:]] == [["1.00x", "100 %"], ["1.90x", "95 %"], ["3.60x", "90 %"]]


def test_the_micro_batch_is_searched_once_so_that_all_counts_have_the_same(planner: Any, bench: SweepBench) -> None:
    assert planner("bench", "gpt-305m", "--sweep-gpus", "2,1", "--micro-batch", "auto").code == 0
    assert [(asked.devices, asked.search_micro_batch, asked.micro_batch) for _, asked in bench.asked] == [
        (1, True, None),
        (2, False, 16),
    ]


def test_better_than_perfect_is_a_doubt_in_words(planner: Any, bench: SweepBench) -> None:
    bench.rates[2] = 22.0
    answer = planner("bench", "gpt-305m", "--sweep-gpus", "1,2", "--json")
    assert answer.code == 0
    assert "2 accelerators each do 110% of what each of 1 does" in answer.document["doubts"][0]
    assert "Doubt: fake-x2: 2 accelerators" in answer.err


@pytest.mark.parametrize(("rate", "doubted"), [(22.0, True), (20.9, False)], ids=["110 %", "104.5 %"])
def test_the_record_itself_says_that_it_scales_too_well(
    planner: Any, bench: SweepBench, rate: float, doubted: bool
) -> None:
    bench.rates[2] = rate
    assert planner("bench", "gpt-305m", "--sweep-gpus", "1,2").code == 0
    verdict = planner("runs", "show", "fake-x2").document["verdict"]
    assert [problem for problem in verdict if "2 accelerators each do 110%" in problem] == verdict[-1:] * doubted


def test_what_was_measured_before_a_failure_is_kept(planner: Any, bench: SweepBench) -> None:
    answer = planner("bench", "gpt-305m", "--sweep-gpus", "1,2,8")
    assert answer.code == 4
    assert "8 processes do not start here" in answer.err
    assert len(list((Path(os.environ["PLANNER_HOME"]) / "runs").glob("*.json"))) == 2


def test_a_record_that_cannot_be_stored_is_still_told(
    planner: Any, bench: SweepBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> Path:
        raise StoreError("the disk is full.")

    monkeypatch.setattr(runs, "store_run", full)
    answer = planner("bench", "gpt-305m", "--gpus", "1")
    assert answer.code == 2
    told = next(line for line in answer.err.splitlines() if "could not be stored" in line)
    assert json.loads(told[told.index("{") :])["id"] == "fake-x1"


def test_too_many_devices_are_refused_before_the_first_is_measured(
    planner: Any, bench: SweepBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("planner.launcher.bench.local.cuda_devices", lambda: 4)
    answer = planner("bench", "gpt-305m", "--sweep-gpus", "1,2,4,8")
    assert answer.code == 2
    assert "wants 8 devices and this machine has 4" in answer.err
    assert bench.asked == []


def test_the_bundled_series_prints_what_its_report_printed(planner: Any) -> None:
    """GPU cluster report (document 003), ZeRO-2: 1.00, 1.14, 1.32, 2.16, 1.91x; 57, 33, 27, 19 %."""
    ids = [f"seed-003-rtx3090-zero2-x{count}" for count in (1, 2, 4, 8, 10)]
    rows = [line.split("\t") for line in planner("runs", "scaling", *ids, "--format", "tsv").out.splitlines()[1:]]
    assert [row[2] for row in rows] == ["1.00x", "1.14x", "1.32x", "2.16x", "1.91x"]
    assert [row[3] for row in rows] == ["100 %", "57 %", "33 %", "27 %", "19 %"]


def test_a_cut_is_labelled_and_keeps_all_else(planner: Any, bench: SweepBench) -> None:
    answer = planner("bench", "llama3-8b", "--layers", "4", "--gpus", "1", "--json")
    record = answer.document
    whole = bundled_catalog().presets["llama3-8b"]
    assert record["workload"] == "llama3-8b-4layers"
    assert record["architecture"] == whole.architecture.model_dump(mode="json") | {"layers": 4}
    assert "A cut of llama3-8b to 4 of its 32 layers" in record["note"]
    assert "no measurement of llama3-8b" in answer.err


@pytest.mark.parametrize("renamed", ["llama3-8b-4layers", "llama3-8b"])
def test_a_cut_never_answers_for_the_whole(planner: Any, bench: SweepBench, renamed: str) -> None:
    """Not even under the whole network's name: evidence matches the architecture."""
    document = planner("bench", "llama3-8b", "--layers", "4", "--gpus", "1", "--json").document
    catalog = bundled_catalog()
    site = catalog.sites["rtx3090-x10"]
    assert site is not None
    record = RunRecord.model_validate(document | {"workload": renamed, "precision": "bf16", "strategy": "fsdp2"})
    plan = {
        "schema_version": 1,
        "name": "test",
        "work": {"tokens": 1e9},
        "training": {"strategy": "fsdp2", "precision": "bf16"},
        "options": [{"site": "rtx3090-x10", "accelerators": 1}],
    }
    with_cut = catalog.model_copy(update={"runs": catalog.runs | {record.id: record}})
    (whole,) = estimate_plan(Plan.model_validate(plan | {"workload": {"ref": "llama3-8b"}}), with_cut).options
    assert whole.throughput is None or whole.throughput.basis is not Basis.MEASURED
    (cut,) = estimate_plan(Plan.model_validate(plan | {"workload": {"measured": record.id}}), with_cut).options
    assert cut.throughput is not None  # of itself it is a measurement
    assert cut.throughput.basis is Basis.MEASURED


def test_a_network_of_ones_own_is_named_after_its_file_and_measured_as_long_as_any(
    planner: Any, bench: SweepBench, mine: Callable[..., Path]
) -> None:
    assert planner("bench", mine(), "--gpus", "1").code == 0
    assert planner("bench", mine(name="my model, v2"), "--gpus", "2", "--seq-len", "128").code == 0
    (first, _), (second, _) = bench.asked
    assert (first.name, first.seq_len, first.micro_batch, first.precision) == ("mine", 64, 2, "fp32")
    assert (second.name, second.seq_len) == ("my-model-v2", 128)
    assert first.window == bundled_catalog().presets["gpt-305m"].window


def test_a_presets_file_is_the_preset(planner: Any, bench: SweepBench, tmp_path: Path) -> None:
    preset = bundled_catalog().presets["cpu-smoke"]
    path = tmp_path / "any.json"
    path.write_text(preset.model_dump_json(), encoding="utf-8")
    assert planner("bench", path, "--gpus", "1").code == 0
    assert bench.asked[0][0] == preset


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["cpu-smoke", "--layers", "2"], "2 would be no cut", id="all layers"),
        pytest.param(["cpu-smoke", "--layers", "0"], "--layers is 0", id="no layers"),
        pytest.param(["cpu-smoke", "--seq-len", "0"], "--seq-len is 0", id="no tokens"),
        pytest.param(["cpu-smoke", "--gpus", "1", "--seq-len", "256"], "longer than architecture", id="too long"),
        pytest.param(["cpu-smoke", "--sweep-gpus", "1"], "one count is not a series", id="one count"),
        pytest.param(["cpu-smoke", "--sweep-gpus", "1,2;4"], "not a list of numbers", id="no numbers"),
        pytest.param(["cpu-smoke", "--sweep-gpus", "0,2"], "--sweep-gpus is 0", id="no device"),
        pytest.param(["cpu-smoke", "--sweep-gpus", "1,2", "--gpus", "2"], "both say how many", id="both"),
        pytest.param(["nowhere.yaml"], "no such file", id="no file"),
        pytest.param(["cpu-smoke", "--lora-rank", "4"], "--method full trains all weights", id="a rank without lora"),
        pytest.param(["cpu-smoke", "--lora-targets", "up"], "--method full trains all", id="targets without lora"),
        pytest.param(["cpu-smoke", "--data-dtype", "uint32"], "of token shards, and none", id="a type of no data"),
    ],
)
def test_wrong_usage(planner: Any, arguments: list[str], message: str) -> None:
    answer = planner("bench", *arguments)
    assert answer.code == 2
    assert message in answer.err


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param({"name": "llama3-8b"}, "is a preset with another architecture", id="a preset's name"),
        pytest.param({"name": "..."}, "no ASCII letter or digit", id="no name"),
        pytest.param({"seq_len": "long"}, "seq_len", id="no number"),
    ],
)
def test_a_wrong_file(planner: Any, mine: Callable[..., Path], changes: dict[str, Any], message: str) -> None:
    answer = planner("bench", mine(**changes), "--gpus", "1", "--json")
    assert answer.code == 2
    assert message in json.loads(answer.out)["error"]["message"] + answer.err
