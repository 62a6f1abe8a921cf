"""A family that the planner does not ship, with two kinds of layers: every answer knows it through its family alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import pytest

from planner.decide.options.estimate_plan import estimate_plan
from planner.decide.options.explain import explain_plan
from planner.decide.options.step_breakdown import Published
from planner.launcher.bench.bench import spec_of
from planner.launcher.bench.bench_settings import BenchSettings
from planner.model.catalog import Catalog
from planner.model.network.architecture import Decoder, Transformer
from planner.model.network.trainer_memory import NOTHING_STATED
from planner.model.network.workload import Preset
from planner.model.plan.plan import FlopsConvention, Plan
from planner.network.families import known_families
from planner.network.families.text import TextFamily
from planner.network.flops import flops_per_token, parameters
from planner.network.layer_kind import LayerKind, layers_like
from planner.scenario.training_setup import TrainingSetup
from planner.speed.memory.memory_answer import answer
from planner.speed.memory.memory_question import MemoryQuestion
from planner.speed.memory.planned_settings import planned_trainer_memory
from planner.workloads.contract import architecture as shapes
from tests.bundled import bundled_catalog


class SlidingDecoder(Transformer):
    """A decoder whose layers look back over a window, but for one in `every`, which looks back over all."""

    kind: Literal["sliding"] = "sliding"
    ffn_hidden: int
    window: int
    every: int


class SlidingFamily(TextFamily[SlidingDecoder]):
    """Two kinds of layers, alike but for their window."""

    @cached_property
    def layers(self) -> tuple[LayerKind, ...]:
        full = -(-self.network.layers // self.network.every)
        kind = layers_like(self.network, full)._replace(ffn_hidden=self.network.ffn_hidden)
        return (kind._replace(layers=self.network.layers - full, window=self.network.window), kind)


@dataclass(frozen=True)
class SlidingShape(shapes.DecoderShape):
    window: int = 0
    every: int = 1

    def window_of(self, number: int) -> int | None:
        return None if number % self.every == 0 else self.window


TINY = {
    "layers": 4, "hidden": 64, "heads": 4, "kv_heads": 2, "head_dim": 16, "ffn_hidden": 128, "mlp": "swiglu",
    "norm": "rmsnorm", "positions": "rope", "max_positions": 128, "vocab": 256, "tied_head": False, "window": 32,
    "every": 4,
}  # fmt: skip
LARGE = TINY | {
    "layers": 32, "hidden": 4096, "heads": 32, "kv_heads": 8, "head_dim": 128, "ffn_hidden": 14336, "vocab": 128256,
    "max_positions": 65536, "window": 1024,
}  # fmt: skip
AS_DECODER = {"kind": "decoder"}
LENGTH = 16384


@pytest.fixture(autouse=True)
def added(monkeypatch: pytest.MonkeyPatch) -> None:
    from planner.workloads.models import decoder, registry

    monkeypatch.setitem(known_families.FAMILIES, "sliding", SlidingFamily)
    monkeypatch.setitem(shapes.SHAPES, "sliding", SlidingShape)
    monkeypatch.setitem(registry.TEXT_MODELS, "sliding", decoder.DecoderModel)


def preset(sizes: dict[str, object], seq_len: int) -> Preset:
    usual = bundled_catalog().presets["cpu-smoke"]
    kind = Decoder if "kind" in sizes else SlidingDecoder
    network = kind.model_validate({name: value for name, value in sizes.items() if name in kind.model_fields})
    return usual.model_copy(update={"name": "sliding", "architecture": network, "seq_len": seq_len, "micro_batch": 1})


def catalog_with(sizes: dict[str, object]) -> Catalog:
    return bundled_catalog().model_copy(update={"presets": {"sliding": preset(sizes, LENGTH)}})


PLAN = Plan.model_validate(
    {
        "schema_version": 1, "name": "a family of one's own", "workload": {"ref": "sliding"}, "work": {"tokens": 1e9},
        "training": {"precision": "bf16"}, "options": [{"offer": "aws/p5.48xlarge", "price": "on_demand"}],
    }
)  # fmt: skip


def rate(sizes: dict[str, object]) -> float:
    return estimate_plan(PLAN, catalog_with(sizes)).options[0].throughput.value


def test_windows_make_a_training_faster_and_one_as_long_as_the_sample_changes_nothing() -> None:
    assert rate(LARGE | {"window": LENGTH}) == pytest.approx(rate(LARGE | AS_DECODER))
    assert rate(LARGE | {"window": LENGTH}) < rate(LARGE) < rate(LARGE | {"window": 256})


def test_pairs_outside_the_windows_cost_no_flops() -> None:
    """Sum: 12 FLOPs x 4,096 numbers x (24 layers of 1,024 + 8 layers of 16,384 tokens), beside 6 of each weight."""
    network = preset(LARGE, LENGTH).architecture
    found = flops_per_token(network, seq_len=LENGTH, convention=FlopsConvention.FULL_ATTENTION)
    weights = 32 * (2 * 4096 * (4096 + 1024) + 3 * 4096 * 14336) + 128256 * 4096
    assert found == 6 * weights + 12 * 4096 * (24 * 1024 + 8 * 16384)


def test_explain_adds_up_and_names_its_attention() -> None:
    (found,) = explain_plan(PLAN, catalog_with(LARGE), lambda _: Published([])).options
    assert sum(part.seconds for part in found.parts) == pytest.approx(found.step_seconds)
    assert "attention" in {part.name for part in found.parts}


def test_memory_is_that_of_the_same_layers_without_windows() -> None:
    catalog, trainer = bundled_catalog(), planned_trainer_memory(NOTHING_STATED, None)
    device = catalog.accelerators[catalog.nodes["aws/p5.48xlarge"].accelerator]
    found = [
        answer(MemoryQuestion(TrainingSetup(workload="it", network=network, seq_len=4096), device, 8, trainer))
        for network in (preset(LARGE, 4096).architecture, preset(LARGE | AS_DECODER, 4096).architecture)
    ]
    assert found[0] == found[1]


def test_the_benchmark_trains_it() -> None:
    import torch

    from planner.workloads.contract.spec_reader import from_json
    from planner.workloads.models.registry import build_on_meta, count_parameters

    spec = from_json(spec_of(preset(TINY, 64), BenchSettings(devices=1), micro_batch=2))
    model = build_on_meta(spec)
    model.to_empty(device="cpu")
    model.init_weights(seed=0)
    tokens = torch.randint(256, (2, 64), generator=torch.Generator().manual_seed(0))
    loss = model(tokens[:, :-1], tokens[:, 1:])
    loss.backward()
    assert loss.item() == pytest.approx(math.log(256), rel=0.02)
    assert count_parameters(model) == parameters(preset(TINY, 64).architecture)
