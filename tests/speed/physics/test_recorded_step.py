"""Formulas recorded from the physics' code: every constant that changes a part of a step changes its text."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from planner.model.quantity import FormulaUsed
from planner.quantity.formula_text import printed
from planner.quantity.recorded_number import recording
from planner.speed.estimator.text_estimator import fitted
from planner.speed.physics import communication, compute, part_formula, step
from planner.speed.physics.config_arrays import Configs, from_rows
from planner.speed.physics.part_formula import recorded_configs, recorded_constants
from tests.bundled import bundled_catalog, text_rows
from tests.formula_evaluation import evaluated

MODULES = (part_formula, compute, communication, step)
CONSTANTS = [
    pytest.param(module, name, id=f"{module.__name__.rsplit('.', 1)[-1]}.{name}")
    for module in MODULES
    for name, value in vars(module).items()
    if name.isupper() and isinstance(value, float)
]
MOST_ROWS = 40
CONSTANT_OF_NO_PART = {"SMALLEST_SECONDS", "SMALLEST_RATIO", "LARGEST_OF_TWO", "LARGEST_POWER", "HOST_SHARPNESS"}
"""Constants that only the whole step uses, or that replace 0."""


def constants() -> dict[str, float]:
    calibration = bundled_catalog().calibration
    assert calibration is not None
    return dict(fitted(calibration).constants)


def configs() -> list[Configs]:
    """Return configurations of published runs that differ in strategy, split or adapters.

    The first accumulates micro-batches under DeepSpeed's stage 2.
    """
    rows = [row.config for row in text_rows()]
    accumulates = (row for row in rows if row["deepspeed"] and row["zero"] == 2 and row["micro_batches"] > 1)
    seen: dict[tuple[float, ...], Configs] = {(): from_rows([next(accumulates)])}
    for config in rows:
        keys = ("zero", "tp", "pp", "cp", "ep", "adapters", "quantized", "recompute", "flash", "deepspeed")
        seen.setdefault(tuple(min(float(config[key]), 2.0) for key in keys), from_rows([config]))
    return list(seen.values())[:MOST_ROWS]


def recorded_parts(config: Configs, of: dict[str, float]) -> dict[str, FormulaUsed]:
    """Return the formula of each part that is not 0."""
    with recording():
        parts = step.formula_seconds(recorded_configs(config, of), recorded_constants(of, ()))
        found = {name: printed({name: seconds.ravel()[0]}) for name, seconds in parts.items()}
    return {name: formulas[0] for name, formulas in found.items() if formulas}


def value(formula: FormulaUsed) -> float:
    return evaluated(formula.text, {number.name: number.value for number in formula.inputs})


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
    for user in MODULES:  # every module that imports the constant has its own name for it
        if hasattr(user, name):
            monkeypatch.setattr(user, name, getattr(user, name) * 1.37)
    moved = 0
    for config, was in zip(rows, before, strict=True):
        for part, formula in recorded_parts(config, of).items():
            if part in was and abs(formula.value - was[part].value) > 1e-9 * was[part].value:
                moved += 1
                assert formula.text != was[part].text, part
                assert value(formula) == pytest.approx(formula.value, rel=1e-9)
    assert moved or name in CONSTANT_OF_NO_PART
