"""Where the parts of a step are computed, of text and of images, as `planner explain` shows it."""

from __future__ import annotations

from planner.speed.physics import communication, compute, engine, image_step, step
from planner.speed.physics.part_formula import places_of

PLACES = places_of(compute, engine, communication, step)
IMAGE_PLACES = places_of(image_step)
