"""Every row of every catalog: positive, sourced, dated, joined to its neighbours; nothing the guide names is missing.

Expected figures come from the source documents and vendors' data sheets, never from the catalogs themselves.
"""

from __future__ import annotations

from collections import Counter

import pytest

from planner.adapters.catalog import load_catalog
from planner.adapters.workspace import catalogs_dir
from planner.estimate.flops import parameters
from planner.model.hardware import Accelerator, Link, Node
from planner.model.offer import Price, PriceKind, Site
from planner.model.quantity import Basis, Unit
from planner.model.run import RunRecord
from planner.model.workload import Preset

CATALOG = load_catalog()


def price_id(price: Price) -> str:
    return f"{price.node} {price.region} {price.price_kind}"


ACCELERATORS = [pytest.param(row, id=row.id) for row in CATALOG.accelerators.values()]
NODES = [pytest.param(row, id=row.id) for row in CATALOG.nodes.values()]
PRICES = [pytest.param(row, id=price_id(row)) for row in CATALOG.prices]
SITES = [pytest.param(row, id=row.id) for row in CATALOG.sites.values()]
PRESETS = [pytest.param(row, id=row.name) for row in CATALOG.presets.values()]
RUNS = [pytest.param(row, id=row.id) for row in CATALOG.runs.values()]
FILES = [
    pytest.param(path, id=str(path.relative_to(catalogs_dir())))
    for path in sorted(catalogs_dir().rglob("*"))
    if path.suffix in {".csv", ".yaml", ".json"}
]


# Every row


@pytest.mark.parametrize("path", FILES)
def test_a_file_is_plain_ascii_and_ends_with_one_newline(path):
    text = path.read_bytes()
    assert text.isascii()
    assert text.endswith(b"\n")
    assert not text.endswith(b"\n\n")


@pytest.mark.parametrize("row", [*ACCELERATORS, *NODES, *PRICES, *SITES, *PRESETS])
def test_a_row_says_where_it_comes_from_and_when_it_was_read(row):
    assert len(row.source) > 5
    assert 2017 <= row.as_of.year <= 2026


@pytest.mark.parametrize("row", ACCELERATORS)
def test_an_accelerator_has_memory_and_bandwidth_or_is_a_plain_processor(row: Accelerator):
    if row.id == "CPU":
        assert row.hbm_gib is None
        assert row.fp32_tflops is None
    else:
        assert row.hbm_gib is not None
        assert row.hbm_gb_per_s is not None


@pytest.mark.parametrize("row", ACCELERATORS)
def test_a_narrower_format_is_never_slower(row: Accelerator):
    chain = [row.fp32_tflops, row.tf32_tflops, row.bf16_tflops, row.fp8_tflops]
    known = [peak for peak in chain if peak is not None]
    assert known == sorted(known)
    if row.fp16_tflops is not None and row.bf16_tflops is not None:
        assert row.fp16_tflops == row.bf16_tflops, "with fp32 accumulation both run at one rate"


@pytest.mark.parametrize("row", ACCELERATORS)
def test_an_accelerator_says_how_its_numbers_are_got_wrong(row: Accelerator):
    assert row.trap is not None
    assert row.trap.endswith(".")


@pytest.mark.parametrize("row", ACCELERATORS)
def test_pascal_and_volta_say_which_software_leaves_them(row: Accelerator):
    old = row.architecture in {"Pascal", "Volta"}
    assert (row.support_ended is not None) == old
    if old:
        assert "CUDA 12.6" in row.support_ended, "must say which build to take instead"


@pytest.mark.parametrize("row", NODES)
def test_a_node_carries_a_known_accelerator(row: Node):
    assert row.accelerator in CATALOG.accelerators


@pytest.mark.parametrize("row", NODES)
def test_a_node_has_a_link_exactly_where_it_has_two_accelerators(row: Node):
    assert (row.link is Link.SINGLE) == (row.accelerators == 1)


@pytest.mark.parametrize("row", NODES)
def test_nvlink_joins_only_accelerators_that_have_it(row: Node):
    if row.link in {Link.NVLINK, Link.NVSWITCH}:
        accelerator = CATALOG.accelerators[row.accelerator]
        assert accelerator.vendor == "NVIDIA"
        assert accelerator.link_gb_per_s is not None


@pytest.mark.parametrize("row", NODES)
def test_a_cloud_node_has_a_price_or_says_why_not_and_an_owned_one_has_none(row: Node):
    assert ("/" in row.id) == any(price.node == row.id for price in CATALOG.prices)


@pytest.mark.parametrize("row", PRICES)
def test_a_price_rents_a_known_node(row: Price):
    assert row.node in CATALOG.nodes


@pytest.mark.parametrize("row", PRICES)
def test_a_price_is_never_zero_and_lies_in_its_range(row: Price):
    if row.usd_per_hour is None:
        assert row.no_price_reason
        assert (row.low_usd_per_hour, row.high_usd_per_hour) == (None, None)
        return
    assert 0.1 < row.usd_per_hour < 1000, "USD per hour of the whole instance"
    assert (row.low_usd_per_hour or row.usd_per_hour) <= row.usd_per_hour
    assert (row.high_usd_per_hour or row.usd_per_hour) >= row.usd_per_hour


@pytest.mark.parametrize("row", PRICES)
def test_a_price_was_seen_before_it_was_fetched(row: Price):
    assert row.as_of <= row.fetched_at


@pytest.mark.parametrize("row", PRICES)
def test_a_spot_price_says_how_high_it_can_go(row: Price):
    if row.price_kind is PriceKind.SPOT and row.usd_per_hour is not None:
        assert row.high_usd_per_hour is not None
        assert row.note


@pytest.mark.parametrize("row", PRICES)
def test_only_a_capacity_block_is_paid_ahead_for_a_day_or_more(row: Price):
    block = row.price_kind is PriceKind.CAPACITY_BLOCK
    assert (row.minimum_hours, row.upfront_fraction) == ((24, 1) if block else (0, 0))


def test_no_price_stands_twice():
    keys = Counter((row.node, row.region, row.zone, row.price_kind) for row in CATALOG.prices)
    assert [key for key, count in keys.items() if count > 1] == []


@pytest.mark.parametrize("row", SITES)
def test_a_site_stands_on_a_known_node_and_its_power_is_known(row: Site):
    node = CATALOG.nodes[row.node]
    assert row.power is not None or node.rated_kw is not None
    if row.power is not None:
        assert row.power.basis is Basis.ASSUMED, "nobody metered any of these machines"
        assert 0 < row.power.low <= row.power.value <= row.power.high


@pytest.mark.parametrize("row", RUNS)
def test_a_run_was_made_on_a_known_node_with_its_accelerator(row: RunRecord):
    node = CATALOG.nodes[row.hardware.node or ""]
    assert row.hardware.accelerator == node.accelerator
    assert row.hardware.accelerators_per_node <= node.accelerators


@pytest.mark.parametrize("row", RUNS)
def test_a_bundled_run_is_a_document_s_measurement_with_a_range(row: RunRecord):
    assert row.document is not None
    assert row.throughput.basis is Basis.MEASURED
    assert row.throughput.unit is Unit.SAMPLES_PER_S
    assert row.throughput.low == pytest.approx(0.95 * row.throughput.value, rel=1e-5)
    assert row.throughput.high == pytest.approx(1.05 * row.throughput.value, rel=1e-5)


@pytest.mark.parametrize("row", RUNS)
def test_a_run_and_its_preset_are_the_same_network(row: RunRecord):
    preset = CATALOG.presets.get(row.workload)
    if preset is None:
        assert row.architecture is None, "only the unnamed model has no preset"
    else:
        assert row.architecture == preset.architecture
        assert row.seq_len == preset.seq_len
        assert row.parameters == parameters(preset.architecture)


@pytest.mark.parametrize("row", RUNS)
def test_the_global_batch_of_a_run_is_that_of_its_accelerators(row: RunRecord):
    if row.global_batch is not None and row.micro_batch is not None:
        assert row.global_batch == row.micro_batch * row.hardware.accelerators


def test_a_run_s_file_is_named_after_its_id():
    assert {path.stem for path in (catalogs_dir() / "runs").glob("*.json")} == CATALOG.bundled_runs


@pytest.mark.parametrize(
    ("quantity", "unit", "value", "low", "high"),
    [
        pytest.param(CATALOG.defaults.electricity, Unit.USD_PER_KWH, 0.0826, 0.05, 0.15, id="US industrial tariff"),
        pytest.param(CATALOG.defaults.pue, Unit.RATIO, 1.6, 1.5, 2.0, id="office or laboratory"),
        pytest.param(CATALOG.defaults.training_power_fraction, Unit.RATIO, 0.76, 0.6, 0.82, id="arXiv 2506.14551"),
        pytest.param(CATALOG.defaults.idle_power_fraction, Unit.RATIO, 0.25, 0.2, 0.35, id="idle 8-GPU node"),
    ],
)
def test_a_default_is_the_published_value(quantity, unit, value, low, high):
    assert (quantity.unit, quantity.value, quantity.low, quantity.high) == (unit, value, low, high)
    assert quantity.as_of is not None


@pytest.mark.parametrize("row", PRESETS)
def test_a_preset_fits_its_positions_and_measures_longer_than_its_quick_window(row: Preset):
    assert row.seq_len <= row.architecture.max_positions
    assert row.window.min_s > row.quick_window.min_s
    assert row.window.max_s > row.window.min_s


# Figures that are known from elsewhere


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("cpu-smoke", 672_384, id="cpu-smoke"),
        pytest.param("gpt-305m", 304_992_256, id="gpt-305m"),
        pytest.param("qwen3-0.6b", 596_049_920, id="qwen3-0.6b"),
        pytest.param("llama3-8b", 8_030_261_248, id="llama3-8b"),
    ],
)
def test_a_preset_has_the_published_number_of_parameters(name, expected):
    assert parameters(CATALOG.presets[name].architecture) == expected


@pytest.mark.parametrize(
    ("accelerator", "dense", "printed"),
    [
        pytest.param("A100-40GB-SXM", 312, 624, id="A100 40 GB"),
        pytest.param("A100-80GB-SXM", 312, 624, id="A100 80 GB"),
        pytest.param("H100-SXM", 989.4, 1979, id="H100 SXM"),
        pytest.param("H100-PCIe", 756, 1513, id="H100 PCIe"),
        pytest.param("H200-SXM", 989.4, 1979, id="H200, 1,979 in document 000"),
        pytest.param("B200-SXM", 2250, 4500, id="B200, 4.5 PFLOPS in document 002"),
        pytest.param("MI300X", 1307.4, 2614.9, id="MI300X"),
        pytest.param("RTX-4090", 165.2, 330.3, id="RTX 4090, 330 with fp16 accumulation in document 002"),
        pytest.param("RTX-3090", 71, 285, id="RTX 3090"),
        pytest.param("Trainium2", 667, 2563, id="Trainium 2"),
    ],
)
def test_sixteen_bit_peaks_are_dense_with_fp32_accumulation(accelerator, dense, printed):
    row = CATALOG.accelerators[accelerator]
    assert row.bf16_tflops == dense
    assert row.fp16_tflops == dense
    assert printed not in (row.fp16_tflops, row.bf16_tflops, row.tf32_tflops)


@pytest.mark.parametrize(
    ("accelerator", "fp16_tflops"),
    [
        pytest.param("P100-PCIe-16GB", 18.7, id="P100 PCIe, CUDA cores"),
        pytest.param("V100-PCIe-16GB", 112, id="V100 PCIe"),
        pytest.param("V100-SXM2-16GB", 125, id="V100 SXM2"),
        pytest.param("V100-DGXS-32GB", 125, id="V100 of the DGX Station"),
        pytest.param("T4", 65, id="T4"),
        pytest.param("RTX-2080Ti", 53.8, id="RTX 2080 Ti, half of 107 with fp32 accumulation"),
    ],
)
def test_cards_before_ampere_have_fp16_and_no_bf16(accelerator, fp16_tflops):
    row = CATALOG.accelerators[accelerator]
    assert (row.fp16_tflops, row.bf16_tflops, row.tf32_tflops) == (fp16_tflops, None, None)


@pytest.mark.parametrize(
    ("accelerator", "hbm_gib", "hbm_gb_per_s", "tdp_w"),
    [
        pytest.param("V100-DGXS-32GB", 32, 897, 250, id="V100 DGXS"),
        pytest.param("A100-40GB-SXM", 40, 1555, 400, id="A100 40 GB"),
        pytest.param("A100-80GB-SXM", 80, 2039, 400, id="A100 80 GB"),
        pytest.param("H100-SXM", 80, 3350, 700, id="H100 SXM"),
        pytest.param("H200-SXM", 141, 4800, 700, id="H200"),
        pytest.param("RTX-4090", 24, 1008, 450, id="RTX 4090"),
        pytest.param("RTX-3090", 24, 936, 350, id="RTX 3090"),
        pytest.param("MI300X", 192, 5300, 750, id="MI300X"),
    ],
)
def test_memory_bandwidth_and_power_are_the_data_sheet_s(accelerator, hbm_gib, hbm_gb_per_s, tdp_w):
    row = CATALOG.accelerators[accelerator]
    assert (row.hbm_gib, row.hbm_gb_per_s, row.tdp_w) == (hbm_gib, hbm_gb_per_s, tdp_w)


def test_the_rtx_pro_6000_has_no_link_to_extend():
    assert CATALOG.accelerators["RTX-PRO-6000-Blackwell-Server"].link_gb_per_s is None


@pytest.mark.parametrize(
    ("node", "region", "kind", "usd_per_hour"),
    [
        pytest.param("aws/p3.2xlarge", "us-east-1", "on_demand", 3.06, id="p3.2xlarge, as document 002"),
        pytest.param("aws/p3.16xlarge", "us-east-1", "on_demand", 24.48, id="p3.16xlarge, as document 002"),
        pytest.param("aws/p4d.24xlarge", "us-east-1", "on_demand", 21.957642, id="p4d after June 2025, not 32.77"),
        pytest.param("aws/p4de.24xlarge", "us-east-1", "on_demand", 27.44705, id="p4de"),
        pytest.param("aws/p5.48xlarge", "us-east-1", "on_demand", 55.04, id="p5 after June 2025, not 98.32"),
        pytest.param("aws/p5en.48xlarge", "us-east-1", "on_demand", 63.296, id="p5en"),
        pytest.param("aws/p5en.48xlarge", "us-east-1", "spot", 14.8209, id="p5en spot"),
        pytest.param("aws/p6-b200.48xlarge", "us-east-1", "on_demand", 113.9328, id="p6-b200"),
        pytest.param("aws/p5.48xlarge", "ap-northeast-2", "on_demand", 75.9552, id="p5 in Seoul"),
        pytest.param("aws/p5e.48xlarge", "us-east-2", "on_demand", None, id="p5e has no on-demand price"),
        pytest.param("aws/p5e.48xlarge", "us-east-2", "capacity_block", 39.80, id="p5e block"),
        pytest.param("aws/p5en.48xlarge", "any", "capacity_block", 41.61, id="p5en block"),
        pytest.param("lambda/gpu_8x_a100_80gb_sxm4", "any", "on_demand", 22.32, id="Lambda 8x A100 80 GB"),
        pytest.param("lambda/gpu_8x_h100_sxm5", "any", "on_demand", 31.92, id="Lambda 8x H100, not 26.80"),
        pytest.param("lambda/gpu_8x_b200_sxm6", "any", "on_demand", 53.52, id="Lambda 8x B200"),
        pytest.param("gcp/a3-highgpu-8g", "us-central1", "on_demand", 87.83, id="a3-highgpu-8g, not 19 to 25"),
        pytest.param("azure/Standard_ND96isr_H100_v5", "eastus", "on_demand", 98.32, id="Azure ND H100 v5"),
        pytest.param("coreweave/gd-8xh100ib-i128", "north-america", "on_demand", 49.24, id="CoreWeave 8x H100"),
    ],
)
def test_a_price_is_the_one_published(node, region, kind, usd_per_hour):
    found = [row for row in CATALOG.prices if (row.node, row.region, row.price_kind.value) == (node, region, kind)]
    assert [row.usd_per_hour for row in found] == [usd_per_hour]


@pytest.mark.parametrize(
    ("node", "rated_kw"),
    [
        pytest.param("dgx-station-v100", 1.5, id="DGX Station, not the 3 kW of document 001"),
        pytest.param("dgx-a100-640", 6.5, id="DGX A100"),
        pytest.param("dgx-h100", 10.2, id="DGX H100"),
        pytest.param("dgx-b200", 14.3, id="DGX B200"),
    ],
)
def test_rated_power_is_the_data_sheet_s(node, rated_kw):
    assert CATALOG.nodes[node].rated_kw == rated_kw


# Completeness against document 002, the GPU and cloud guide: written here by hand


@pytest.mark.parametrize(
    ("named", "row"),
    [
        ("P100", "P100-PCIe-16GB"),
        ("P100 with NVLink", "P100-SXM2-16GB"),
        ("V100 with 14 and 112 TFLOPS", "V100-PCIe-32GB"),
        ("V100 with NVLink", "V100-SXM2-32GB"),
        ("V100 of p3", "V100-SXM2-16GB"),
        ("RTX 2080 Ti", "RTX-2080Ti"),
        ("A100 40 GB", "A100-40GB-SXM"),
        ("A100 80 GB", "A100-80GB-SXM"),
        ("A100 PCIe", "A100-80GB-PCIe"),
        ("H100 SXM", "H100-SXM"),
        ("H100 PCIe", "H100-PCIe"),
        ("H200", "H200-SXM"),
        ("B200", "B200-SXM"),
        ("GB200 NVL72", "GB200-per-GPU"),
        ("RTX 4090", "RTX-4090"),
        ("MI300X", "MI300X"),
        ("T4", "T4"),
        ("TPU v4", "TPU-v4"),
        ("TPU v5e", "TPU-v5e"),
        ("TPU v5p", "TPU-v5p"),
        ("Trainium", "Trainium1"),
        ("Trainium 2", "Trainium2"),
        ("Inferentia2", "Inferentia2"),
    ],
)
def test_every_accelerator_of_the_guide_has_a_row(named, row):
    assert row in CATALOG.accelerators, named


@pytest.mark.parametrize(
    ("node", "accelerator", "count"),
    [
        ("aws/p3.2xlarge", "V100-SXM2-16GB", 1),
        ("aws/p3.16xlarge", "V100-SXM2-16GB", 8),
        ("aws/p4d.24xlarge", "A100-40GB-SXM", 8),
        ("aws/p5.48xlarge", "H100-SXM", 8),
        ("aws/trn1.32xlarge", "Trainium1", 16),
        ("aws/inf2.48xlarge", "Inferentia2", 12),
        ("gcp/a2-highgpu-1g", "A100-40GB-SXM", 1),
        ("gcp/a2-megagpu-16g", "A100-40GB-SXM", 16),
        ("gcp/a3-highgpu-8g", "H100-SXM", 8),
        ("azure/Standard_ND96isr_H100_v5", "H100-SXM", 8),
        ("azure/Standard_NC64as_T4_v3", "T4", 4),
        ("lambda/gpu_8x_h100_sxm5", "H100-SXM", 8),
        ("coreweave/gd-8xh100ib-i128", "H100-SXM", 8),
        ("vast/1x-h100-sxm", "H100-SXM", 1),
        ("dgx-a100-640", "A100-80GB-SXM", 8),
        ("dgx-h100", "H100-SXM", 8),
        ("gb200-nvl72", "GB200-per-GPU", 72),
    ],
)
def test_every_machine_of_the_guide_has_a_row(node, accelerator, count):
    row = CATALOG.nodes[node]
    assert (row.accelerator, row.accelerators) == (accelerator, count)


@pytest.mark.parametrize(
    ("node", "accelerator", "count"),
    [
        ("dgx-station-v100", "V100-DGXS-32GB", 4),
        ("a100-80gb-x2", "A100-80GB-SXM", 2),
        ("a100-40gb-x4", "A100-40GB-SXM", 4),
        ("h200-x1", "H200-SXM", 1),
        ("h200-x2", "H200-SXM", 2),
        ("pc-rtx4090", "RTX-4090", 1),
        ("pc-rtx3080", "RTX-3080-10GB", 1),
        ("pc-rtx3060", "RTX-3060-12GB", 1),
        ("pc-cpu", "CPU", 1),
        ("rtx3090-x10", "RTX-3090", 10),
        ("rtx-pro-6000-x4", "RTX-PRO-6000-Blackwell-Server", 4),
        ("aws/p5e.48xlarge", "H200-SXM", 8),
        ("onprem-a100-40gb-x8", "A100-40GB-SXM", 8),
    ],
)
def test_every_machine_of_the_other_documents_has_a_row(node, accelerator, count):
    row = CATALOG.nodes[node]
    assert (row.accelerator, row.accelerators) == (accelerator, count)
