"""The planner from Python: `planner.compare("plan.yaml").to_frame()`; see docs/python.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from planner.api import PlannerError, ask, compare, estimate, memory, prices

__all__ = ["PlannerError", "ask", "compare", "estimate", "memory", "prices"]


def __getattr__(name: str) -> Any:
    """Load a public name at its first use, because the command line imports this package and needs none of them."""
    if name == "__version__":
        from planner.use_cases.version import VERSION

        return VERSION
    if name not in __all__:
        raise AttributeError(f"module 'planner' has no attribute {name!r}")
    from planner import api

    return getattr(api, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
