"""Reports of memory that no constant was fitted to: peaks, failures, and runs that fitted, predicted by their words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

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
from planner.speed.calibration.open_fields import settings_of
from planner.speed.memory.chance import PossibleNeed, alternatives, chance_within, size_for
from planner.speed.memory.fullest_moment import CONTEXT_GIB, DeviceMemory
from planner.speed.memory.memory import device_parts
from planner.speed.memory.planned_settings import assumed_attention, known_names, planned_trainer_memory


class MemoryReport(TrainerSettings):
    """One row of `catalogs/memory/reports.csv` or `method_reports.csv`: what a source says; an empty cell: unsaid."""

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
    """fitted, failed: the source gives no figure, and says whether it ran."""
    peak_gib: Positive | None = None
    method: TrainingMethod | None = None
    """Left out: the next token."""
    reference: Reference | None = None
    reward: RewardSource | None = None
    engine: Engine | None = None
    """That generates on the devices that train; left out: one with its own, or the trainer."""
    memory_share: Fraction | None = None
    """Of the device, that this engine reserves."""
    assumed: Text | None = None
    """What the source leaves open and is taken here."""
    open: Text | None = None
    """Fields that neither the source nor a script, notebook or recipe that it names states (`open_fields.py`)."""

    @property
    def objective(self) -> MethodSettings:
        """What is optimized."""
        generation = None
        if self.engine is not None:
            generation = Generation(engine=self.engine, memory_share=self.memory_share)
        return MethodSettings(method=self.method, reference=self.reference, reward=self.reward, generation=generation)

    @property
    def setup(self) -> TrainingSetup:
        """What is trained, as a question states it."""
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
        """The report with each likely setting of its open fields, and the weight of it."""
        assumed = {name: getattr(self, name) for name in (self.open or "").split()}
        return [(weight, self.model_copy(update=values)) for weight, values in settings_of(assumed)]


class PredictedReport(NamedTuple):
    """A report and what the model says of it, with every likely setting of what is not said."""

    report: MemoryReport
    estimate_gib: float
    """Of the figure that the source gives."""
    low_gib: float
    high_gib: float
    chance: float
    """That it fits its card."""

    @property
    def error(self) -> float:
        """Estimate over measurement, less one."""
        assert self.report.peak_gib is not None, "of a run with a figure"
        return self.estimate_gib / self.report.peak_gib - 1

    @property
    def is_inside(self) -> bool:
        """Whether the peak lies in the 90 % range."""
        assert self.report.peak_gib is not None, "of a run with a figure"
        return self.low_gib <= self.report.peak_gib <= self.high_gib


def predicted(report: MemoryReport, accelerators: Mapping[str, Accelerator]) -> PredictedReport:
    """Predict one report as `planner memory --framework` would; open fields take each of their likely values."""
    found = [(weight, _predicted(variant, accelerators)) for weight, variant in report.variants]
    ways = [PossibleNeed(weight * one.weight, one.need_gib) for weight, each in found for one in each.shown]
    chance = sum(weight * each.chance for weight, each in found)
    return PredictedReport(report, found[0][1].estimate_gib, size_for(ways, 0.05), size_for(ways, 0.95), chance)


class _Variant(NamedTuple):
    estimate_gib: float
    shown: list[PossibleNeed]
    chance: float


def _predicted(report: MemoryReport, accelerators: Mapping[str, Accelerator]) -> _Variant:
    """Return what the model says of one setting of a report."""
    accelerator = accelerators[report.gpu]
    stated = TrainerSettings.model_validate(report.stated)
    settings = assumed_attention(stated, report.framework, accelerator)
    one_device = takes_one_device_recipe(report.devices, report.setup.adapters)
    trainer = planned_trainer_memory(settings, report.framework, one_device=one_device)

    def needed(one: TrainerMemory) -> DeviceMemory:
        parts = device_parts(report.setup, devices=report.devices, trainer=one, device_gib=accelerator.training_gib)
        return parts.fullest(accumulates=report.accumulates)

    known = known_names(settings, report.framework, one_device=one_device)
    ways = [(weight, needed(one)) for weight, one in alternatives(trainer, known)]
    shown = [PossibleNeed(weight, _as_measured(need, report)) for weight, need in ways]
    assert accelerator.training_gib is not None, "cards of reports have a memory"
    chance = chance_within([PossibleNeed(weight, need.total_gib) for weight, need in ways], accelerator.training_gib)
    return _Variant(_as_measured(needed(trainer), report), shown, chance)


def _as_measured(need: DeviceMemory, report: MemoryReport) -> float:
    figures = {"allocated": need.tensors_gib, "reserved": need.total_gib - CONTEXT_GIB}
    return figures.get(report.measured_as, need.total_gib)


class ReportScore(NamedTuple):
    """How predictions of reports came out, in per cent and counts."""

    peaks: int
    mean_error_pct: float
    inside_pct: float
    failed: int
    failed_below_04: int
    ran: int
    ran_above_06: int


UNLIKELY, LIKELY_TO_RUN = 0.4, 0.6


def score_reports(found: Sequence[PredictedReport]) -> ReportScore:
    """Return mean |error| and coverage of the peaks, and how many failures and runs got the right side."""
    peaks = [one for one in found if one.report.peak_gib is not None]
    failed = [one for one in found if one.report.measured_as == "failed"]
    ran = [one for one in found if one.report.measured_as != "failed"]
    return ReportScore(
        peaks=len(peaks),
        mean_error_pct=100 * sum(abs(one.error) for one in peaks) / len(peaks),
        inside_pct=100 * sum(one.is_inside for one in peaks) / len(peaks),
        failed=len(failed),
        failed_below_04=sum(one.chance < UNLIKELY for one in failed),
        ran=len(ran),
        ran_above_06=sum(one.chance > LIKELY_TO_RUN for one in ran),
    )
