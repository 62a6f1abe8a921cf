"""Reports of memory that no constant was fitted to: peaks, failures and runs that fitted, with their predictions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, Literal, NamedTuple

from benchmarks.memory_peaks import gib_as_measured
from planner.model.base import Count, Fraction, Positive, Text
from planner.model.hardware.machines import Accelerator
from planner.model.network.adapters import Adapters, FrozenFormat
from planner.model.network.architecture import Decoder
from planner.model.network.trainer_memory import TrainerMemory, TrainerSettings
from planner.model.network.training_method import (
    Engine,
    Generation,
    MethodSettings,
    Reference,
    RewardSource,
    TrainingMethod,
)
from planner.model.network.workload import Checkpointing, Precision, Strategy
from planner.scenario.trainers import takes_one_device_recipe
from planner.scenario.training_setup import TrainingSetup
from planner.speed.memory.device_memory import DeviceMemory
from planner.speed.memory.memory import device_parts
from planner.speed.memory.planned_settings import (
    PossibleNeed,
    alternatives,
    assumed_attention,
    chance_within,
    known_names,
    planned_trainer_memory,
    size_for,
)

ASSUMED_SHARE = 0.5
"""Weight of the assumed value of an open field. The others share the rest."""
OTHER_VALUES: Mapping[str, Mapping[Any, tuple[Any, ...]]] = {
    "checkpointing": {Checkpointing.FULL: (Checkpointing.NONE,), Checkpointing.NONE: (Checkpointing.FULL,)},
    "strategy": {
        Strategy.DDP: (Strategy.ZERO2, Strategy.ZERO3),
        Strategy.ZERO2: (Strategy.DDP, Strategy.ZERO3),
        Strategy.ZERO3: (Strategy.ZERO2,),
    },
    "micro_batch": {1: (2, 4)},
    "gpu": {"A100-80GB-SXM": ("A100-40GB-SXM",)},
}
"""Other likely values of an open field by its assumed value: recomputed or not, sharded more or less, a larger
micro-batch, the same card with less memory."""


class MemoryReport(TrainerSettings):
    """One row of `catalogs/memory/reports.csv` or `method_reports.csv`. An empty cell is not stated."""

    id: Text
    source: Text
    source_ref: Text
    source_date: Text
    said: Text
    framework: Text
    model: Text
    kind: Literal["decoder"]
    layers: Count
    hidden: Count
    heads: Count
    kv_heads: Count
    head_dim: Count
    ffn_hidden: Count
    mlp: Literal["gelu", "swiglu"]
    vocab: Count
    tied_head: bool
    gpu: Text
    devices: Count
    seq_len: Count
    micro_batch: Count
    precision: Precision
    checkpointing: Checkpointing
    strategy: Strategy
    rank: Count | None = None
    targets: Text | None = None
    frozen: FrozenFormat | None = None
    accumulates: bool
    measured_as: Literal["allocated", "reserved", "driver", "failed", "fitted"]
    """Kind of the peak. For "fitted" and "failed", the source only states whether the training ran."""
    peak_gib: Positive | None = None
    method: TrainingMethod | None = None
    """Method of training. The default is next-token prediction."""
    reference: Reference | None = None
    reward: RewardSource | None = None
    engine: Engine | None = None
    """Engine that generates on the training devices. Empty if it has its own devices or if the trainer generates."""
    memory_share: Fraction | None = None
    """Share of the device's memory that this engine reserves."""
    assumed: Text | None = None
    """Settings that the source does not state, with their assumed values."""
    open: Text | None = None
    """Fields that neither the source nor a script, notebook or recipe that it names states. See `OTHER_VALUES`."""

    @property
    def objective(self) -> MethodSettings:
        """Method with its settings."""
        generation = None
        if self.engine is not None:
            generation = Generation(engine=self.engine, memory_share=self.memory_share)
        return MethodSettings(method=self.method, reference=self.reference, reward=self.reward, generation=generation)

    @property
    def setup(self) -> TrainingSetup:
        """Training as a question would state it."""
        old = self.mlp == "gelu"
        network = Decoder(
            layers=self.layers, hidden=self.hidden, heads=self.heads, kv_heads=self.kv_heads, head_dim=self.head_dim,
            ffn_hidden=self.ffn_hidden, mlp=self.mlp, norm="layernorm" if old else "rmsnorm", bias=old,
            positions="learned" if old else "rope", max_positions=self.seq_len, vocab=self.vocab,
            tied_head=self.tied_head,
        )  # fmt: skip
        adapters = None
        if self.rank is not None:
            named = {"rank": self.rank, "targets": tuple((self.targets or "").split()), "frozen": self.frozen}
            adapters = Adapters.model_validate(named)
        return TrainingSetup(
            workload=self.id,
            network=network,
            seq_len=self.seq_len,
            precision=self.precision,
            checkpointing=self.checkpointing,
            strategy=self.strategy,
            adapters=adapters,
            objective=self.objective,
            micro_batch=self.micro_batch,
            framework=self.framework,
        )

    @property
    def variants(self) -> list[tuple[float, MemoryReport]]:
        """The report with each likely setting of its open fields, and the weight of that setting."""
        assumed = {name: getattr(self, name) for name in (self.open or "").split()}
        return [(weight, self.model_copy(update=values)) for weight, values in settings_of(assumed)]


class PredictedReport(NamedTuple):
    """Report with its prediction over all likely values of its open fields."""

    report: MemoryReport
    estimate_gib: float
    """Estimate of the figure that the source gives."""
    low_gib: float
    high_gib: float
    chance: float
    """Probability that the training fits its card."""

    @property
    def error(self) -> float:
        """Relative error of the estimate."""
        assert self.report.peak_gib is not None, "only reports with a figure have an error"
        return self.estimate_gib / self.report.peak_gib - 1

    @property
    def is_inside(self) -> bool:
        """True if the peak lies in the 90 % range."""
        assert self.report.peak_gib is not None, "only reports with a figure have an error"
        return self.low_gib <= self.report.peak_gib <= self.high_gib


def predicted(report: MemoryReport, accelerators: Mapping[str, Accelerator]) -> PredictedReport:
    """Predict a report as `planner memory --framework` would, with each likely value of its open fields."""
    variants = [(weight, _predicted(variant, accelerators)) for weight, variant in report.variants]
    needs = [
        PossibleNeed(weight * likely.weight, likely.need_gib) for weight, each in variants for likely in each.shown
    ]
    chance = sum(weight * each.chance for weight, each in variants)
    return PredictedReport(report, variants[0][1].estimate_gib, size_for(needs, 0.05), size_for(needs, 0.95), chance)


class _PredictedVariant(NamedTuple):
    estimate_gib: float
    shown: list[PossibleNeed]
    """PossibleNeed values of the figure that the source gives."""
    chance: float


def _predicted(report: MemoryReport, accelerators: Mapping[str, Accelerator]) -> _PredictedVariant:
    """Predict one setting of a report."""
    accelerator = accelerators[report.gpu]
    stated = TrainerSettings.model_validate(report.stated)
    settings = assumed_attention(stated, report.framework, accelerator)
    one_device = takes_one_device_recipe(report.devices, report.setup.adapters)
    trainer = planned_trainer_memory(settings, report.framework, one_device=one_device)

    def needed(likely: TrainerMemory) -> DeviceMemory:
        parts = device_parts(report.setup, devices=report.devices, trainer=likely, device_gib=accelerator.training_gib)
        return parts.fullest(accumulates=report.accumulates)

    known = known_names(settings, report.framework, one_device=one_device)
    needs = [(weight, needed(likely)) for weight, likely in alternatives(trainer, known)]
    shown = [PossibleNeed(weight, gib_as_measured(need, report.measured_as)) for weight, need in needs]
    assert accelerator.training_gib is not None, "cards of reports have a memory"
    chance = chance_within([PossibleNeed(weight, need.total_gib) for weight, need in needs], accelerator.training_gib)
    return _PredictedVariant(gib_as_measured(needed(trainer), report.measured_as), shown, chance)


class ReportScore(NamedTuple):
    """Scores of predicted reports, in per cent and counts."""

    peaks: int
    mean_error_pct: float
    inside_pct: float
    failed: int
    failed_below_04: int
    ran: int
    ran_above_06: int


UNLIKELY, LIKELY_TO_RUN = 0.4, 0.6


def score_reports(found: Sequence[PredictedReport]) -> ReportScore:
    """Return mean |error| and coverage of the peaks, and the failures and runs that were predicted correctly."""
    peaks = [each for each in found if each.report.peak_gib is not None]
    failed = [each for each in found if each.report.measured_as == "failed"]
    ran = [each for each in found if each.report.measured_as != "failed"]
    return ReportScore(
        peaks=len(peaks),
        mean_error_pct=100 * sum(abs(peak.error) for peak in peaks) / len(peaks),
        inside_pct=100 * sum(peak.is_inside for peak in peaks) / len(peaks),
        failed=len(failed),
        failed_below_04=sum(each.chance < UNLIKELY for each in failed),
        ran=len(ran),
        ran_above_06=sum(each.chance > LIKELY_TO_RUN for each in ran),
    )


def settings_of(values: Mapping[str, Any]) -> list[tuple[float, dict[str, Any]]]:
    """Return every likely setting of fields with assumed values, with its weight. The weights add up to 1."""
    fields = [_weighted(name, value) for name, value in values.items()]
    return [
        (math.prod(weight for weight, _ in chosen), dict(zip(values, (value for _, value in chosen), strict=True)))
        for chosen in product(*fields)
    ]


def _weighted(name: str, assumed: Any) -> list[tuple[float, Any]]:
    others = OTHER_VALUES[name][assumed]
    return [(ASSUMED_SHARE, assumed), *(((1 - ASSUMED_SHARE) / len(others), other) for other in others)]
