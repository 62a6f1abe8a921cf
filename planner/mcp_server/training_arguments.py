"""Training arguments that several tools share: listed once, and added to each tool's signature."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, get_type_hints

from planner.adapters.documents import parse_model
from planner.mcp_server import tool_inputs as given
from planner.model.plan.plan import Training
from planner.use_cases.trained_adapters import AdapterChoice

SETTINGS: dict[str, Any] = {
    "precision": given.NumberFormat, "framework": given.Framework, "strategy": given.AnyStrategy,
    "checkpointing": given.AnyCheckpointing, "micro_batch": given.MicroBatch, "global_batch": given.GlobalBatch,
    "loss": given.LossWay, "kernels": given.KernelWay, "optimizer": given.AnyOptimizer, "weights": given.Weights,
    "offload": given.Offloaded, "attention": given.AttentionWay,
}  # fmt: skip
"""Settings of a plan's `training`, each with its description for agents."""
ADAPTERS: dict[str, Any] = {
    "method": given.Method, "lora_rank": given.LoraRank, "lora_targets": given.LoraTargets,
}  # fmt: skip
STATED = "stated"
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class StatedSettings:
    """Return the stated training settings."""

    training: Training
    adapters: AdapterChoice


def with_training_arguments(tool: Callable[..., Answer]) -> Callable[..., Answer]:
    """Return a tool that takes each of the shared arguments. The decorated function gets them as `stated`."""

    @functools.wraps(tool)
    def asked(*args: Any, **named: Any) -> Answer:
        settings, adapters = (
            {name: value for name in shared if (value := named.pop(name, None)) is not None}
            for shared in (SETTINGS, ADAPTERS)
        )
        training = parse_model(Training, settings, where="the arguments")
        return tool(*args, **{STATED: StatedSettings(training, AdapterChoice(**adapters))}, **named)

    types = get_type_hints(tool, include_extras=True)
    own = [parameter for parameter in inspect.signature(tool).parameters.values() if parameter.name != STATED]
    by_name = inspect.Parameter.KEYWORD_ONLY
    shared = [
        inspect.Parameter(name, by_name, default=None, annotation=kind) for name, kind in (SETTINGS | ADAPTERS).items()
    ]
    parameters = [parameter.replace(annotation=types.get(parameter.name, parameter.annotation)) for parameter in own]
    signature = inspect.Signature([*parameters, *shared], return_annotation=types["return"])
    asked.__signature__ = signature  # type: ignore[attr-defined]
    asked.__annotations__ = {parameter.name: parameter.annotation for parameter in signature.parameters.values()} | {
        "return": types["return"]
    }
    return asked
