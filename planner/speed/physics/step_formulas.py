"""The formulas of all parts of a step, of text and of images, as `planner explain` shows them."""

from __future__ import annotations

from planner.speed.physics import communication, compute, engine, image_step, step
from planner.speed.physics.part_formula import PartFormula, formulas_of

FORMULAS = formulas_of(compute, engine, communication, step)
IMAGE_FORMULAS = formulas_of(image_step)
ELSEWHERE = PartFormula("see docs/estimator.md", "planner/speed/physics/step.py")
