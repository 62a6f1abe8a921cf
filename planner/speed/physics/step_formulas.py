"""Places of the functions that compute a step's parts, for text and for images, as `planner explain` shows them."""

from __future__ import annotations

from planner.speed.physics import communication, compute, engine, image_step, step
from planner.speed.physics.part_formula import places_of

PLACES = places_of(compute, engine, communication, step)
IMAGE_PLACES = places_of(image_step)
