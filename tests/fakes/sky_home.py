"""A HOME in which SkyPilot finds small catalogs, credentials of the fakes, and nothing of the developer's.

Column names are SkyPilot's, catalog schema v8. Prices are those of our own price list where it has one; they only need
to be plausible, because no test takes a price from SkyPilot.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from tests.fakes.ports import free_port
from tests.fakes.servers import AWS_KEYS, FAKES

_GPU = "{{'Gpus': [{{'Name': '{name}', 'Manufacturer': 'NVIDIA', 'Count': {count}, 'MemoryInfo': {{'SizeInMiB': {mib}}}}}], 'TotalGpuMemoryInMiB': {total}}}"  # noqa: E501
AWS_TYPES = (
    # type, accelerator, count, MiB, vCPUs, GiB, {region: (on demand, spot)}
    (
        "p4d.24xlarge",
        "A100",
        8,
        40960,
        96,
        1152,
        {"us-east-1": ("21.957642", "6.5323"), "us-east-2": ("21.95764", "10.6163")},
    ),
    ("p4de.24xlarge", "A100-80GB", 8, 81920, 96, 1152, {"us-east-1": ("27.44705", "14.2574")}),
    (
        "p5.48xlarge",
        "H100",
        8,
        81920,
        192,
        2048,
        {"us-east-1": ("55.04", "16.9508"), "us-east-2": ("55.04", "13.4628")},
    ),
    ("p5e.48xlarge", "H200", 8, 144384, 192, 2048, {"us-east-2": ("", "14.0291")}),
    ("p5en.48xlarge", "H200", 8, 144384, 192, 2048, {"us-east-2": ("63.296", "9.3944")}),
    ("m6i.xlarge", "", 0, 0, 4, 16, {"us-east-1": ("0.192", "0.07"), "us-east-2": ("0.192", "0.07")}),
)
LAMBDA_TYPES = (
    ("gpu_8x_h100_sxm5", "H100", 8, 81920, 208, 1800, "31.92"),
    ("gpu_8x_a100_80gb_sxm4", "A100-80GB", 8, 81920, 240, 1800, "22.32"),
    ("gpu_1x_h100_sxm5", "H100", 1, 81920, 26, 225, "4.29"),
)
ACCELERATORS = ("A100", "A100-80GB", "H100", "H200")
IMAGE_TAGS = ("custom-gpu-ubuntu", "custom-gpu-ubuntu-cuda13", "custom-cpu-ubuntu")
ZONES = {"us-east-1": ("use1-az1", "use1-az2"), "us-east-2": ("use2-az1", "use2-az2")}
SSH_POOL = "rack"
CONTEXT = "lab"


def make_home(home: Path, *, aws_url: str, lambda_url: str, kubernetes_url: str) -> dict[str, str]:
    """Fill the folder and return the environment in which SkyPilot, its server included, uses it and nothing else."""
    _write_catalogs(home / ".sky" / "catalogs" / "v8")
    _write(home / ".lambda_cloud" / "lambda_keys", "api_key = lambda-key-of-the-fake\n")
    _write(home / ".sky" / "ssh_node_pools.yaml", f"{SSH_POOL}:\n  hosts:\n    - 127.0.0.1\n")
    _write(home / ".sky" / "config.yaml", "allowed_clouds: [aws, lambda, kubernetes, ssh]\n")
    _write(home / ".kube" / "config", json.dumps(_kubeconfig(kubernetes_url)))
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LD_LIBRARY_PATH", "TMPDIR") if name in os.environ}
    return {
        **kept,
        **AWS_KEYS,
        "HOME": str(home),
        "KUBECONFIG": str(home / ".kube" / "config"),
        "AWS_ENDPOINT_URL": aws_url,
        "FAKE_LAMBDA_URL": f"{lambda_url}/api/v1",
        "PYTHONPATH": str(FAKES / "shims"),
        "SKYPILOT_API_SERVER_LOCAL_PORT": str(free_port()),
        "SKYPILOT_DISABLE_USAGE_COLLECTION": "1",
        "NO_COLOR": "1",
    }


def _write_catalogs(folder: Path) -> None:
    vms = [
        "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region,AvailabilityZone,Arch"
    ]
    for kind, name, count, mib, cpus, gib, prices in AWS_TYPES:
        info = f'"{_GPU.format(name=name, count=count, mib=mib, total=mib * count)}"' if count else ""
        for region, (on_demand, spot) in prices.items():
            for zone in ZONES[region]:
                vms.append(f"{kind},{name},{count or ''},{cpus},{gib},{info},{on_demand},{spot},{region},{zone},x86_64")
    _lines(folder / "aws" / "vms.csv", vms)
    images = ["Tag,Region,OS,OSVersion,ImageId,CreationDate"]
    images += [f"skypilot:{tag},{region},ubuntu,22.04,ami-1e749f67,2026" for tag in IMAGE_TAGS for region in ZONES]
    _lines(folder / "aws" / "images.csv", images)
    quota = ["InstanceType,OnDemandInstanceCode,SpotInstanceCode"]
    _lines(
        folder / "aws" / "instance_quota_mapping.csv", quota + [f"{row[0]},L-417A185B,L-7212CCBC" for row in AWS_TYPES]
    )
    rows = ["InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,Region,GpuInfo,SpotPrice"]
    for kind, name, count, mib, cpus, gib, price in LAMBDA_TYPES:
        info = f'"{_GPU.format(name=name, count=count, mib=mib, total=mib * count)}"'
        rows.append(f"{kind},{name},{count},{cpus},{gib},{price},us-east-1,{info},")
    _lines(folder / "lambda" / "vms.csv", rows)
    _lines(
        folder / "common" / "accelerators.csv",
        ["AcceleratorName,Clouds"] + [f"{name},['AWS']" for name in ACCELERATORS],
    )
    _lines(
        folder / "common" / "metadata.csv",
        ["GPU,MemoryGB,Manufacturer"] + [f"{name},80,NVIDIA" for name in ACCELERATORS],
    )
    _lines(folder / "kubernetes" / "images.csv", [images[0], "skypilot:custom-gpu-ubuntu,,ubuntu,22.04,fake,2026"])


def _kubeconfig(url: str) -> dict[str, object]:
    names = (CONTEXT, f"ssh-{SSH_POOL}")
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": CONTEXT,
        "clusters": [{"name": name, "cluster": {"server": url}} for name in names],
        "users": [{"name": "tester", "user": {"token": "kubernetes-token-of-the-fake"}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": "tester"}} for name in names],
    }


def _lines(path: Path, lines: list[str]) -> None:
    _write(path, "\n".join(lines) + "\n")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
