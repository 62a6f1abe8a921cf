"""Texts in the form that nvidia-smi's manual and its own legends document."""

import pytest

from planner.workloads.measure import topology
from planner.workloads.measure.topology import (
    NoAnswerError,
    cleaned,
    gather,
    numa_nodes,
    read_links,
    read_matrix,
    read_nvlink,
    read_pcie,
)

TOPO_M = (
    "\t\x1b[4mGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n"
    "GPU0\t X \tNV18\tPXB\t0-47,96-143\t0\t\tN/A\n"
    "GPU1\tNV18\t X \tSYS\t48-95,144-191\t1\t\tN/A\n"
    "NIC0\tPXB\tSYS\t X \t\t\t\t\n"
    "\n"
    "Legend:\n\n  X    = Self\n  SYS  = Connection traversing PCIe as well as the SMP interconnect\n"
    "  NV#  = Connection traversing a bonded set of # NVLinks\n\n"
    "NIC Legend:\n\n  NIC0: mlx5_0\n\n"
)
TOPO_P2P = (
    " \t\x1b[4mGPU0\tGPU1\t\x1b[0m\n GPU0\tX\tOK\t\n GPU1\tCNS\tX\t\n\n"
    "Legend:\n\n  X    = Self\n  OK   = Status Ok\n  CNS  = Chipset not supported\n"
)
NVLINK = (
    "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-0a1b2c3d-0000-1111-2222-333344445555)\n"
    "\t Link 0: 26.562 GB/s\n\t Link 1: 26.562 GB/s\n\t Link 2: <inactive>\n"
    "GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-0a1b2c3d-0000-1111-2222-333344445556)\n"
    "\t Link 0: <inactive>\n"
)
PCIE = "0, 1, 5, 16, 16\n1, 5, 5, 8, 16\n"
NO_NUMA = "\tGPU0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU0\t X \t\tN/A\t\tN/A\n\nLegend:\n"


def answers(**changes):
    texts = {"topo_m": TOPO_M, "topo_p2p_read": TOPO_P2P, "nvlink_status": NVLINK, "pcie": PCIE} | changes

    def ask(question):
        if tuple(question) == topology.BUS_ADDRESSES:
            return "00000000:17:00.0\n"
        name = next(name for name, known in topology.QUESTIONS.items() if known == tuple(question))
        if texts[name] is None:
            raise NoAnswerError(f"{name}: not on this driver")
        return cleaned(texts[name])

    return ask


def test_links_go_to_every_gpu_and_interface_by_its_own_name():
    links, numa = read_links(cleaned(TOPO_M))
    assert links == {"GPU0": {"GPU1": "NV18", "mlx5_0": "PXB"}, "GPU1": {"GPU0": "NV18", "mlx5_0": "SYS"}}
    assert numa == {"GPU0": 0, "GPU1": 1}


def test_peer_access_is_read_in_each_direction():
    assert read_matrix(cleaned(TOPO_P2P)) == {"GPU0": {"GPU1": "OK"}, "GPU1": {"GPU0": "CNS"}}


def test_active_nvlinks_are_counted_and_added():
    assert read_nvlink(cleaned(NVLINK)) == {
        "GPU0": {"active_links": 2, "gb_per_s": 53.124},
        "GPU1": {"active_links": 0, "gb_per_s": 0.0},
    }


def test_pcie_says_what_is_and_what_could_be():
    assert read_pcie(PCIE)["GPU1"] == {"generation": 5, "generation_max": 5, "lanes": 8, "lanes_max": 16}
    assert read_pcie("0, [N/A], [N/A], [N/A], [N/A]\n")["GPU0"]["lanes"] is None


def test_no_uuid_stays(tmp_path):
    facts = gather(on_cuda=True, ask=answers(), sys_folder=tmp_path)
    assert "UUID" not in repr(facts)
    assert "0a1b2c3d" not in repr(facts)
    assert "\x1b" not in repr(facts)
    assert facts["gpus"]["raw"]["nvlink_status"].startswith("GPU 0: NVIDIA H100 80GB HBM3\n")
    assert facts["gpus"]["unknown_because"] == {}


def test_where_nvidia_smi_does_not_know_the_numa_node_the_kernel_does(tmp_path):
    folder = tmp_path / "bus/pci/devices/0000:17:00.0"
    folder.mkdir(parents=True)
    (folder / "numa_node").write_text("1\n")
    facts = gather(on_cuda=True, ask=answers(topo_m=NO_NUMA), sys_folder=tmp_path)
    assert facts["gpus"]["numa"] == {"GPU0": 1}
    assert "17:00" not in repr(facts)


def test_one_question_without_an_answer_leaves_the_others(tmp_path):
    gpus = gather(on_cuda=True, ask=answers(nvlink_status=None), sys_folder=tmp_path)["gpus"]
    assert gpus["nvlink"] is None
    assert gpus["unknown_because"] == {"nvlink_status": "nvlink_status: not on this driver"}
    assert gpus["links"]["GPU0"]["GPU1"] == "NV18"


@pytest.mark.parametrize(
    ("on_cuda", "reason"),
    [
        pytest.param(True, "nvidia-smi is not on this machine", id="no nvidia-smi"),
        pytest.param(False, "the run is on the CPU", id="CPU"),
    ],
)
def test_where_there_is_nothing_to_say_it_says_why(tmp_path, monkeypatch, on_cuda, reason):
    monkeypatch.setenv("PATH", str(tmp_path))
    facts = gather(on_cuda=on_cuda, sys_folder=tmp_path)
    assert facts == {"gpus": None, "gpus_unknown_because": reason, "numa_nodes": {}, "rdma_interfaces": []}


def test_a_nvidia_smi_that_fails_is_quoted(tmp_path, monkeypatch):
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho 'Failed to initialize NVML: Driver/library version mismatch'\nexit 18\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    facts = gather(on_cuda=True, sys_folder=tmp_path)
    assert facts["gpus"] is None
    assert "code 18: Failed to initialize NVML" in facts["gpus_unknown_because"]


def test_numa_nodes_and_rdma_interfaces_come_from_the_kernel(tmp_path):
    for number, cpus in ((0, "0-47"), (10, "48-95"), (2, "96-143")):
        (tmp_path / f"devices/system/node/node{number}").mkdir(parents=True)
        (tmp_path / f"devices/system/node/node{number}/cpulist").write_text(f"{cpus}\n")
    (tmp_path / "class/infiniband/rdmap0").mkdir(parents=True)
    assert numa_nodes(tmp_path) == {"0": "0-47", "2": "96-143", "10": "48-95"}
    assert gather(on_cuda=False, sys_folder=tmp_path)["rdma_interfaces"] == ["rdmap0"]
