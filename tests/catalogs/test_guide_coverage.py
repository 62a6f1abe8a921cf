"""Every accelerator and machine that a document names has a row.

Expected figures come from the source documents and vendors' data sheets, never from the catalogs themselves.
"""

from __future__ import annotations

import pytest

from tests.bundled import bundled_catalog

CATALOG = bundled_catalog()


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
