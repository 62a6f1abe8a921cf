"""The physics' formulas come out of its code: every constant that changes a part of a step changes its text."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from planner.model.answer.formula_used import FormulaUsed
from planner.quantity.formula_text import printed
from planner.quantity.recorded_number import recording
from planner.speed.estimator.text_estimator import fitted
from planner.speed.physics import communication, compute, engine, step
from planner.speed.physics.config_arrays import Configs, from_rows
from planner.speed.physics.part_formula import recorded_configs, recorded_constants
from tests.bundled import bundled_catalog, text_rows
from tests.formula_evaluation import evaluated

CONSTANTS = [
    pytest.param(module, name, id=f"{module.__name__.rsplit('.', 1)[-1]}.{name}")
    for module in (compute, communication, engine, step)
    for name, value in vars(module).items()
    if name.isupper() and isinstance(value, float)
]
MOST_ROWS = 40
CONSTANT_OF_NO_PART = {"SMALLEST_SECONDS", "SMALLEST_RATIO", "LARGEST_OF_TWO", "LARGEST_POWER", "HOST_SHARPNESS"}
"""Of the whole step alone, or instead of nothing."""


def constants() -> dict[str, float]:
    calibration = bundled_catalog().calibration
    assert calibration is not None
    return dict(fitted(calibration).constants)


def configs() -> list[Configs]:
    """Return unlike configurations of published runs: every other one by strategy, split and adapters.

    The first accumulates micro-batches under DeepSpeed's stage 2.
    """
    rows = [row.config for row in text_rows()]
    accumulates = (one for one in rows if one["deepspeed"] and one["zero"] == 2 and one["micro_batches"] > 1)
    seen: dict[tuple[float, ...], Configs] = {(): from_rows([next(accumulates)])}
    for config in rows:
        keys = ("zero", "tp", "pp", "cp", "ep", "adapters", "quantized", "recompute", "flash", "deepspeed")
        seen.setdefault(tuple(min(float(config[key]), 2.0) for key in keys), from_rows([config]))
    return list(seen.values())[:MOST_ROWS]


def recorded_parts(config: Configs, of: dict[str, float]) -> dict[str, FormulaUsed]:
    """Return by part its formula; those that are nothing have none."""
    with recording():
        parts = step.formula_seconds(recorded_configs(config, of), recorded_constants(of))
        found = {name: printed({name: one.ravel()[0]}) for name, one in parts.items()}
    return {name: formulas[0] for name, formulas in found.items() if formulas}


def value(formula: FormulaUsed) -> float:
    return evaluated(formula.text, {one.name: one.value for one in formula.inputs})


def test_the_text_of_every_part_gives_the_seconds_of_the_plain_physics() -> None:
    of = constants()
    for config in configs():
        plain = step.formula_seconds(config, of)
        for name, formula in recorded_parts(config, of).items():
            seconds = float(plain[name].ravel()[0])
            assert value(formula) == pytest.approx(seconds, rel=1e-9, abs=1e-15), (name, formula.text)


@pytest.mark.slow
@pytest.mark.parametrize(("module", "name"), CONSTANTS)
def test_another_constant_changes_the_text_of_each_part_that_it_changes(
    module: ModuleType, name: str, monkeypatch: Any
) -> None:
    of, rows = constants(), configs()
    before = [recorded_parts(config, of) for config in rows]
    for every in (compute, communication, engine, step):  # who imports it has a name of its own for it
        if hasattr(every, name):
            monkeypatch.setattr(every, name, getattr(every, name) * 1.37)
    moved = 0
    for config, was in zip(rows, before, strict=True):
        for part, formula in recorded_parts(config, of).items():
            if part in was and abs(formula.value - was[part].value) > 1e-9 * was[part].value:
                moved += 1
                assert formula.text != was[part].text, part
                assert value(formula) == pytest.approx(formula.value, rel=1e-9)
    assert moved or name in CONSTANT_OF_NO_PART
