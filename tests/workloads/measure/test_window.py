import pytest

from planner.workloads.batch.micro_batch_probe import PROBE_WINDOW
from planner.workloads.contract.spec import MeasurementWindow
from planner.workloads.measure.window import STOP, is_steady, measured_steps_ahead, warmup_steps_ahead

LONG = MeasurementWindow(
    min_warmup_steps=10, min_warmup_s=30.0, max_warmup_s=300.0, min_steps=50, min_s=60.0, max_s=120.0
)
SHORT = MeasurementWindow(min_warmup_steps=10, min_warmup_s=0.0, max_warmup_s=5.0, min_steps=10, min_s=1.0, max_s=5.0)


@pytest.mark.parametrize(
    ("step_seconds", "window", "steady"),
    [
        pytest.param([1.0] * 19, LONG, False, id="two blocks need twenty steps"),
        pytest.param([1.0] * 20, LONG, True, id="two equal blocks"),
        pytest.param([1.0] * 10 + [1.009] * 10, LONG, True, id="0.9 % apart"),
        pytest.param([1.0] * 10 + [1.02] * 10, LONG, False, id="2 % apart"),
        pytest.param([1.0] * 10 + [1.02] * 10, SHORT, True, id="2 % apart in a short window"),
        pytest.param([9.0] * 10 + [1.0] * 20, LONG, True, id="only the last two blocks count"),
        pytest.param([1.0] * 20 + [9.0] * 9, LONG, True, id="an unfinished block does not count"),
    ],
)
def test_steady(step_seconds, window, steady):
    assert is_steady(step_seconds, window) is steady


@pytest.mark.parametrize(
    ("step_seconds", "elapsed_s", "ahead"),
    [
        pytest.param([], 0.0, 1, id="begins step by step"),
        pytest.param([0.1] * 20, 2.0, 5, id="steady but too early: half a second more"),
        pytest.param([2.0] * 20, 40.0, STOP, id="steady and long enough"),
        pytest.param([2.0] * 10 + [3.0] * 10, 50.0, 1, id="long enough but not steady"),
        pytest.param([20.0] * 7 + [30.0] * 8, 380.0, STOP, id="never steady: the cap"),
    ],
)
def test_warm_up_goes_on_until_steady(step_seconds, elapsed_s, ahead):
    steps = len(step_seconds)
    assert warmup_steps_ahead(LONG, step_seconds, steps_started=steps, elapsed_s=elapsed_s) == ahead


@pytest.mark.parametrize(
    ("step_seconds", "steps_started", "ahead"),
    [
        pytest.param([], 0, 1, id="begins with one step"),
        pytest.param([0.1] * 20, 20, 5, id="half a second at a time"),
        pytest.param([0.1] * 598, 598, 2, id="no further than needed"),
        pytest.param([0.1] * 600, 600, STOP, id="60 s and 50 steps"),
        pytest.param([2.0] * 40, 40, 1, id="60 s but not yet 50 steps"),
        pytest.param([3.0] * 40, 40, STOP, id="the cap of 120 s comes before 50 steps"),
        pytest.param([0.1] * 598, 600, STOP, id="steps under way count"),
    ],
)
def test_measuring_goes_on_until_both_minima_or_the_cap(step_seconds, steps_started, ahead):
    assert measured_steps_ahead(LONG, step_seconds, steps_started=steps_started) == ahead


@pytest.mark.parametrize(
    ("window", "waits"),
    [
        pytest.param(LONG, True, id="a measurement"),
        pytest.param(SHORT, True, id="a smoke test"),
        pytest.param(MeasurementWindow(**PROBE_WINDOW), False, id="a probe: a second of warm-up, no more and no less"),
    ],
)
def test_a_warm_up_of_a_fixed_length_is_not_judged(window, waits):
    assert window.waits_until_steady is waits
