"""NVML through an object that behaves like the module pynvml; the real one only where it is installed."""

import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from planner.launcher.collect.record import record_of
from planner.launcher.collect.verdict import problems_of
from planner.model.evidence.node_shapes import NodeResult
from planner.workloads.measure import telemetry
from planner.workloads.measure.telemetry import Telemetry, device_facts, joined, open_telemetry
from tests.launcher.collect.h100 import h100_document, h100_record

POWER_CAP, THERMAL, IDLE = 0x4, 0x20, 0x1


class FakeNVMLError(Exception):
    """Stand-in with the names of pynvml."""


def nvml(**changes):
    """Two devices at 500 W whose counters gain 5 J whenever they are read."""
    counters = {"GPU-a": 1000, "GPU-b": 9000}

    def energy(handle):
        counters[handle] += 5000
        return counters[handle]

    def handle_of(uuid):
        if uuid not in counters:
            raise FakeNVMLError("Not Found")
        return uuid

    return SimpleNamespace(
        **{
            "NVMLError": FakeNVMLError,
            "NVML_CLOCK_SM": 1,
            "NVML_TEMPERATURE_GPU": 0,
            "nvmlInit": lambda: None,
            "nvmlDeviceGetHandleByUUID": handle_of,
            "nvmlDeviceGetTotalEnergyConsumption": energy,
            "nvmlDeviceGetPowerUsage": lambda _: 500_000,
            "nvmlDeviceGetClockInfo": lambda *_: 1980,
            "nvmlDeviceGetMaxClockInfo": lambda *_: 2100,
            "nvmlDeviceGetTemperature": lambda *_: 61,
            "nvmlDeviceGetCurrentClocksThrottleReasons": lambda handle: POWER_CAP if handle == "GPU-b" else IDLE,
            "nvmlDeviceGetComputeRunningProcesses": lambda handle: ["ours"] * (2 if handle == "GPU-b" else 1),
            "nvmlDeviceGetUtilizationRates": lambda _: SimpleNamespace(gpu=100, memory=40),
            "nvmlDeviceGetEnforcedPowerLimit": lambda _: 700_000,
            "nvmlDeviceGetPowerManagementDefaultLimit": lambda _: 700_000,
            **changes,
        }
    )


def refuse(*arguments):
    raise FakeNVMLError("Not Supported")


def watched(module, uuids=("GPU-a", "GPU-b")):
    watching = Telemetry(module, uuids, interval_s=0.001)
    watching.start()
    deadline_s = time.monotonic() + 10
    while len(watching._samples[-1]) < 3 and time.monotonic() < deadline_s:
        time.sleep(0.002)
    return watching.stop()


def test_every_device_is_watched(monkeypatch):
    monkeypatch.setattr(telemetry, "MIN_ENERGY_WINDOW_S", 0.0)
    seen = watched(nvml())
    first, second = seen["devices"]
    assert (first["energy_j"], second["energy_j"], seen["energy_j"]) == (5.0, 5.0, 10.0)
    assert (first["energy_from"], seen["energy_from"]) == ("counter", "counter")
    assert first["max_sm_clock_mhz"] == 2100
    assert (first["mean_power_w"], first["max_power_w"], first["power_limit_w"]) == (500.0, 500.0, 700.0)
    assert (first["mean_sm_clock_mhz"], first["max_temperature_c"], first["memory_busy_share"]) == (1980, 61, 0.4)
    assert (first["throttled_share"], second["throttled_share"]) == (0.0, 1.0)
    assert second["throttle_shares"]["power_cap"] == 1.0
    assert first["samples"] >= 3
    assert seen["unknown_because"] is None


def test_energy_over_a_short_window_is_mean_power_times_seconds():
    seen = watched(nvml())
    assert seen["energy_from"] == "mean power"
    assert seen["energy_j"] == pytest.approx(2 * 500.0 * seen["seconds"])


@pytest.mark.parametrize("name", ["qwen3-0.6b-compiled", "qwen3-0.6b-recomputed"])
def test_mean_power_gives_the_energy_that_the_counter_of_an_h100_gave(name):
    """Two recorded runs, of 30 and 11 s."""
    recorded = h100_document(name)["telemetry"]
    samples = [{"power_w": recorded["devices"][0]["mean_power_w"]}]
    facts = device_facts(samples, counter_j=None, seconds=recorded["seconds"], limits_w=(None, None))
    assert facts["energy_j"] == pytest.approx(recorded["energy_j"], rel=0.006)


def test_a_record_says_where_its_energy_comes_from():
    facts = {"energy_j": 3000.0, "seconds": 6.0, "devices": []}
    read = h100_record("resnet50", telemetry=facts | {"energy_from": "mean power"}).accelerator_power
    counted = h100_record("resnet50", telemetry=facts).accelerator_power
    assert (read.value, counted.value) == (0.5, 0.5)
    assert read.source.startswith("mean power readings")
    assert counted.source.startswith("energy counters")


def test_energy_of_which_one_device_has_no_counter_is_marked_by_the_weaker_source():
    devices = [{"energy_j": 7.0, "energy_from": "counter"}, {"energy_j": 5.0, "energy_from": "mean power"}]
    whole = joined([{"unknown_because": None, "seconds": 20.0, "devices": devices}])
    assert (whole["energy_j"], whole["energy_from"]) == (12.0, "mean power")


def test_what_a_device_does_not_tell_is_null_and_the_rest_is_kept():
    mute = dict.fromkeys(
        (
            "nvmlDeviceGetTotalEnergyConsumption",
            "nvmlDeviceGetPowerUsage",
            "nvmlDeviceGetEnforcedPowerLimit",
            "nvmlDeviceGetMaxClockInfo",
        ),
        refuse,
    )
    device = watched(nvml(**mute))["devices"][0]
    assert (device["energy_j"], device["mean_power_w"], device["power_limit_w"]) == (None, None, None)
    assert (device["energy_from"], device["max_sm_clock_mhz"]) == (None, None)
    assert device["mean_sm_clock_mhz"] == 1980


def test_throttling_is_the_share_of_samples_in_which_any_reason_held():
    samples = [{"throttle_bits": bits} for bits in (0, IDLE, POWER_CAP, POWER_CAP | THERMAL)]
    facts = device_facts(samples, counter_j=None, seconds=1.0, limits_w=(None, None))
    assert facts["throttled_share"] == 0.5
    assert (facts["throttle_shares"]["power_cap"], facts["throttle_shares"]["sw_thermal"]) == (0.5, 0.25)
    assert facts["throttle_shares"]["hw_thermal"] == 0.0


def test_nothing_called_occupancy_or_utilization():
    facts = device_facts([], counter_j=None, seconds=1.0, limits_w=(None, None))
    assert not [key for key in facts if "util" in key or "occup" in key]


def test_the_energy_of_several_nodes_is_known_only_where_each_one_is():
    known = {"unknown_because": None, "seconds": 20.0, "devices": [{"energy_j": 7.0}]}
    assert joined([known, known])["energy_j"] == 14.0
    half = joined([known, telemetry.unknown("NVML: Not Found")])
    assert (half["energy_j"], half["unknown_because"], len(half["devices"])) == (None, "NVML: Not Found", 1)


@pytest.mark.parametrize(
    ("import_nvml", "reason"),
    [
        pytest.param(lambda: __import__("no_such_module"), "nvidia-ml-py is not installed", id="not installed"),
        pytest.param(lambda: nvml(nvmlInit=refuse), "NVML: Not Supported", id="no driver"),
        pytest.param(nvml, "NVML: Not Found", id="a device that it does not know"),
    ],
)
def test_without_telemetry_there_is_a_reason(import_nvml, reason):
    watching = open_telemetry(["GPU-x"], import_nvml=import_nvml)
    watching.start()
    assert watching.stop()["unknown_because"].startswith(reason)


def test_a_machine_without_nvml_is_no_error():
    """Read in a process of its own: the real library where it is installed, no library where it is not."""
    program = (
        "from workloads.measure.telemetry import open_telemetry; print(open_telemetry(['GPU-x']).stop()['devices'])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.slow
def test_what_was_seen_in_a_run_is_in_its_result(bare_node, spec_document):
    node = bare_node()
    node.append(
        "measure/telemetry.py",
        """
from types import SimpleNamespace
MIN_ENERGY_WINDOW_S = 0.0
INTERVAL_S = 0.02
class _Error(Exception): pass
_made_up = SimpleNamespace(
    NVMLError=_Error, NVML_CLOCK_SM=1, NVML_TEMPERATURE_GPU=0, nvmlInit=lambda: None,
    nvmlDeviceGetHandleByUUID=lambda uuid: uuid,
    nvmlDeviceGetTotalEnergyConsumption=lambda handle: int(time.perf_counter() * 500_000),
    nvmlDeviceGetPowerUsage=lambda handle: 500_000,
    nvmlDeviceGetClockInfo=lambda handle, which: 1980,
    nvmlDeviceGetMaxClockInfo=lambda handle, which: 1980,
    nvmlDeviceGetTemperature=lambda handle, which: 61,
    nvmlDeviceGetCurrentClocksThrottleReasons=lambda handle: 0x4,
    nvmlDeviceGetUtilizationRates=lambda handle: SimpleNamespace(memory=40),
    nvmlDeviceGetComputeRunningProcesses=lambda handle: ["this run"],
    nvmlDeviceGetEnforcedPowerLimit=lambda handle: 600_000,
    nvmlDeviceGetPowerManagementDefaultLimit=lambda handle: 700_000,
)
def open_for(device_type, *, local_rank, local_devices):
    return Telemetry(_made_up, ["a"] * local_devices, interval_s=INTERVAL_S)
""",
    )
    result = node.run(spec_document(window={"max_warmup_s": 0.1}), processes=1).result
    seen = result["telemetry"]
    assert (seen["unknown_because"], len(seen["devices"])) == (None, 1)
    assert seen["devices"][0]["compute_processes"] == 1
    assert seen["energy_j"] / seen["seconds"] == pytest.approx(500.0, rel=0.02)
    assert result["window_s"] <= seen["seconds"] < result["window_s"] + 0.2
    assert seen["devices"][0]["samples"] > 0.5 * result["window_s"] / 0.02
    problems = problems_of(NodeResult.model_validate(result))
    assert any("power limit of 600 W, below its factory limit of 700 W" in problem for problem in problems)
    record = record_of([result], aliases={})
    assert record.power is None
    assert record.accelerator_power is not None
    assert record.accelerator_power.value == pytest.approx(0.5, rel=0.02)
