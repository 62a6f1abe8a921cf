"""Interconnect of this node's devices: links, peer access, NVLink, PCIe, NUMA, RDMA interfaces.

nvidia-smi's raw text stands beside our reading of it, so that a reader can check us, or read more. Device UUIDs are
removed. A device's bus address is only used to find its NUMA node. nvidia-smi counts the devices of the whole node: its
numbers are not torch's if CUDA_VISIBLE_DEVICES selects some.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

NVIDIA_SMI = "nvidia-smi"
TIMEOUT_S = 20.0
PCIE_FIELDS = ("generation", "generation_max", "lanes", "lanes_max")
QUESTIONS: Dict[str, Tuple[str, ...]] = {
    "topo_m": ("topo", "-m"),
    "topo_p2p_read": ("topo", "-p2p", "r"),
    "nvlink_status": ("nvlink", "--status"),
    "pcie": (
        "--query-gpu=index,pcie.link.gen.current,pcie.link.gen.max,pcie.link.width.current,pcie.link.width.max",
        "--format=csv,noheader,nounits",
    ),
}
BUS_ADDRESSES = ("--query-gpu=pci.bus_id", "--format=csv,noheader")

ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
UUIDS = re.compile(r"\s*\(UUID: [^)]*\)|\b(?:GPU|MIG)-[0-9a-fA-F]{8}[0-9a-fA-F/-]*")
DEVICE = re.compile(r"GPU\d+$")

Ask = Callable[[Sequence[str]], str]


class NoAnswerError(Exception):
    """nvidia-smi is missing, or failed. The message says which."""


def gather(*, on_cuda: bool, ask: Optional[Ask] = None, sys_folder: Path = Path("/sys")) -> Dict[str, Any]:
    """Return this node's topology. `gpus` is null if nothing is known; `gpus_unknown_because` says why."""
    facts: Dict[str, Any] = {
        "gpus": None,
        "gpus_unknown_because": None,
        "numa_nodes": numa_nodes(sys_folder),
        "rdma_interfaces": _names_in(sys_folder / "class" / "infiniband"),
    }
    if not on_cuda:
        facts["gpus_unknown_because"] = "the run is on the CPU"
        return facts
    try:
        facts["gpus"] = _gpus(ask or ask_nvidia_smi, sys_folder)
    except NoAnswerError as error:
        facts["gpus_unknown_because"] = str(error)
    return facts


def ask_nvidia_smi(question: Sequence[str]) -> str:
    """Return the output of nvidia-smi, without terminal colours and UUIDs. Raises NoAnswerError."""
    program = shutil.which(NVIDIA_SMI)
    if program is None:
        raise NoAnswerError("nvidia-smi is not on this machine")
    asked = " ".join([NVIDIA_SMI, *question])
    try:
        done = subprocess.run(
            [program, *question],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise NoAnswerError(f"{asked}: no answer within {TIMEOUT_S:g} s") from None
    except OSError as error:
        raise NoAnswerError(f"{asked}: {error.strerror}") from error
    text = cleaned(done.stdout.decode("utf-8", errors="replace"))
    if done.returncode != 0:
        raise NoAnswerError(f"{asked}: ended with code {done.returncode}: {text.strip()[:200]}")
    return text


def cleaned(text: str) -> str:
    """Remove terminal colours and device UUIDs."""
    return UUIDS.sub("", ESCAPES.sub("", text))


def _gpus(ask: Ask, sys_folder: Path) -> Dict[str, Any]:
    """Return the answer to every query; null with the reason if there is none. Raises NoAnswerError if all fail."""
    raw: Dict[str, Optional[str]] = {}
    reasons: Dict[str, str] = {}
    for name, question in QUESTIONS.items():
        try:
            raw[name] = ask(question)
        except NoAnswerError as error:
            raw[name], reasons[name] = None, str(error)
    if all(text is None for text in raw.values()):
        raise NoAnswerError(reasons["topo_m"])
    links, numa = read_links(raw["topo_m"] or "")
    return {
        "links": links or None,
        "p2p_read": read_matrix(raw["topo_p2p_read"] or "") or None,
        "nvlink": read_nvlink(raw["nvlink_status"] or "") or None,
        "pcie": read_pcie(raw["pcie"] or "") or None,
        "numa": numa if any(node is not None for node in numa.values()) else _numa_by_bus_address(ask, sys_folder),
        "raw": raw,
        "unknown_because": reasons,
    }


def read_links(text: str) -> Tuple[Dict[str, Dict[str, str]], Dict[str, Optional[int]]]:
    """Read `nvidia-smi topo -m`: (kind of link from each GPU to each other one and to each NIC, NUMA node of each GPU).

    Kinds are nvidia-smi's: NV# (# NVLinks), PIX, PXB, PHB, NODE, SYS. After the matrix a row holds CPU affinity and
    NUMA affinity.
    """
    links: Dict[str, Dict[str, str]] = {}
    numa: Dict[str, Optional[int]] = {}
    columns, rows = _table(text)
    peers = [name for name in columns if "affinity" not in name.lower() and "numa" not in name.lower()]
    nics = dict(re.findall(r"^\s*(NIC\d+): (\S+)\s*$", text, flags=re.MULTILINE))
    for name, cells in rows.items():
        if not DEVICE.match(name):
            continue
        links[name] = {nics.get(peer, peer): cell for peer, cell in zip(peers, cells) if cell != "X"}
        after = cells[len(peers) :]
        numa[name] = int(after[1]) if len(after) > 1 and after[1].isdigit() else None
    return links, numa


def read_matrix(text: str) -> Dict[str, Dict[str, str]]:
    """Read `nvidia-smi topo -p2p r`: whether each GPU can read each other one: OK, CNS, GNS, TNS, NS, DR or U."""
    columns, rows = _table(text)
    return {
        name: {peer: cell for peer, cell in zip(columns, cells) if cell != "X"}
        for name, cells in rows.items()
        if DEVICE.match(name)
    }


def read_nvlink(text: str) -> Dict[str, Dict[str, float]]:
    """Read `nvidia-smi nvlink --status`: number of active links of each GPU, and their total speed one way in GB/s."""
    links: Dict[str, Dict[str, float]] = {}
    name = None
    for line in text.splitlines():
        device = re.match(r"GPU (\d+):", line)
        if device:
            name = f"GPU{device[1]}"
            links[name] = {"active_links": 0, "gb_per_s": 0.0}
        link = re.match(r"\s*Link \d+: ([\d.]+) GB/s", line)
        if link and name is not None:
            links[name]["active_links"] += 1
            links[name]["gb_per_s"] = round(links[name]["gb_per_s"] + float(link[1]), 3)
    return links


def read_pcie(text: str) -> Dict[str, Dict[str, Optional[int]]]:
    """Read the PCIe link of each GPU, with the highest that device and slot allow, because an idle link slows down."""
    rows = [[cell.strip() for cell in line.split(",")] for line in text.splitlines()]
    return {
        f"GPU{row[0]}": {name: int(cell) if cell.isdigit() else None for name, cell in zip(PCIE_FIELDS, row[1:])}
        for row in rows
        if len(row) == 1 + len(PCIE_FIELDS) and row[0].isdigit()
    }


def numa_nodes(sys_folder: Path) -> Dict[str, str]:
    """Return the CPUs of each NUMA node as the kernel lists them, e.g. {"0": "0-47"}."""
    nodes = {}
    for folder in (sys_folder / "devices" / "system" / "node").glob("node[0-9]*"):
        cpus = _text_of(folder / "cpulist")
        if cpus is not None:
            nodes[int(folder.name[len("node") :])] = cpus
    return {str(number): nodes[number] for number in sorted(nodes)}


def _numa_by_bus_address(ask: Ask, sys_folder: Path) -> Optional[Dict[str, Optional[int]]]:
    """Return each GPU's NUMA node from the kernel. Its addresses have a domain of 4 digits, nvidia-smi's of 8."""
    try:
        addresses = ask(BUS_ADDRESSES).split()
    except NoAnswerError:
        return None
    nodes: Dict[str, Optional[int]] = {}
    for number, address in enumerate(addresses):
        text = _text_of(sys_folder / "bus" / "pci" / "devices" / address.lower()[-12:] / "numa_node")
        nodes[f"GPU{number}"] = int(text) if text is not None and text.isdigit() else None  # -1: unknown
    return nodes if any(node is not None for node in nodes.values()) else None


def _table(text: str) -> Tuple[List[str], Dict[str, List[str]]]:
    """Return (column names, cells of each row by its name) of nvidia-smi's tab-separated table. It ends at a gap."""
    lines = text.splitlines()
    start = next((number for number, line in enumerate(lines) if re.match(r"\s*\tGPU\d", line)), None)
    if start is None:
        return [], {}
    columns = [cell.strip() for cell in lines[start].split("\t")[1:] if cell.strip()]
    rows = {}
    for line in lines[start + 1 :]:
        if not line.strip():
            break
        name, *cells = (cell.strip() for cell in line.split("\t"))
        rows[name] = cells
    return columns, rows


def _names_in(folder: Path) -> List[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def _text_of(path: Path) -> Optional[str]:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return None
