"""Output of the commands: the shape of every JSON document, exit codes, and which stream a word goes to."""

from __future__ import annotations

import io
import json
import sys
from typing import Any

import jsonschema
import pytest
import yaml

from planner.adapters.mapping_text import parse_mapping
from planner.adapters.workspace import catalogs_dir, examples_dir
from planner.cli.main import main

EXAMPLES = sorted(path.stem for path in examples_dir().glob("*.yaml"))
QUANTITY = {"value", "low", "high", "unit", "basis", "source", "as_of"}
UNITS = {
    "h", "s", "USD", "USD/h", "USD/kWh", "USD/M tokens", "kW", "kWh", "samples/s", "tokens/s", "GiB", "ratio", "days",
}  # fmt: skip
BASES = {"measured", "quoted", "modelled", "assumed"}
OF_THE_ISSUE = [
    "id",
    "offer",
    "site",
    "region",
    "price_kind",
    "nodes",
    "accelerators",
    "accelerator",
    "fits",
    "strategy",
    "split",
    "micro_batch",
    "throughput",
    "epoch_hours",
    "training_hours",
    "usd_per_epoch",
    "usd_total",
    "usd_marginal",
    "smallest_purchase_usd",
    "energy_kwh",
    "why_not",
]
ADDED = [
    "name",
    "checkpointing",
    "usd_per_hour",
    "price_age_days",
    "price_stale",
    "usd_per_million_tokens",
    "list_usd_per_hour",
    "list_usd_per_million_tokens",
    "time",
    "power_kw",
    "rated_kw",
    "bill",
    "carbon_kg",
    "not_allowed",
    "runs",
    "doubts",
    "notes",
    "why_not_codes",
    "reasons",
]
OF_A_CAMPAIGN = ["owning", "at_once", "campaign_hours", "campaign_usd", "finish", "meets_deadline", "within_budget"]
OF_A_COMPARISON = ["rank", "pareto"]
ANSWERS = ("throughput", "epoch_hours", "training_hours", "usd_per_epoch", "usd_total", "usd_marginal", "energy_kwh")

KOREAN_STEP = {"batch": 128, "seconds": 1.0, "basis": "assumed", "source": "동료의 말"}


def is_quantity(value: Any) -> bool:
    return isinstance(value, dict) and "value" in value and "basis" in value


def dated(plan: dict[str, Any]) -> dict[str, Any]:
    """Return the plan as JSON holds it: dates as text."""
    return json.loads(json.dumps(plan, default=str))


def validator(schema: dict[str, Any]) -> jsonschema.Draft202012Validator:
    """Return a validator that does not check the schema itself each time: test_it_is_a_schema does."""
    return jsonschema.Draft202012Validator(schema)


class TestAnswers:
    @pytest.mark.parametrize("name", EXAMPLES)
    @pytest.mark.parametrize(
        ("command", "kind", "top", "keys"),
        [
            pytest.param("estimate", "estimate", [], OF_THE_ISSUE + ADDED, id="estimate"),
            pytest.param("campaign", "campaign", ["runs"], OF_THE_ISSUE + ADDED + OF_A_CAMPAIGN, id="campaign"),
            pytest.param(
                "compare",
                "comparison",
                [
                    "runs",
                    "deadline",
                    "deadline_hours",
                    "budget_usd",
                    "recommended",
                    "nearest",
                    "sentence",
                    "headline",
                    "switching_rates",
                ],
                OF_THE_ISSUE + ADDED + OF_A_CAMPAIGN + OF_A_COMPARISON,
                id="compare",
            ),
        ],
    )
    def test_the_keys_that_programs_rely_on_stay(self, planner, example, name, command, kind, top, keys):
        document = planner(command, example(name), "--json").document
        assert next(iter(document)) == "schema_version"
        assert document["schema_version"] == 1
        assert document["kind"] == kind
        assert {"schema_version", "kind", "plan", "currency", "assumptions", "options", *top} <= set(document)
        assert document["plan"] == yaml.safe_load(example(name).read_text("utf-8"))["name"]
        for option in document["options"]:
            assert set(keys) <= set(option), option["id"]
            assert (option["why_not"] is None) is (option["why_not_codes"] == []), option["id"]

    @pytest.mark.parametrize("name", EXAMPLES)
    def test_a_quantity_says_how_it_is_known(self, planner, example, name):
        document = planner("campaign", example(name), "--json").document
        found = [value for option in document["options"] for value in option.values() if is_quantity(value)]
        found += [line["usd"] for option in document["options"] if option["bill"] for line in option["bill"]["lines"]]
        found += [assumption["quantity"] for assumption in document["assumptions"]]
        assert found
        for quantity in found:
            assert set(quantity) == QUANTITY
            assert quantity["unit"] in UNITS
            assert quantity["basis"] in BASES
            assert quantity["low"] <= quantity["value"] <= quantity["high"]
            assert all(type(quantity[part]) is float for part in ("value", "low", "high"))

    @pytest.mark.parametrize(
        ("key", "unit"),
        [
            ("throughput", "samples/s"),
            ("epoch_hours", "h"),
            ("training_hours", "h"),
            ("usd_per_epoch", "USD"),
            ("usd_total", "USD"),
            ("usd_marginal", "USD"),
            ("energy_kwh", "kWh"),
            ("campaign_hours", "h"),
            ("campaign_usd", "USD"),
        ],
    )
    def test_a_name_carries_its_unit(self, planner, example, key, unit):
        options = planner("campaign", example("dgx_station_v100"), "--json").document["options"]
        assert {option[key]["unit"] for option in options if option[key]} == {unit}

    @pytest.mark.parametrize("name", EXAMPLES)
    def test_null_has_its_reason(self, planner, example, name):
        for option in planner("estimate", example(name), "--json").document["options"]:
            if any(option[key] is None for key in ANSWERS):
                of_a_service = any("nothing is known of its machines" in note for note in option["notes"])
                assert option["why_not"] or of_a_service, option["id"]

    def test_ids_are_unique_also_where_two_options_are_the_same(self, planner, changed):
        plan = changed("local_pc", only=[0, 0, 1])
        ids = [option["id"] for option in planner("estimate", plan, "--json").document["options"]]
        assert len(set(ids)) == len(ids) == 3

    def test_a_model_that_does_not_fit_says_what_it_lacks(self, planner, changed):
        plan = changed("gpu_guide_llama3_8b", {"options": [{"site": "pc-rtx4090"}]})
        option = planner("estimate", plan, "--json").document["options"][0]
        assert option["fits"] is False
        assert option["training_hours"] is None
        assert "GiB" in option["why_not"]

    def test_a_json_plan_is_read_like_a_yaml_plan(self, planner, example, tmp_path):
        path = tmp_path / "plan.json"
        path.write_text(json.dumps(dated(yaml.safe_load(example("dgx_station_v100").read_text("utf-8")))), "utf-8")
        assert planner("campaign", path, "--json").out == planner("campaign", example("dgx_station_v100"), "--json").out

    @pytest.mark.parametrize(
        ("arguments", "encoding"),
        [
            (["estimate", "--json"], "ascii"),
            (["estimate", "--json"], "cp949"),
            (["estimate", "--format", "csv"], "ascii"),
            (["report"], "latin-1"),
        ],
    )
    def test_a_stream_without_korean_does_not_stop_the_answer(self, changed, monkeypatch, arguments, encoding):
        name = "A100 대 H200"
        plan = changed("local_pc", {"name": name, "options.0.step": KOREAN_STEP})
        out = io.TextIOWrapper(io.BytesIO(), encoding=encoding)  # strict, as Python's own stdout is
        monkeypatch.setattr(sys, "stdout", out)
        with pytest.raises(SystemExit) as ended:
            main([arguments[0], str(plan), *arguments[1:]])
        assert ended.value.code == 0
        written = out.buffer.getvalue().decode(encoding)
        assert written
        if "--json" in arguments:
            assert json.loads(written)["plan"] == name

    def test_a_name_in_korean_comes_back(self, planner, changed):
        name = "A100 대 H200"
        assert planner("estimate", changed("local_pc", {"name": name}), "--json").document["plan"] == name


class TestRuns:
    def test_the_list_holds_the_bundled_runs_and_the_own(self, planner, own_run):
        planner("runs", "add", own_run("mine"))
        document = planner("runs", "list", "--json").document
        assert (next(iter(document)), document["schema_version"]) == ("schema_version", 1)
        origins = {run["id"]: run["origin"] for run in document["runs"]}
        bundled = {path.stem for path in (catalogs_dir() / "runs").glob("*.json")}
        assert {run_id for run_id, origin in origins.items() if origin == "catalog"} == bundled
        assert {run_id for run_id, origin in origins.items() if origin == "store"} == {"mine"}

    def test_a_measured_throughput_keeps_its_basis_and_document(self, planner):
        run = planner("runs", "show", "seed-004-p5e-h200").document
        assert next(iter(run)) == "schema_version"
        assert run["throughput"]["basis"] == "measured"
        assert "004" in run["document"]

    def test_every_shown_run_keeps_the_schema(self, planner):
        schema = validator(planner("schema", "run").document)
        for run in planner("runs", "list", "--json").document["runs"]:
            schema.validate(planner("runs", "show", run["id"]).document)

    def test_an_own_run_answers_a_plan(self, planner, own_run, changed):
        planner("runs", "add", own_run("mine", workload="mine"))
        answer = planner("estimate", changed("dgx_station_v100", {"workload.measured": "mine"}), "--json")
        assert answer.option("dgx-station-v100")["runs"] == ["mine"]

    @pytest.mark.parametrize("form", ["tsv", "csv"])
    def test_an_export_as_a_table_holds_the_own_runs_alone(self, planner, own_run, form):
        planner("runs", "add", own_run("mine"))
        lines = planner("runs", "export", "--format", form).out.splitlines()
        assert len(lines) == 2
        assert lines[1].startswith("mine")


class TestSchemas:
    @pytest.mark.parametrize("name", ["plan", "run", "site", "tariff"])
    def test_the_committed_schema_is_current(self, planner, name):
        committed = (catalogs_dir() / "schemas" / f"{name}.schema.json").read_text("utf-8")
        assert planner("schema", name).out == committed, "run: make schemas"

    @pytest.mark.parametrize("name", ["plan", "run", "site", "tariff"])
    def test_it_is_a_schema(self, planner, name):
        jsonschema.Draft202012Validator.check_schema(planner("schema", name).document)

    @pytest.mark.parametrize("name", EXAMPLES)
    def test_the_examples_keep_it(self, planner, example, name):
        plan = dated(yaml.safe_load(example(name).read_text("utf-8")))
        validator(planner("schema", "plan").document).validate(plan)

    @pytest.mark.parametrize("name", ["site", "tariff"])
    def test_the_bundled_sites_and_tariffs_keep_it(self, planner, name):
        schema = validator(planner("schema", name).document)
        for path in (catalogs_dir() / f"{name}s").glob("*.yaml"):
            schema.validate(dated(yaml.safe_load(path.read_text("utf-8"))))

    def test_the_bundled_runs_keep_it(self, planner):
        schema = validator(planner("schema", "run").document)
        for path in (catalogs_dir() / "runs").glob("*.json"):
            schema.validate(json.loads(path.read_text("utf-8")))

    @pytest.mark.parametrize(
        "change",
        [
            pytest.param({"work": {"epochs": -1, "samples_per_epoch": 5}}, id="negative"),
            pytest.param({"workloads": {}}, id="unknown key"),
            pytest.param({"schema_version": 2}, id="newer version"),
            pytest.param({"options": []}, id="no options"),
        ],
    )
    def test_it_refuses_what_the_planner_refuses(self, planner, example, change):
        plan = dated(yaml.safe_load(example("local_pc").read_text("utf-8"))) | change
        with pytest.raises(jsonschema.ValidationError):
            validator(planner("schema", "plan").document).validate(plan)

    def test_the_plan_that_init_writes_keeps_it_and_answers(self, planner, tmp_path):
        path = tmp_path / "plan.yaml"
        assert planner("init", path).code == 0
        plan = parse_mapping(path.read_text("utf-8"), where=str(path))
        validator(planner("schema", "plan").document).validate(dated(plan))
        assert planner("compare", path, "--json").code == 0

    def test_init_overwrites_nothing_unasked(self, planner, tmp_path):
        path = tmp_path / "plan.yaml"
        path.write_text("mine", encoding="utf-8")
        assert planner("init", path).code == 2
        assert path.read_text("utf-8") == "mine"
        assert planner("init", path, "--force").code == 0
