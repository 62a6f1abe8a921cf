"""The verbs: the only place where the core meets files, clock and environment."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

from planner.adapters.catalog import accelerator_aliases, load_catalog
from planner.adapters.documents import (
    PLAN_LIMIT_BYTES,
    RECORD_LIMIT_BYTES,
    check_version,
    parse_mapping,
    parse_model,
    read_text,
)
from planner.adapters.files import write_text
from planner.adapters.run_store import FolderStore
from planner.adapters.workspace import templates_dir, workspace_dir
from planner.campaign.campaign import campaign_option
from planner.errors import InputError, NotFoundError
from planner.estimate.estimate_plan import estimate_plan
from planner.estimate.job import resolve_job
from planner.estimate.memory_question import MemoryQuestion, answer
from planner.estimate.scaling_table import scaling_table
from planner.model.answer import CampaignDocument, ComparisonDocument, EstimateDocument, MemoryDocument, SweepDocument
from planner.model.base import Frozen
from planner.model.catalog import Catalog
from planner.model.hardware import Accelerator
from planner.model.plan import Plan
from planner.model.run import RunRecord
from planner.model.workload import (
    QUICK_WINDOW,
    STANDARD_WINDOW,
    ArchitectureFile,
    BenchWorkload,
    Decoder,
    Precision,
    Preset,
)
from planner.recommend.compare import compare as compare_options

ASSUMED_OWN_KW = 0.2
"""What `planner init` writes for the machine of a run, for the reader to correct."""
ARCHITECTURE_FIX = "Write architecture (layers, hidden, heads, ...) and seq_len, as in catalogs/workloads/*.yaml."
LONGEST_OWN_NAME = 60
"""Of a workload, in characters; a record's id holds it."""
PLAN_FIX = "Write a commented example with: planner init"


def open_catalog(home: str | None = None) -> Catalog:
    """Return the bundled catalogs with the user's workspace layered on top."""
    return load_catalog(workspace_dir(home))


def read_plan(path: Path) -> Plan:
    """Read a plan file, YAML or JSON."""
    return parse_plan(read_text(path, limit_bytes=PLAN_LIMIT_BYTES, fix=PLAN_FIX), where=str(path))


def parse_plan(text: str, *, where: str) -> Plan:
    """Read a plan from text; `where` names it in errors."""
    data = parse_mapping(text, where=where, fix=PLAN_FIX)
    return parse_model(Plan, data, where=where, text=text, fix=PLAN_FIX)


def estimate(plan: Plan, catalog: Catalog) -> EstimateDocument:
    """Estimate one training on each option."""
    return estimate_plan(plan, catalog)


def campaign(plan: Plan, catalog: Catalog, *, today: date) -> CampaignDocument:
    """Run the plan's campaign on each option alone."""
    estimated = estimate_plan(plan, catalog)
    return CampaignDocument(
        plan=plan.name,
        assumptions=estimated.assumptions,
        runs=plan.campaign.runs,
        options=tuple(campaign_option(option, plan.campaign, catalog, today=today) for option in estimated.options),
    )


def compare(plan: Plan, catalog: Catalog, *, today: date) -> ComparisonDocument:
    """Rank the options under the plan's limits and recommend one."""
    return compare_options(campaign(plan, catalog, today=today), plan.campaign, today=today)


def memory(question: MemoryQuestion) -> MemoryDocument:
    """Estimate what one device must hold."""
    return answer(question)


def find_architecture(workload: str, catalog: Catalog) -> ArchitectureFile:
    """Return a preset by its name, or what a file describes: an architecture, a preset, or a plan's workload."""
    found = _find_workload(workload, catalog)
    return _of_preset(found) if isinstance(found, Preset) else found


def bench_workload(
    workload: str, catalog: Catalog, *, layers: int | None = None, seq_len: int | None = None
) -> BenchWorkload:
    """Return what the benchmark is to run: a preset by name or a file's network; cut to `layers`, if given."""
    found = _find_workload(workload, catalog)
    whole = found if isinstance(found, Preset) else _own_workload(found, Path(workload), catalog)
    if seq_len is not None:
        whole = whole.model_copy(update={"seq_len": seq_len})
    return whole if layers is None else whole.cut(layers=layers)


def _find_workload(workload: str, catalog: Catalog) -> Preset | ArchitectureFile:
    if workload in catalog.presets:
        return catalog.presets[workload]
    path = Path(workload)
    if path.suffix.lower() not in (".yaml", ".yml", ".json"):
        known = f"Known: {', '.join(sorted(catalog.presets))}; or give an architecture file, e.g. mine.yaml."
        raise NotFoundError("workload", workload, catalog.presets, fix=known)
    text = read_text(path, limit_bytes=PLAN_LIMIT_BYTES, fix=ARCHITECTURE_FIX)
    data = parse_mapping(text, where=workload, fix=ARCHITECTURE_FIX)
    if "options" in data:
        return _of_plan(parse_plan(text, where=workload), catalog, where=workload)
    if "window" in data:
        return parse_model(Preset, data, where=workload, text=text, fix=ARCHITECTURE_FIX)
    if "architecture" not in data:  # the architecture's keys may stand at the top
        own = {key: value for key, value in data.items() if key in Decoder.model_fields}
        data = {key: value for key, value in data.items() if key not in own} | {"architecture": own}
    return parse_model(ArchitectureFile, data, where=workload, text=text, fix=ARCHITECTURE_FIX)


def _own_workload(network: ArchitectureFile, path: Path, catalog: Catalog) -> BenchWorkload:
    """Name a network of one's own after its file, and never as a preset that is another network."""
    given = network.name or path.stem
    name = re.sub(r"[^A-Za-z0-9._]+", "-", given).strip("-._")[:LONGEST_OWN_NAME]
    if not name:
        raise InputError(f"{path}: name: '{given}' has no letter or digit of ASCII.", fix="Write name: my-model.")
    preset = catalog.presets.get(name)
    if preset is not None and preset.architecture != network.architecture:
        raise InputError(
            f"{path}: name: '{name}' is a preset with another architecture.", fix="Give the network another name."
        )
    return BenchWorkload(
        name=name,
        architecture=network.architecture,
        seq_len=network.seq_len,
        micro_batch=network.micro_batch,
        precision=network.precision,
        window=preset.window if preset else STANDARD_WINDOW,
        quick_window=preset.quick_window if preset else QUICK_WINDOW,
    )


def _of_preset(preset: Preset) -> ArchitectureFile:
    return ArchitectureFile(
        name=preset.name,
        architecture=preset.architecture,
        seq_len=preset.seq_len,
        micro_batch=preset.micro_batch,
        precision=preset.precision,
    )


def _of_plan(plan: Plan, catalog: Catalog, *, where: str) -> ArchitectureFile:
    job = resolve_job(plan, catalog)
    if job.decoder is None or job.seq_len is None:
        raise InputError(
            f"{where}: the network of its measured run is not known, so its memory cannot be counted.",
            fix=ARCHITECTURE_FIX,
        )
    return ArchitectureFile(
        name=plan.name,
        architecture=job.decoder,
        seq_len=job.seq_len,
        micro_batch=job.micro_batch or 1,
        precision=job.precision or Precision.BF16,
    )


def find_accelerator(name: str, catalog: Catalog) -> Accelerator:
    """Return an accelerator by its id, or by a name that drivers and clouds give it."""
    known = {key.casefold(): found for key, found in catalog.accelerators.items()}
    spelled = accelerator_aliases().get(name, name)
    found = known.get(spelled.casefold())
    if found is None:
        raise NotFoundError("accelerator", name, catalog.accelerators, fix="See catalogs/hardware/accelerators.csv")
    return found


def find_run(run_id: str, catalog: Catalog) -> RunRecord:
    """Return a run by id; `latest` is the newest run of the workspace."""
    if run_id == "latest":
        return newest_run(catalog)
    return catalog.find_run(run_id)


def scaling(run_ids: Sequence[str], catalog: Catalog) -> SweepDocument:
    """Put measured runs of one workload into a table of speed-up and efficiency."""
    return scaling_of([find_run(run_id, catalog) for run_id in run_ids])


def scaling_of(records: Sequence[RunRecord]) -> SweepDocument:
    """Put a series of records into a table of speed-up and efficiency."""
    return scaling_table(records)


def newest_run(catalog: Catalog) -> RunRecord:
    """Return the workspace's newest run by the date and time in its id."""
    own = [run for run in catalog.runs.values() if run.id not in catalog.bundled_runs]
    if not own:
        raise InputError("the workspace holds no runs yet.", fix="Measure this machine with: planner bench cpu-smoke")
    return max(own, key=lambda run: (run.throughput.as_of or date.min, run.id.rsplit("-", 2)[-2:]))


def store_run(record: RunRecord, home: str | None = None) -> Path:
    """Write a record to the workspace, refusing an id that a bundled run has."""
    return store_runs([record], home)[0]


def store_runs(records: Sequence[RunRecord], home: str | None = None) -> list[Path]:
    """Write records to the workspace; all ids are checked before the first is written."""
    bundled = load_catalog().runs
    taken = next((record.id for record in records if record.id in bundled), None)
    if taken is not None:
        raise InputError(f"a bundled run already has the id '{taken}'.", fix="Give the record another id.")
    store = FolderStore(workspace_dir(home) / "runs")
    for record in records:
        store.check(record)
    return [store.add(record) for record in records]


def read_run_file(path: Path) -> dict[str, Any]:
    """Read a RunRecord or a benchmark result as plain data; the caller tells them apart by `kind`."""
    fix = "Give a run record, or the result.json that the benchmark wrote."
    data = parse_mapping(read_text(path, limit_bytes=RECORD_LIMIT_BYTES, fix=fix), where=str(path), fix=fix)
    check_version(data, where=str(path))
    return data


def parse_run(data: dict[str, Any], *, where: str) -> RunRecord:
    """Validate a RunRecord."""
    return parse_model(RunRecord, data, where=where, fix="See the schema with: planner schema run")


def write_report(comparison: ComparisonDocument, path: Path) -> Path:
    """Write the answer as HTML, Markdown or CSV, by the file's ending."""
    from planner.present import report
    from planner.present.charts import chart_svg

    ending = path.suffix.lower()
    if ending in (".html", ".htm"):
        text = report.as_html(comparison, chart_svg(comparison))
    elif ending == ".md":
        text = report.as_markdown(comparison)
    elif ending == ".csv":
        text = report.as_csv(comparison)
    else:
        raise InputError(
            f"{path}: a report is written as .html, .md or .csv.", fix="Give the file one of these endings."
        )
    write_text(path, text)
    return path


def schema_text(name: str) -> str:
    """Return the JSON Schema of a plan or a run, as it is committed under `catalogs/schemas/`."""
    models: dict[str, type[Frozen]] = {"plan": Plan, "run": RunRecord}
    model = models.get(name)
    if model is None:
        raise NotFoundError("schema", name, models, fix=f"Known: {', '.join(models)}")
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema"} | model.model_json_schema()
    return json.dumps(schema, indent=1, sort_keys=True) + "\n"


def new_plan(catalog: Catalog, *, measured: str | None) -> str:
    """Return a commented plan file; with `measured`, that run's machine is the first of its options."""
    text = (templates_dir() / "plan.yaml").read_text(encoding="utf-8")
    if measured is None:
        return text
    run = find_run(measured, catalog)
    machine = run.environment.get("machine") or run.hardware.accelerator
    return text.replace(
        "options:\n",
        f"options:\n  # {machine}: the machine of your own run. What it draws is assumed: put your figure.\n"
        f"  - {{run: {run.id}, power_kw: {ASSUMED_OWN_KW}}}\n",
        1,
    )


def catalog_counts(catalog: Catalog) -> dict[str, int]:
    """Count what the catalog holds."""
    return {
        "accelerators": len(catalog.accelerators),
        "nodes": len(catalog.nodes),
        "prices": len(catalog.prices),
        "sites": len(catalog.sites),
        "workloads": len(catalog.presets),
        "bundled runs": len(catalog.bundled_runs),
        "own runs": len(catalog.runs) - len(catalog.bundled_runs),
    }
