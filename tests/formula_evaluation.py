"""The text of a formula computed by Python's own evaluator: nothing of the planner's."""

from __future__ import annotations

import math
from typing import Any

FUNCTIONS: dict[str, Any] = {
    "log": math.log, "log2": math.log2, "log1p": math.log1p, "exp": math.exp, "expm1": math.expm1, "sqrt": math.sqrt,
    "abs": abs, "min": min, "max": max, "ceil": math.ceil, "round": round,
    "smooth_max": lambda a, b, k: (a**k + b**k) ** (1 / k),
}  # fmt: skip


def evaluated(text: str, inputs: dict[str, float]) -> float:
    """Return what a text gives with the inputs that it names put in."""
    python = text.replace(" x ", " * ").replace("^", "**")
    return float(eval(python, {"__builtins__": {}}, FUNCTIONS | inputs))
