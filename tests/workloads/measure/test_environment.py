import re
import socket

import pytest

from planner.workloads.measure.environment import build_problem, describe, describe_torch, use_expandable_segments

V100_WITH_CU128 = ["sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120"]
CU124 = ["sm_50", "sm_60", "sm_70", "sm_75", "sm_80", "sm_86", "sm_90"]


@pytest.mark.parametrize(
    ("capability", "arch_list"),
    [
        pytest.param((7, 0), CU124, id="V100 with an older build"),
        pytest.param((8, 9), CU124, id="sm_86 binaries run on 8.9"),
        pytest.param((9, 0), [*CU124, "sm_90a"], id="H200"),
        pytest.param((12, 0), [*CU124, "compute_90"], id="the driver compiles for a later device"),
        pytest.param((9, 0), [], id="a build without CUDA says nothing"),
    ],
)
def test_a_build_that_runs(capability, arch_list):
    assert build_problem(capability, arch_list, "GPU") is None


@pytest.mark.parametrize(
    ("capability", "arch_list", "says"),
    [
        pytest.param((7, 0), V100_WITH_CU128, "V100 needs sm_70.*cu126", id="V100 with a recent build"),
        pytest.param((12, 0), CU124, "needs sm_120.*cu128", id="RTX PRO 6000 with an older build"),
        pytest.param((8, 0), ["sm_86", "sm_90a"], "needs sm_80", id="a minor version is not older code"),
        pytest.param((10, 0), ["sm_90a"], "needs sm_100.*cu128", id="sm_90a runs on 9.0 alone"),
    ],
)
def test_a_wrong_build_is_named_with_the_one_that_works(capability, arch_list, says):
    problem = build_problem(capability, arch_list, "V100")
    assert problem is not None
    assert re.search(says, problem)


def test_the_environment_names_versions_and_no_host():
    facts = {**describe(), **describe_torch()}
    assert facts["torch"]
    assert facts["cpu_cores"] >= 1
    host = socket.gethostname()
    assert all(host != value for value in facts.values())


NEWER, OLDER = "PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param({}, {NEWER: "expandable_segments:True", OLDER: "expandable_segments:True"}, id="not set"),
        pytest.param({NEWER: "max_split_size_mb:64"}, {NEWER: "max_split_size_mb:64"}, id="set by its newer name"),
        pytest.param({OLDER: "expandable_segments:False"}, {OLDER: "expandable_segments:False"}, id="by its older"),
    ],
)
def test_segments_expand_unless_a_person_sets_the_allocator(before, after):
    variables = dict(before)
    use_expandable_segments(variables)
    assert variables == after


def test_a_cpu_has_no_allocator_to_name(monkeypatch):
    monkeypatch.setenv(NEWER, "expandable_segments:True")
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert {**describe(), **describe_torch()}["allocator"] is None
