"""A published network by its name: one row of `catalogs/networks.csv`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, TypeAdapter

from planner.model.base import Count, Day, Frozen, Id, Text
from planner.model.network.architecture import Architecture, usual_seq_len
from planner.model.network.workload import QUICK_WINDOW, STANDARD_WINDOW, Precision, Preset

_ARCHITECTURE: TypeAdapter[Architecture] = TypeAdapter(Architecture)


def _numbers(value: Any) -> Any:
    """Read `3-4-6-3` as four numbers, and `0` as one."""
    return tuple(int(part) for part in value.split("-")) if isinstance(value, str) else value


def _names(value: Any) -> Any:
    return tuple(part.strip() for part in value.split("|")) if isinstance(value, str) else value


Numbers = Annotated[tuple[Annotated[int, Field(ge=0)], ...], BeforeValidator(_numbers)]
NOT_SIZES = ("id", "names", "parameters", "parameters_source", "deviation", "source", "as_of")


class KnownNetwork(Frozen):
    """Sizes of a published network: the keys of an architecture, and their source."""

    id: Id
    names: Annotated[tuple[Text, ...], BeforeValidator(_names)]
    """Names of its repositories. Base and fine-tuned ones have the same sizes."""
    kind: Literal["decoder", "moe_decoder", "encoder", "resnet", "vit"]
    layers: Count | None = None
    hidden: Count | None = None
    heads: Count | None = None
    kv_heads: Count | None = None
    head_dim: Count | None = None
    ffn_hidden: Count | None = None
    experts: Count | None = None
    experts_per_token: Count | None = None
    moe_ffn_hidden: Count | None = None
    shared_experts: Count | None = None
    dense_layers: Numbers | None = None
    mlp: Literal["gelu", "swiglu"] | None = None
    norm: Literal["layernorm", "rmsnorm"] | None = None
    bias: bool | None = None
    positions: Literal["learned", "rope"] | None = None
    max_positions: Count | None = None
    qk_norm: bool | None = None
    vocab: Count | None = None
    tied_head: bool | None = None
    blocks: Numbers | None = None
    width: Count | None = None
    patch_size: Count | None = None
    image_size: Count | None = None
    classes: Count | None = None
    token_types: Count | None = None
    vectors: Annotated[int, Field(ge=0)] | None = None
    parameters: Count
    """Published number of parameters, from another source than the sizes."""
    parameters_source: Text
    deviation: Text | None = None
    """Reason why the count of these sizes is more than 1 % off the published one."""
    source: Text
    """Repository and file of the sizes."""
    as_of: Day

    @property
    def architecture(self) -> Architecture:
        """Network as an architecture."""
        sizes = self.model_dump(exclude=set(NOT_SIZES), exclude_none=True)
        return _ARCHITECTURE.validate_python(sizes)

    def preset(self) -> Preset:
        """Return the network as a workload, with the usual length of samples."""
        architecture = self.architecture
        return Preset(
            schema_version=1,
            name=self.id,
            names=self.names,
            description=f"{self.names[0]}, {self.parameters / 1e9:.4g} billion parameters",
            architecture=architecture,
            seq_len=usual_seq_len(architecture),
            micro_batch=architecture.usual_batch,
            precision=Precision.BF16,
            window=STANDARD_WINDOW,
            quick_window=QUICK_WINDOW,
            source=self.source,
            as_of=self.as_of,
        )
