"""Is the device free before a run: NVML through an object that behaves like pynvml, memory as an H100 recorded it."""

from types import SimpleNamespace

import pytest

from planner.workloads.measure.device_load import READINGS, busy_share, problem
from tests.launcher.collect.h100 import h100_document


class NVMLError(Exception):
    """Stand-in with the names of pynvml."""


def nvml(*utilizations, handle=None):
    """Return a device whose utilization is read one after the other; the last one stays."""
    left = list(utilizations)

    def rates(device):
        assert device == "GPU-a"
        return SimpleNamespace(gpu=left.pop(0) if len(left) > 1 else left[0], memory=0)

    return SimpleNamespace(
        NVMLError=NVMLError,
        nvmlInit=lambda: None,
        nvmlDeviceGetHandleByUUID=handle or (lambda uuid: uuid),
        nvmlDeviceGetUtilizationRates=rates,
    )


def refuse(*arguments):
    raise NVMLError("Not Supported")


@pytest.mark.parametrize(
    ("readings", "share"),
    [
        pytest.param([0], 0.0, id="idle"),
        pytest.param([3], 0.03, id="a little all the time"),
        pytest.param([100], 1.0, id="another training"),
        pytest.param([0, 4, 0, 0, 7, 0], 0.0, id="a desktop that draws twice"),
        pytest.param([0, 90, 95, 0, 92, 96], 0.91, id="another training between its steps"),
    ],
)
def test_the_share_of_time_in_which_others_compute(readings, share):
    """The median: of 0, 0, 90, 92, 95, 96 it is (90 + 92) / 2."""
    assert len(readings) in (1, READINGS)
    assert busy_share("a", import_nvml=lambda: nvml(*readings), pause_s=0.0) == pytest.approx(share)


@pytest.mark.parametrize(
    ("uuid", "import_nvml"),
    [
        pytest.param("a", lambda: __import__("no_such_module"), id="not installed"),
        pytest.param("a", lambda: nvml(0, handle=refuse), id="a device that NVML does not know"),
        pytest.param(None, nvml, id="a torch that does not name devices"),
    ],
)
def test_without_nvml_it_is_not_known(uuid, import_nvml):
    assert busy_share(uuid, import_nvml=import_nvml, pause_s=0.0) is None


def test_the_recorded_run_beside_another_process_would_not_have_started():
    beside = h100_document("gpt-305m-beside-others")["memory"]["in_use_before_gib"]
    alone = h100_document("gpt-305m")["memory"]["in_use_before_gib"]
    assert "17.5 GiB of its memory are in use, by other processes" in str(problem(beside, None))
    assert problem(alone, 0.0) is None


@pytest.mark.parametrize(
    ("in_use_gib", "busy", "said"),
    [
        pytest.param(1.5, 0.0, None, id="a large context"),
        pytest.param(1.6, 0.0, "1.6 GiB of its memory are in use", id="memory"),
        pytest.param(0.5, 0.4, "kernels run on it 40% of the time", id="kernels"),
        pytest.param(3.0, 0.4, "3.0 GiB of its memory are in use and kernels run on it 40%", id="both"),
        pytest.param(0.5, None, None, id="kernels not known"),
        pytest.param(0.5, 0.05, None, id="a desktop draws its screen"),
    ],
)
def test_what_makes_a_device_busy(in_use_gib, busy, said):
    wrong = problem(in_use_gib, busy)
    assert (wrong is None) == (said is None)
    assert said is None or said in wrong
