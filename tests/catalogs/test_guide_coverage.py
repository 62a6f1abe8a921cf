"""Every machine that a document names has a row, with the accelerators that its maker publishes.

Expected figures come from the source documents and vendors' data sheets, never from the catalogs themselves.
"""

from __future__ import annotations

from tests.bundled import bundled_catalog
from tests.every_row import every

CATALOG = bundled_catalog()


MACHINES = [
    # of the guide
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
    # of the other documents
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
]


@every((node, (node, accelerator, count)) for node, accelerator, count in MACHINES)
def test_every_machine_of_the_documents_has_its_accelerators(machine: tuple[str, str, int]) -> None:
    node, accelerator, count = machine
    assert node in CATALOG.nodes
    row = CATALOG.nodes[node]
    assert (row.accelerator, row.accelerators) == (accelerator, count)
