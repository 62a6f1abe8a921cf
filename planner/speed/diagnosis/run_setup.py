"""A measured run in the physics' terms, and what would change if one of its settings were another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeVar

from planner.model.catalog import Catalog
from planner.model.evidence.calibration import Calibration
from planner.model.evidence.run import RunRecord
from planner.model.hardware.machines import Accelerator, Node
from planner.model.network.adapters import Adapters, FrozenFormat
from planner.model.network.architecture import ImageModel, TextModel
from planner.model.network.trainer_memory import trainer_memory
from planner.model.network.workload import Checkpointing, Precision, Strategy
from planner.network.activations import checkpointings_of
from planner.scenario.cluster import Cluster
from planner.scenario.machine import machine_of
from planner.scenario.own_machine import own_node
from planner.scenario.training_setup import TrainingSetup
from planner.speed.memory.device_fit import largest_micro_batch, usable_gib
from planner.speed.memory.memory import device_memory
from planner.speed.physics.observation import Labels, Observation
from planner.speed.physics.planned_text_config import labels_of, planned_text_config

TRIED = (Strategy.DDP, Strategy.ZERO2, Strategy.FSDP2)
"""Of a run that does not say, the first that fits."""


class Expectation(NamedTuple):
    """Samples/s of the whole machine with the 90 % range, and the parts of a step."""

    value: float
    low: float
    high: float
    shares: dict[str, float]


@dataclass(frozen=True)
class RunSetup:
    """What was trained and how, as the run says or as is assumed."""

    network: TextModel | ImageModel
    seq_len: int
    """Of images 0."""
    micro_batch: int
    accumulation: int
    strategy: Strategy
    precision: Precision
    checkpointing: Checkpointing
    compiled: bool
    accelerator: Accelerator
    node: Node
    nodes: int
    per_node: int
    adapters: Adapters | None
    framework: str | None
    assumed: tuple[str, ...] = ()
    overrides: Mapping[str, float] = field(default_factory=dict)
    """Numbers of the physics that no setting has a word for."""

    @property
    def devices(self) -> int:
        """All accelerators."""
        return self.nodes * self.per_node

    @property
    def training(self) -> TrainingSetup:
        """What was trained and how, as the physics takes it."""
        return TrainingSetup(
            workload="",
            network=self.network,
            seq_len=self.seq_len or None,
            adapters=self.adapters,
            precision=self.precision,
            micro_batch=self.micro_batch,
            checkpointing=self.checkpointing,
            strategy=self.strategy,
            framework=self.framework,
            compiled=self.compiled,
        )

    @property
    def cluster(self) -> Cluster:
        """On what it ran."""
        return Cluster(self.accelerator, self.node, self.nodes, self.per_node)

    @property
    def labels(self) -> Labels:
        """What evidence shares with it."""
        return labels_of(self.accelerator, "", self.framework)

    def config(self) -> dict[str, float] | None:
        """Return the physics' numbers; None where they cannot be computed."""
        numbers = planned_text_config(
            self.training, self.cluster, micro_batch=self.micro_batch, micro_batches=self.accumulation
        )
        return numbers | dict(self.overrides) if isinstance(numbers, dict) else None

    def fits(self) -> bool:
        """Return whether it fits; True where the device's memory is not known."""
        hbm = self.accelerator.hbm_gib
        if hbm is None:
            return True
        need = device_memory(
            self.training,
            devices=self.devices,
            trainer=trainer_memory(compiled=self.compiled),
            accumulates=self.accumulation > 1,
        )
        return need.total_gib <= usable_gib(hbm)

    def largest_micro_batch(self) -> int:
        """Return the largest micro-batch that fits; the run's own where memory is not known."""
        if self.accelerator.hbm_gib is None:
            return self.micro_batch
        return largest_micro_batch(lambda size: replace(self, micro_batch=size).fits())


Setup = TypeVar("Setup", bound=RunSetup)


def setup_of(run: RunRecord, catalog: Catalog) -> RunSetup | None:
    """Describe a run; None where it is no text network on an accelerator that the physics knows."""
    accelerator, network = catalog.accelerators.get(run.hardware.accelerator), run.architecture
    if accelerator is None or not isinstance(network, TextModel) or run.seq_len is None:
        return None
    return described(RunSetup, run, catalog, accelerator, network, seq_len=run.seq_len)


def described(
    kind: type[Setup],
    run: RunRecord,
    catalog: Catalog,
    accelerator: Accelerator,
    network: TextModel | ImageModel,
    *,
    seq_len: int,
) -> Setup:
    """Describe a run with what is assumed of it: the plainest that fits."""
    hardware, assumed = run.hardware, []
    node, _ = machine_of(run, catalog)
    if hardware.node is None or hardware.node not in catalog.nodes:
        node = own_node(accelerator, hardware.accelerators_per_node, new=False)
        if hardware.accelerators > 1:
            assumed.append(f"link {node.link.value} (--machine names the node)")
    micro, accumulation = _batch(run)
    if run.micro_batch is None:
        assumed.append(f"micro-batch {micro} (--micro-batch)")
    if run.precision is None:
        assumed.append(f"{usual_precision(accelerator).value} products (--precision)")
    setup = kind(
        network=network,
        seq_len=seq_len,
        micro_batch=micro,
        accumulation=accumulation,
        strategy=run.strategy or Strategy.DDP,
        precision=run.precision or usual_precision(accelerator),
        checkpointing=run.checkpointing or Checkpointing.NONE,
        compiled=bool(run.compiled),
        accelerator=accelerator,
        node=node,
        nodes=hardware.nodes,
        per_node=hardware.accelerators_per_node,
        adapters=(run.adapters or Adapters()) if run.method == "lora" else None,
        framework=run.log.framework if run.log else None,
    )
    setup = _that_fits(setup, run)
    if setup.adapters is not None and run.adapters is not None and setup.adapters.frozen != run.adapters.frozen:
        assumed.append("frozen weights at 4 bits, which alone fit (QLoRA)")
    if run.strategy is None and setup.devices > 1:
        assumed.append(f"strategy {setup.strategy.value} (--strategy)")
    if run.checkpointing is None:
        assumed.append(f"recomputation {setup.checkpointing.value} (--checkpointing)")
    return replace(setup, assumed=tuple(assumed))


def usual_precision(accelerator: Accelerator) -> Precision:
    """Return the number format of a run that states none: bf16, of a card without it fp16, else fp32."""
    usual = (Precision.BF16, Precision.FP16)
    return next((one for one in usual if accelerator.peak_tflops(one) is not None), Precision.FP32)


def runs_beside(run: RunRecord, setup: RunSetup, catalog: Catalog) -> tuple[Observation, ...]:
    """Return the other runs on file that say something of a run of text, as of a plan on its machine."""
    from planner.speed.throughput.own_evidence import telling_runs
    from planner.speed.throughput.predict_text import observed_text_run

    found = telling_runs(
        setup.cluster,
        catalog,
        of_run=lambda other, node: observed_text_run(other, node, catalog),
        besides=run.id,
    )
    return tuple(observed for _, observed in found)


def _batch(run: RunRecord) -> tuple[int, int]:
    """Return micro-batch and accumulation; what is not said is one."""
    each = max(1, (run.global_batch or 0) // run.hardware.accelerators)
    accumulation = run.grad_accumulation or (max(1, each // run.micro_batch) if run.micro_batch else 1)
    return run.micro_batch or max(1, each // accumulation), accumulation


def _that_fits(setup: Setup, run: RunRecord) -> Setup:
    """Return the plainest strategy and the least recomputation that fit, of those that the run leaves open.

    Adapters of a log that does not say how the frozen weights are kept: at 4 bits (QLoRA) before they are sharded.
    """
    strategies = TRIED if run.strategy is None and setup.devices > 1 else (setup.strategy,)
    ways = tuple(checkpointings_of(setup.network)) if run.checkpointing is None else (setup.checkpointing,)
    tried = [replace(setup, strategy=one, checkpointing=way) for way in ways for one in strategies]
    if run.log is not None and setup.adapters is not None and setup.adapters.frozen is None:
        narrow = replace(setup, adapters=setup.adapters.model_copy(update={"frozen": FrozenFormat.NF4}))
        packed = [replace(narrow, strategy=strategies[0], checkpointing=way) for way in ways]
        tried = [*(one for one in tried if one.strategy is strategies[0]), *packed, *tried]
    return next((one for one in tried if one.fits()), tried[-1])


def expectations(
    setups: list[RunSetup], calibration: Calibration, *, own: Sequence[Observation] = ()
) -> list[Expectation | None]:
    """Return what the estimator expects of each, as it does of a plan: `own` are the runs on file that say something.

    Of images from published evidence alone.
    """
    from planner.speed.diagnosis.image_setup import ImageSetup, image_expectations
    from planner.speed.estimator.text_estimator import estimate_text, fitted
    from planner.speed.physics.config_arrays import from_rows
    from planner.speed.physics.step import step

    of_images = [setup for setup in setups if isinstance(setup, ImageSetup)]
    if of_images:
        assert len(of_images) == len(setups), "the variants of one run are of one kind"
        return image_expectations(of_images, calibration)
    configs = [setup.config() for setup in setups]
    known = [(place, config) for place, config in enumerate(configs) if config is not None]
    found: list[Expectation | None] = [None] * len(setups)
    if not known:
        return found
    rows = from_rows([config for _, config in known])
    answer = estimate_text(rows, [setups[place].labels for place, _ in known], calibration, own=own)
    shares = step(rows, fitted(calibration).constants).shares
    for number, (place, _) in enumerate(known):
        per_sample = setups[place].devices / setups[place].seq_len
        rates = (answer.tokens_per_s_per_gpu, answer.low_90, answer.high_90)
        value, low, high = (float(rate[number]) * per_sample for rate in rates)
        found[place] = Expectation(value, low, high, {name: float(share[number]) for name, share in shares.items()})
    return found
