"""Sizes of a layer's work, places of the functions that compute a step's parts, and recorded inputs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from planner.quantity.recorded_number import NamedInput, Recorded, RecordedElement
from planner.speed.physics.config_arrays import Configs

if TYPE_CHECKING:
    from planner.speed.physics.config_arrays import Array
    from planner.speed.physics.parameters import Parameter


BACKWARD = 2.0
"""Backward pass of a product / its forward pass: one product for each of its two inputs."""


def attention_matrices(c: Configs) -> Array:
    """Return the weights of one layer's query, key, value and output."""
    import numpy as np

    return np.asarray(2 * c.hidden * (c.q_dim + c.kv_dim))


def expert_matrices(c: Configs) -> Array:
    """Return the weights of one expert of one layer; for a dense network, those of its MLP."""
    return c.mlp_matrices * c.hidden * c.ffn_hidden


def layer_matrices(c: Configs) -> Array:
    """Return the weights of one layer that one token uses: attention, and the active experts."""
    import numpy as np

    return np.asarray(attention_matrices(c) + expert_matrices(c) * c.active_experts)


def stored_matrices(c: Configs) -> Array:
    """Return all weights of one layer, including every expert."""
    import numpy as np

    return np.asarray(attention_matrices(c) + expert_matrices(c) * c.experts)


def passes(c: Configs) -> Array:
    """Return the products of one training pass, in forward passes: 1 + recomputed + without gradients + backward.

    With adapters, frozen weights need no gradients, which saves one.
    """
    return 1 + forward_again(c) + BACKWARD - c.adapters


def forward_again(c: Configs) -> Array:
    """Return the number of additional forward passes: recomputed ones, and those of a reference."""
    return c.recompute + c.forward_only


def gathers_weights(c: Configs) -> Array:
    """Return which configurations gather sharded weights for every micro-batch; pipelines keep them gathered."""
    import numpy as np

    return np.asarray((c.zero >= 3) & (c.pp <= 1))


def trained_share(c: Configs) -> Array:
    """Return the trained share of the parameters: 1, or rank x inputs and outputs of adapted maps / parameters."""
    import numpy as np

    return np.where(c.adapters > 0, c.layers * c.rank * c.adapted / c.parameters, 1.0)


def micro_tokens(c: Configs) -> Array:
    """Return the tokens of one micro-batch on one device; context parallelism divides them."""
    return c.micro_batch * c.seq_len / c.cp


Function = TypeVar("Function", bound=Callable[..., object])
ConfigArrays = TypeVar("ConfigArrays")
ATTRIBUTE = "__parts__"
PRODUCT_TABLE, OWNER_COLUMN = "products", "owner"
"""Names of the field with an image network's products, and of the column with their configuration's place."""


def computes(*parts: str) -> Callable[[Function], Function]:
    """Mark a function with the parts of a step that it computes; their formulas are recorded when it runs."""

    def attach(function: Function) -> Function:
        setattr(function, ATTRIBUTE, parts)
        return function

    return attach


def places_of(*modules: ModuleType) -> dict[str, str]:
    """Return for each part the file and function, among these modules, that compute it."""
    return {
        part: f"{module.__name__.replace('.', '/')}.py: {name}"
        for module in modules
        for name, function in vars(module).items()
        if getattr(function, "__module__", None) == module.__name__
        for part in getattr(function, ATTRIBUTE, ())
    }


def recorded_configs(configs: ConfigArrays, constants: Mapping[str, float]) -> ConfigArrays:
    """Return the configurations with numbers that remember their field's name.

    A field with the name of a constant gets the suffix `_of_it`. Numbers of products also have their place in the row.
    """

    def name_of(field: str) -> str:
        return f"{field}_of_it" if field in constants else field

    changed = {}
    for field in fields(configs):  # type: ignore[arg-type]
        values: Any = getattr(configs, field.name)
        if field.name == PRODUCT_TABLE:
            columns = {
                name: _recorded(f"{name_of(name)}_of_product", column)
                for name, column in values._asdict().items()
                if name != OWNER_COLUMN
            }
            changed[field.name] = values._replace(**columns)
        else:
            changed[field.name] = _recorded(name_of(field.name), values)
    return replace(configs, **changed)  # type: ignore[type-var]


def recorded_constants(constants: Mapping[str, float], parameters: Sequence[Parameter]) -> dict[str, Any]:
    """Return the constants of the physics as numbers that remember their names and meanings."""
    meanings = {parameter.name: f"calibrated constant: {parameter.meaning}" for parameter in parameters}
    return {
        name: RecordedElement(value, NamedInput(name, "", meanings.get(name, ""))) for name, value in constants.items()
    }


def log2_of(values: Array) -> Array:
    """Return logarithms to base 2, also of arrays that mix plain and recorded numbers, which numpy cannot take."""
    import numpy as np

    if values.dtype != object:
        return np.asarray(np.log2(values))
    by_element = np.frompyfunc(lambda value: value.log2() if isinstance(value, Recorded) else math.log2(value), 1, 1)
    return np.asarray(by_element(values))


def _recorded(name: str, values: Array) -> Array:
    import numpy as np

    several = len(values) > 1
    numbers = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        numbers[place] = RecordedElement(float(value), NamedInput(f"{name}_{place + 1}" if several else name))
    return numbers
