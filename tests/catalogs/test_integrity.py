"""Every row of every catalog: positive, sourced, dated, joined to its neighbours; nothing the guide names is missing.

Expected figures come from the source documents and vendors' data sheets, never from the catalogs themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

import pytest
from pydantic import BaseModel

from planner.adapters.catalog import ALIASES, Alias
from planner.adapters.csv_rows import read_rows
from planner.adapters.documents import read_model
from planner.adapters.workspace import catalogs_dir, examples_dir
from planner.cost.ownership.resolve_site import resolve_site
from planner.cost.ownership.resolved_site import ResolvedSite
from planner.model.evidence.run import RunRecord
from planner.model.figure import Figure
from planner.model.hardware.machines import Accelerator, Link, Node
from planner.model.network.workload import Preset
from planner.model.owning.site import Site
from planner.model.plan.plan import Plan
from planner.model.prices.service import ServiceRate
from planner.model.quantity import Basis, Unit
from planner.network.flops import parameters
from planner.speed.physics.accelerator_facts import generation_of
from tests.bundled import bundled_catalog
from tests.every_row import every

CATALOG = bundled_catalog()
PLAN = read_model(Plan, examples_dir() / "local_pc.yaml")

ACCELERATORS = list(CATALOG.accelerators.items())
NODES = list(CATALOG.nodes.items())
SITES = list(CATALOG.sites.items())
STORAGE = list(CATALOG.storage.items())
CONVERGENCE = list(CATALOG.convergence.items())
PRESETS = list(CATALOG.presets.items())
RUNS = list(CATALOG.runs.items())
SERVICES = [(f"{row.provider} {row.service}", row) for row in CATALOG.services]
FILES = [
    (str(path.relative_to(catalogs_dir())), path)
    for path in sorted(catalogs_dir().rglob("*"))
    if path.suffix in {".csv", ".yaml", ".json"}
]


# Every row


@every(FILES)
def test_a_file_is_plain_ascii_and_ends_with_one_newline(path):
    text = path.read_bytes()
    assert text.isascii()
    assert text.endswith(b"\n")
    assert not text.endswith(b"\n\n")


@every([*ACCELERATORS, *NODES, *SITES, *PRESETS, *STORAGE, *CONVERGENCE])
def test_a_row_says_where_it_comes_from_and_when_it_was_read(row):
    assert len(row.source) > 5
    assert 2017 <= row.as_of.year <= 2026


@every(ACCELERATORS)
def test_an_accelerator_has_memory_and_bandwidth_or_is_a_plain_processor(row: Accelerator):
    if row.id == "CPU":
        assert row.hbm_gib is None
        assert row.fp32_tflops is None
    else:
        assert row.hbm_gib is not None
        assert row.hbm_gb_per_s is not None


@every(ACCELERATORS)
def test_a_narrower_format_is_never_slower(row: Accelerator):
    chain = [row.fp32_tflops, row.tf32_tflops, row.bf16_tflops, row.fp8_tflops]
    known = [peak for peak in chain if peak is not None]
    assert known == sorted(known)
    if row.fp16_tflops is not None and row.bf16_tflops is not None:
        slower = 2 if row.architecture == "CDNA" else 1
        assert row.fp16_tflops == slower * row.bf16_tflops, "with fp32 accumulation both run at one rate, save on MI100"


@every(ACCELERATORS)
def test_an_accelerator_says_how_its_numbers_are_got_wrong(row: Accelerator):
    assert row.trap is not None
    assert row.trap.endswith(".")


@every(ACCELERATORS)
def test_pascal_and_volta_say_which_software_leaves_them(row: Accelerator):
    old = row.architecture in {"Pascal", "Volta"}
    assert (row.support_ended is not None) == old
    if old:
        assert "CUDA 12.6" in row.support_ended, "must say which build to take instead"


@every(ACCELERATORS)
def test_the_physics_knows_the_generation_of_an_accelerator(row: Accelerator):
    """A misspelt architecture would silently be computed with the constants of an unknown generation."""
    if row.architecture not in {"CPU", "Da Vinci", "RDNA3"}:
        assert generation_of(row) != "other", row.architecture


def test_an_alias_stands_once_and_means_a_known_accelerator():
    rows = read_rows(Alias, catalogs_dir() / ALIASES)
    names = [row.name for row in rows]
    assert [name for name in names if names.count(name) > 1] == []
    assert {row.accelerator for row in rows} <= CATALOG.accelerators.keys()


@every(NODES)
def test_a_node_carries_a_known_accelerator(row: Node):
    assert row.accelerator in CATALOG.accelerators


@every(NODES)
def test_a_node_has_a_link_exactly_where_it_has_two_accelerators(row: Node):
    assert (row.link is Link.SINGLE) == (row.accelerators == 1)


@every(NODES)
def test_nvlink_joins_only_accelerators_that_have_it(row: Node):
    if row.link in {Link.NVLINK, Link.NVSWITCH}:
        accelerator = CATALOG.accelerators[row.accelerator]
        assert accelerator.vendor == "NVIDIA"
        assert accelerator.link_gb_per_s is not None


@every(NODES)
def test_a_cloud_node_has_a_price_or_says_why_not_and_an_owned_one_has_none(row: Node):
    assert ("/" in row.id) == any(price.node == row.id for price in CATALOG.prices)


@every(SITES)
def test_a_site_stands_on_a_known_node_and_its_power_is_known(row: Site):
    node = CATALOG.nodes[row.node]
    assert row.power is not None or node.rated_kw is not None
    if row.power is not None:
        assert row.power.basis in (Basis.ASSUMED, Basis.MODELLED), "none of these machines was metered"
        assert 0 < row.power.low <= row.power.value <= row.power.high


def figures(value: object) -> Iterator[Figure]:
    """Yield every figure in a model, however deep."""
    if isinstance(value, Figure):
        yield value
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from figures(getattr(value, name))
    elif isinstance(value, tuple):
        for each in value:
            yield from figures(each)


@every([*SITES, ("defaults", CATALOG.defaults.owning)])
def test_every_figure_of_owning_has_a_source(row):
    found = list(figures(row))
    assert found
    for figure in found:
        assert figure.source, figure


@every(SITES)
def test_every_bundled_site_says_enough_for_its_full_cost(row: Site):
    node = CATALOG.nodes[row.node]
    found = resolve_site(row, node, CATALOG.accelerators[node.accelerator], PLAN, CATALOG)
    assert isinstance(found, ResolvedSite), found


OF_DOCUMENTS = [(name, row) for name, row in RUNS if row.document is not None]
OF_THE_BENCHMARK = [(name, row) for name, row in RUNS if row.document is None]


@every(OF_THE_BENCHMARK)
def test_a_run_of_our_own_is_sound_and_names_the_hardware_alone(row: RunRecord):
    assert row.verdict == ()
    assert not row.short_window
    assert row.hardware.accelerator in CATALOG.accelerators
    assert row.topology == ()
    assert "kernel" not in str(row.environment["os"])


@every(OF_DOCUMENTS)
def test_a_run_was_made_on_a_known_node_with_its_accelerator(row: RunRecord):
    node = CATALOG.nodes[row.hardware.node or ""]
    assert row.hardware.accelerator == node.accelerator
    assert row.hardware.accelerators_per_node <= node.accelerators


@every(OF_DOCUMENTS)
def test_a_bundled_run_is_a_document_s_measurement_with_a_range(row: RunRecord):
    assert row.throughput.basis is Basis.MEASURED
    assert row.throughput.unit is Unit.SAMPLES_PER_S
    assert row.throughput.low == pytest.approx(0.95 * row.throughput.value, rel=1e-5)
    assert row.throughput.high == pytest.approx(1.05 * row.throughput.value, rel=1e-5)


@every(RUNS)
def test_a_run_and_its_preset_are_the_same_network(row: RunRecord):
    preset = CATALOG.presets.get(row.workload)
    if preset is None:
        assert row.architecture is None, "only the unnamed model has no preset"
    else:
        assert row.architecture == preset.architecture
        assert row.seq_len == preset.seq_len
        assert row.parameters == parameters(preset.architecture)


@every(RUNS)
def test_the_global_batch_of_a_run_is_that_of_its_accelerators(row: RunRecord):
    if row.global_batch is not None and row.micro_batch is not None:
        assert row.global_batch == row.micro_batch * row.hardware.accelerators


def test_a_run_s_file_is_named_after_its_id():
    assert {path.stem for path in (catalogs_dir() / "runs").glob("*.json")} == CATALOG.bundled_runs


@every(PRESETS)
def test_a_preset_fits_its_positions_and_measures_longer_than_its_quick_window(row: Preset):
    longest = getattr(row.architecture, "max_positions", None)
    assert longest is None if row.seq_len is None else row.seq_len <= longest
    assert row.window.min_s > row.quick_window.min_s
    assert row.window.max_s > row.window.min_s


# Services


@every(SERVICES)
def test_a_rate_is_sourced_dated_and_plausible(row: ServiceRate):
    assert len(row.source) > 10
    assert row.as_of <= date(2026, 11, 21)
    if row.usd is not None:
        assert row.usd <= 0.5  # a tier of archives to the dearest file system, and every list of transfer out


@every(SERVICES)
def test_a_free_gigabyte_says_who_says_so(row: ServiceRate):
    assert row.usd != 0 or any(word in row.source for word in ("free", "no charge", "priced"))


def test_a_rate_stands_once():
    names = [name for name, _ in SERVICES]
    assert len(names) == len(set(names))
