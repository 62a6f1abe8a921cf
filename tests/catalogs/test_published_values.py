"""Rows against the published figures they come from: data sheets, price lists, model cards.

Expected figures come from the source documents and vendors' data sheets, never from the catalogs themselves.
"""

from __future__ import annotations

import gzip
import json
import re
from functools import cache
from importlib import resources
from typing import Any

import pytest

from planner.model.prices.offer import PriceKind
from planner.network.flops import parameters
from planner.scenario.price_choice import current_price
from tests.bundled import bundled_catalog

CATALOG = bundled_catalog()


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
    ("accelerator", "sms", "fma_per_sm", "boost_ghz"),
    [
        pytest.param("A30", 56, 1024, 1.44, id="A30: GA100 white paper, 1,024 dense fp16 FMA an SM and clock"),
        pytest.param("RTX-A5000", 64, 512, 1.695, id="RTX A5000: GA102 white paper, 512"),
        pytest.param("RTX-A4000", 48, 512, 1.56, id="RTX A4000: GA104, 512"),
        pytest.param("RTX-8000-Turing", 72, 512, 1.77, id="Quadro RTX 8000: Turing white paper, 512"),
        pytest.param("RTX-6000-Turing", 72, 512, 1.77, id="Quadro RTX 6000: the same chip"),
        pytest.param("L40", 142, 256, 2.49, id="L40: AD102 with fp32 accumulation at half of 512"),
    ],
)
def test_a_peak_is_what_its_multipliers_do_at_the_boost_clock(accelerator, sms, fma_per_sm, boost_ghz):
    """TFLOPS = SMs x FMA an SM and clock x 2 x GHz / 1000."""
    assert CATALOG.accelerators[accelerator].fp16_tflops == pytest.approx(
        sms * fma_per_sm * 2 * boost_ghz / 1000, rel=3e-3
    )


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
        pytest.param("B200-SXM", 180, 8000, 1000, id="B200: 64 TB/s of a DGX B200's eight"),
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
        pytest.param("aws/p5en.48xlarge", "us-east-1", "spot", 27.2, id="p5en spot of August, not of May"),
        pytest.param("aws/p6-b200.48xlarge", "us-east-1", "on_demand", 113.9328, id="p6-b200"),
        pytest.param("aws/p5.48xlarge", "ap-northeast-2", "on_demand", 75.9552, id="p5 in Seoul"),
        pytest.param("aws/p5e.48xlarge", "us-east-2", "on_demand", None, id="p5e has no on-demand price"),
        pytest.param("aws/p4d.24xlarge", "us-east-1", "capacity_block", 13.568, id="p4d block, eight times 1.696"),
        pytest.param("aws/p5.48xlarge", "us-east-1", "capacity_block", 47.76, id="p5 block, eight times 5.970"),
        pytest.param("aws/p5e.48xlarge", "us-east-2", "capacity_block", 54.928, id="p5e block, eight times 6.866"),
        pytest.param("aws/p5en.48xlarge", "eu-north-1", "capacity_block", 63.16, id="p5en block, eight times 7.895"),
        pytest.param("aws/trn1.32xlarge", "us-east-1", "capacity_block", 9.532, id="trn1 block"),
        pytest.param("aws/trn2.48xlarge", "us-east-2", "capacity_block", 35.7608, id="trn2 block"),
        pytest.param("aws/p5en.48xlarge", "us-east-1", "savings_3y", 27.34387, id="p5en for three years"),
        pytest.param("aws/p6-b200.48xlarge", "us-east-1", "savings_1y", 89.72208, id="p6-b200 for a year"),
        pytest.param("lambda/gpu_8x_a100_80gb_sxm4", "any", "on_demand", 22.32, id="Lambda 8x A100 80 GB"),
        pytest.param("lambda/gpu_8x_h100_sxm5", "any", "on_demand", 31.92, id="Lambda 8x H100, not 26.80"),
        pytest.param("lambda/gpu_8x_b200_sxm6", "any", "on_demand", 53.52, id="Lambda 8x B200"),
        pytest.param("gcp/a3-highgpu-8g", "us-central1", "on_demand", 88.49, id="a3-highgpu-8g, not 19 to 25"),
        pytest.param("gcp/a3-ultragpu-8g", "us-central1", "on_demand", 84.8069, id="a3-ultragpu-8g"),
        pytest.param("gcp/a4-highgpu-8g", "us-central1", "on_demand", None, id="a4 is not sold on demand"),
        pytest.param("azure/Standard_ND96isr_H200_v5", "eastus2", "on_demand", 84.8, id="Azure ND H200 v5"),
        pytest.param("jarvis-labs/1x-h100-sxm", "any", "on_demand", 3.49, id="Jarvis Labs H100, not 2.69"),
        pytest.param("crusoe/8x-h100-sxm", "any", "on_demand", 31.2, id="Crusoe 8x H100, as getdeploying.com has it"),
        pytest.param("verda/8x-h100-sxm", "FIN-03", "on_demand", 28.44, id="Verda 8x H100, eight times 3.555"),
        pytest.param(
            "nebius/gpu-b200-sxm_8gpu", "us-central1", "on_demand", 68, id="Nebius 8x B200 since October, not 57.2"
        ),
        pytest.param("azure/Standard_ND96isr_H100_v5", "eastus", "on_demand", 98.32, id="Azure ND H100 v5"),
        pytest.param("coreweave/gd-8xh100ib-i128", "north-america", "on_demand", 49.24, id="CoreWeave 8x H100"),
    ],
)
def test_a_price_is_the_one_published(node, region, kind, usd_per_hour):
    found = [row for row in CATALOG.prices if (row.node, row.region, row.price_kind.value) == (node, region, kind)]
    assert max(found, key=lambda row: row.as_of).usd_per_hour == usd_per_hour


@pytest.mark.parametrize(
    ("node", "region", "dated", "usd_per_hour"),
    [
        pytest.param("aws/p5e.48xlarge", "us-east-2", ("2025-01-01", "2026-01-01"), (34.61, 39.80), id="p5e, January"),
        pytest.param(
            "aws/p5en.48xlarge", "us-east-1", ("2025-01-01", "2026-01-01"), (36.18, 41.61), id="p5en, January"
        ),
        pytest.param("aws/p4de.24xlarge", "us-east-1", ("2026-09-25", "2026-10-07"), (17.712, 20.368), id="p4de"),
        pytest.param("aws/p5.48xlarge", "us-east-1", ("2026-09-25", "2026-10-07"), (41.528, 47.76), id="p5"),
        pytest.param("aws/p5en.48xlarge", "us-east-1", ("2026-09-25", "2026-10-07"), (54.92, 63.16), id="p5en"),
        pytest.param("aws/p6-b200.48xlarge", "us-east-1", ("2026-09-25", "2026-10-07"), (98.84, 113.664), id="p6-b200"),
    ],
)
def test_the_blocks_rose_by_15_percent_each_time(node, region, dated, usd_per_hour):
    """Values of two independent sources: the page's earlier ones, and the announced rates."""
    blocks = {
        row.as_of.isoformat(): row.usd_per_hour
        for row in CATALOG.prices
        if (row.node, row.region, row.price_kind.value) == (node, region, "capacity_block")
    }
    before, after = (blocks[day] for day in dated)
    assert (before, after) == usd_per_hour
    assert after / before == pytest.approx(1.15, abs=0.001)


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


def test_llama_3_s_interruptions_are_the_default_rate():
    """arXiv 2407.21783: 419 unexpected interruptions in 54 days on 16,384 H100."""
    goodput = CATALOG.defaults.goodput
    assert goodput is not None
    assert goodput.gpu_hours_per_failure.value == pytest.approx(16_384 * 54 * 24 / 419, abs=1)
    assert goodput.gpu_hours_per_failure.low == pytest.approx(992 * 61 * 24 / 105, rel=0.03)  # OPT-175B, two months
    assert goodput.gpu_hours_per_failure.high == pytest.approx(1000 * 24 * 8 / 2.34, rel=0.01)  # RSC-2, node-days


def test_an_image_of_imagenet():
    """147,897,477,120 bytes of 1,281,167 training images."""
    assert CATALOG.bill_defaults.bytes_per_image is not None
    assert CATALOG.bill_defaults.bytes_per_image.value == pytest.approx(147_897_477_120 / 1_281_167, rel=0.005)


@pytest.mark.parametrize(
    ("kind", "gb_per_s"),
    [
        pytest.param("ebs-gp3", 125 * 2**20 / 1e9, id="gp3 includes 125 MiB/s"),
        pytest.param("ebs-gp3-1000", 1000 * 2**20 / 1e9, id="gp3 at 1,000 MiB/s"),
        pytest.param("fsx-lustre", 4.8 * 0.25, id="4.8 TiB at 250 MB/s a TiB"),
        pytest.param("s3", 16 * 0.0875, id="16 connections of 85 to 90 MB/s"),
    ],
)
def test_storage_reads_what_its_guide_says(kind, gb_per_s):
    assert CATALOG.storage[kind].read_gb_per_s == pytest.approx(gb_per_s, rel=0.005)


@pytest.mark.parametrize(
    ("target", "percent"),
    [
        ("mlperf-resnet", 0.2),
        ("mlperf-gpt3", 1),
        ("mlperf-llama31-8b", 8),
        ("mlperf-llama2-70b-lora", 17),
        ("mlperf-bert", 21),
        ("mlperf-stable-diffusion", 29),
    ],
)
def test_how_far_mlperf_s_repeated_runs_spread(target, percent):
    assert CATALOG.convergence[target].spread_fraction * 100 == pytest.approx(percent)


@pytest.mark.parametrize("instance", [name for name in CATALOG.nodes if name.startswith("aws/g")])
def test_a_fixed_network_of_aws_is_that_of_describe_instance_types(instance):
    """Against moto's copy of DescribeInstanceTypes, a second list; "Up to" is none that one may count on."""
    published = _instance_types()[instance.removeprefix("aws/")]["NetworkInfo"]["NetworkPerformance"]
    fixed = re.fullmatch(r"(\d+) Gigabit", published)
    assert CATALOG.nodes[instance].network_gbit_per_s == (float(fixed[1]) if fixed else None)


@pytest.mark.parametrize("instance", [name for name in CATALOG.nodes if re.match(r"aws/[gp][4-9]", name)])
def test_the_cards_of_aws_are_those_of_describe_instance_types(instance):
    (published,) = _instance_types()[instance.removeprefix("aws/")]["GpuInfo"]["Gpus"]
    node = CATALOG.nodes[instance]
    assert node.accelerators == published["Count"]
    assert CATALOG.accelerators[node.accelerator].hbm_gib == pytest.approx(
        published["MemoryInfo"]["SizeInMiB"] / 1024, rel=0.08
    ), "a driver shows up to 7 % less than the data sheet"


@pytest.mark.parametrize("instance", [name for name in CATALOG.nodes if name.startswith("aws/") and "/p3." not in name])
def test_hosts_of_aws_are_those_of_describe_instance_types(instance):
    """P3, which it does not hold, stands as AWS's table of instance sizes says: 61 GiB and 8 vCPU a GPU, no disks."""
    published, node = _instance_types()[instance.removeprefix("aws/")], CATALOG.nodes[instance]
    assert node.host_memory_gib == published["MemoryInfo"]["SizeInMiB"] / 1024
    assert node.vcpus == published["VCpuInfo"]["DefaultVCpus"]
    assert node.local_disk_gb == published.get("InstanceStorageInfo", {"TotalSizeInGB": 0})["TotalSizeInGB"]


@pytest.mark.parametrize(
    ("accelerator", "tflops"),
    [
        pytest.param("A100-40GB-SXM", 312, id="A100"),
        pytest.param("A100-80GB-PCIe", 312, id="A100 PCIe"),
        pytest.param("H100-SXM", 989, id="H100"),
        pytest.param("H100-NVL", 835, id="H100 NVL"),
        pytest.param("H100-PCIe", 756, id="H100 PCIe"),
        pytest.param("H200-SXM", 989, id="H200"),
        pytest.param("B200-SXM", 2250, id="B200"),
        pytest.param("MI300X", 1300, id="MI300X"),
        pytest.param("MI325X", 1300, id="MI325X"),
        pytest.param("L40S", 362, id="L40S"),
    ],
)
def test_peaks_are_those_of_a_trainer_s_own_list(accelerator, tflops):
    """A second list: get_peak_flops of pytorch/torchtitan, torchtitan/tools/utils.py at 0258167 (bf16, dense)."""
    assert CATALOG.accelerators[accelerator].bf16_tflops == pytest.approx(tflops, rel=0.01)


@pytest.mark.parametrize(("accelerator", "tflops"), [("V100-SXM2-16GB", 125), ("T4", 65)])
def test_fp16_peaks_are_those_of_a_trainer_s_own_list(accelerator, tflops):
    """_CUDA_FLOPS of Lightning-AI/pytorch-lightning, fabric/utilities/throughput.py at 0810121; its A10G is an A10."""
    assert CATALOG.accelerators[accelerator].fp16_tflops == pytest.approx(tflops, rel=0.01)


@pytest.mark.parametrize(
    ("accelerator", "mib"), [("A10G", 22_888), ("L4", 22_888), ("L40S", 45_776), ("B200-SXM", 183_359)]
)
def test_memory_is_what_a_driver_shows_where_a_cloud_states_it(accelerator, mib):
    """MiB by DescribeInstanceTypes of g5, g6, g6e and p6-b200 (the last: 180 of its 192 GB, by its data sheet)."""
    assert CATALOG.accelerators[accelerator].hbm_gib == pytest.approx(mib / 1024, rel=0.006)


@cache
def _instance_types() -> dict[str, Any]:
    path = resources.files("moto") / "ec2" / "resources" / "instance_types.json.gz"
    return json.loads(gzip.decompress(path.read_bytes()))


@pytest.mark.parametrize(
    ("node", "usd_per_hour"),
    [
        pytest.param("nebius/gpu-h100-sxm_8gpu", 36, id="8 x 4.50 since October, not 30.8"),
        pytest.param("nebius/gpu-h200-sxm_8gpu", 43.2, id="8 x 5.40, not the 28.0 of 2025"),
        pytest.param("gcp/a3-highgpu-1g", None, id="not sold on demand"),
    ],
)
def test_an_option_without_a_region_is_given_the_price_of_today(node, usd_per_hour):
    found = current_price(node, CATALOG, kind=PriceKind.ON_DEMAND, region=None)
    assert found.usd_per_hour == usd_per_hour
