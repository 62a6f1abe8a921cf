"""Setup of a measured run for the physics, with changes of single settings, and the speed that is expected of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple, Self

from planner.model.answer.reason import Reason
from planner.model.catalog import Catalog
from planner.model.evidence.calibration import Calibration
from planner.model.evidence.run import RunRecord
from planner.model.hardware.machines import Accelerator, Node
from planner.model.network.adapters import Adapters, FrozenFormat
from planner.model.network.architecture import Architecture
from planner.model.network.trainer_memory import NOTHING_STATED, trainer_memory
from planner.model.network.workload import Checkpointing, Precision, Strategy
from planner.network.activations import checkpointings_of
from planner.scenario.cluster import Cluster
from planner.scenario.machine import machine_of
from planner.scenario.own_machine import own_node
from planner.scenario.recorded_setup import setup_of_run
from planner.scenario.training_setup import TrainingSetup
from planner.speed.estimator.network_kind import kind_of_sample
from planner.speed.memory.device_fit import largest_micro_batch, usable_gib
from planner.speed.memory.memory import device_memory
from planner.speed.physics.observation import Labels, Observation
from planner.speed.physics.planned_config import planned_config, units_of_a_sample
from planner.speed.physics.planned_text_config import labels_of

TRAINING_FIELDS = frozenset(each.name for each in fields(TrainingSetup))
CLUSTER_FIELDS = {"accelerator": "accelerator", "node": "node", "nodes": "nodes", "per_node": "accelerators_per_node"}
ORDER = "order of its channels in memory (the faster one)"
LIKELY_STRATEGIES = (Strategy.DDP, Strategy.ZERO2, Strategy.FSDP2)
"""Strategies of which a run without a stated one is assumed to use the first that fits."""


class Expectation(NamedTuple):
    """Expected samples/s of the whole machine with the 90 % range, and the shares of the parts of a step."""

    value: float
    low: float
    high: float
    shares: dict[str, float]


@dataclass(frozen=True)
class RunSetup:
    """Stated and assumed settings of a run. Every field that the physics needs has a value."""

    training: TrainingSetup
    cluster: Cluster
    accumulation: int
    assumed: tuple[str, ...] = ()
    """Assumed settings in words."""
    overrides: Mapping[str, float] = field(default_factory=dict)
    """Numbers of the physics that no setting names."""

    @property
    def network(self) -> Architecture:
        """Trained network."""
        assert self.training.network is not None, "a run is described with its network"
        return self.training.network

    @property
    def seq_len(self) -> int:
        """Tokens of a sample; 0 for images."""
        return self.training.seq_len or 0

    @property
    def micro_batch(self) -> int:
        """Samples of one forward pass on one accelerator."""
        return self.training.micro_batch or 1

    @property
    def strategy(self) -> Strategy:
        """Strategy of sharing states among devices."""
        return self.training.strategy or Strategy.DDP

    @property
    def precision(self) -> Precision:
        """Number format of the products."""
        assert self.training.precision is not None, "it is assumed if a run does not state it"
        return self.training.precision

    @property
    def checkpointing(self) -> Checkpointing:
        """Recomputation of activations."""
        return self.training.checkpointing or Checkpointing.NONE

    @property
    def compiled(self) -> bool:
        """True if torch.compile compiles the layers."""
        return bool(self.training.compiled)

    @property
    def adapters(self) -> Adapters | None:
        """Adapters beside frozen weights; None if all weights are trained."""
        return self.training.adapters

    @property
    def framework(self) -> str | None:
        """Framework of the training."""
        return self.training.framework

    @property
    def accelerator(self) -> Accelerator:
        """Accelerator of the machine."""
        return self.cluster.accelerator

    @property
    def node(self) -> Node:
        """Machine of the run."""
        return self.cluster.node

    @property
    def nodes(self) -> int:
        """Number of machines."""
        return self.cluster.nodes

    @property
    def per_node(self) -> int:
        """Number of used accelerators of each machine."""
        return self.cluster.accelerators_per_node

    @property
    def devices(self) -> int:
        """Number of all accelerators."""
        return self.cluster.accelerators

    def changed(self, **changes: Any) -> Self:
        """Return the run with changed fields of its training, its cluster or itself."""
        parts: dict[str, dict[str, Any]] = {"training": {}, "cluster": {}}
        own: dict[str, Any] = {}
        for name, value in changes.items():
            if name in TRAINING_FIELDS:
                parts["training"][name] = value
            elif name in CLUSTER_FIELDS:
                parts["cluster"][CLUSTER_FIELDS[name]] = value
            else:
                own[name] = value
        changed = {part: replace(getattr(self, part), **values) for part, values in parts.items() if values}
        return replace(self, **changed, **own)

    @property
    def labels(self) -> Labels:
        """Labels that the run shares with evidence."""
        return labels_of(self.accelerator, "", self.framework)

    def observation(self) -> Observation | None:
        """Return the input of the estimator with a rate of 1, or None if the physics cannot describe the run."""
        config = planned_config(
            self.training, self.cluster, micro_batch=self.micro_batch, micro_batches=self.accumulation
        )
        if isinstance(config, Reason):
            return None
        return Observation("", {**config.facts, **self.overrides}, self.labels, 1.0, 1.0, config.operators)

    def config(self) -> dict[str, float] | None:
        """Return the numbers of the physics, or None if the physics cannot describe the run."""
        return observation.config if (observation := self.observation()) else None

    def fits(self) -> bool:
        """Return whether the run fits in memory. An unknown memory counts as large enough."""
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
        """Return the largest micro-batch that fits, or the run's own if the memory is unknown."""
        if self.accelerator.hbm_gib is None:
            return self.micro_batch
        return largest_micro_batch(lambda size: self.changed(micro_batch=size).fits())


def setup_of(run: RunRecord, catalog: Catalog) -> RunSetup | None:
    """Return the setup of a run with the plainest assumptions that fit.

    Return None if its network, sample length or accelerator is unknown.
    """
    accelerator, network = catalog.accelerators.get(run.hardware.accelerator), run.architecture
    if accelerator is None or network is None or (network.sample == "tokens" and run.seq_len is None):
        return None
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
    stated = setup_of_run(run)
    training = replace(
        stated,
        objective=stated.objective.with_reference(adapters=run.method == "lora"),
        network=network,
        seq_len=run.seq_len if network.sample == "tokens" else None,
        channels_last=network.is_convolutional if run.channels_last is None else run.channels_last,
        adapters=(run.adapters or Adapters()) if run.method == "lora" else None,
        precision=run.precision or usual_precision(accelerator),
        micro_batch=micro,
        checkpointing=run.checkpointing or Checkpointing.NONE,
        strategy=run.strategy or Strategy.DDP,
        framework=run.log.framework if run.log else None,
        compiled=bool(run.compiled),
        settings=NOTHING_STATED,
    )
    cluster = Cluster(accelerator, node, hardware.nodes, hardware.accelerators_per_node)
    setup = _plainest_fitting(RunSetup(training, cluster, accumulation), run)
    if setup.adapters is not None and run.adapters is not None and setup.adapters.frozen != run.adapters.frozen:
        assumed.append("frozen weights at 4 bits, which alone fit (QLoRA)")
    if run.strategy is None and setup.devices > 1:
        assumed.append(f"strategy {setup.strategy.value} (--strategy)")
    if run.checkpointing is None:
        assumed.append(f"recomputation {setup.checkpointing.value} (--checkpointing)")
    if run.channels_last is None and network.is_convolutional:
        assumed.append(ORDER)
    return replace(setup, assumed=tuple(assumed))


def usual_precision(accelerator: Accelerator) -> Precision:
    """Return the number format of a run that states none: the first of bf16, fp16 and fp32 that the card supports."""
    narrow = (Precision.BF16, Precision.FP16)
    return next((precision for precision in narrow if accelerator.peak_tflops(precision) is not None), Precision.FP32)


def runs_beside(run: RunRecord, setup: RunSetup, catalog: Catalog) -> tuple[Observation, ...]:
    """Return the other recorded runs that inform about a run of text, and none for images.

    Expectations of images come from published evidence alone.
    """
    from planner.speed.throughput.own_evidence import informative_runs
    from planner.speed.throughput.predict_by_physics import observed_like

    if setup.training.sample != "tokens":
        return ()
    runs = informative_runs(
        setup.cluster,
        catalog,
        of_run=lambda other, node: observed_like(other, node, catalog, "tokens"),
        besides=run.id,
    )
    return tuple(observed for _, observed in runs)


def _batch(run: RunRecord) -> tuple[int, int]:
    """Return micro-batch and accumulation. Values that neither is stated nor follows from the global batch are 1."""
    per_device = max(1, (run.global_batch or 0) // run.hardware.accelerators)
    accumulation = run.grad_accumulation or (max(1, per_device // run.micro_batch) if run.micro_batch else 1)
    return run.micro_batch or max(1, per_device // accumulation), accumulation


def _plainest_fitting(setup: RunSetup, run: RunRecord) -> RunSetup:
    """Return the run with the plainest strategy and the least recomputation that fit, if it does not state them.

    If a log does not state the format of frozen weights, 4 bits (QLoRA) are assumed before sharding.
    """
    strategies = LIKELY_STRATEGIES if run.strategy is None and setup.devices > 1 else (setup.strategy,)
    ways = tuple(checkpointings_of(setup.network)) if run.checkpointing is None else (setup.checkpointing,)
    setups = [setup.changed(strategy=strategy, checkpointing=way) for way in ways for strategy in strategies]
    if run.log is not None and setup.adapters is not None and setup.adapters.frozen is None:
        narrow = setup.changed(adapters=setup.adapters.model_copy(update={"frozen": FrozenFormat.NF4}))
        packed = [narrow.changed(strategy=strategies[0], checkpointing=way) for way in ways]
        setups = [*(each for each in setups if each.strategy is strategies[0]), *packed, *setups]
    return next((each for each in setups if each.fits()), setups[-1])


def expectations(
    setups: list[RunSetup], calibration: Calibration, *, own: Sequence[Observation] = ()
) -> list[Expectation | None]:
    """Return the expected speed of each setup, or None for those that the physics cannot describe.

    The setups are variants of one run, so they have one kind of sample. `own` are recorded runs that correct the
    estimates.
    """
    from planner.speed.estimator.text_estimator import fitted

    observations = {place: row for place, setup in enumerate(setups) if (row := setup.observation()) is not None}
    expected: list[Expectation | None] = [None] * len(setups)
    if not observations:
        return expected
    kind, rows = kind_of_sample(setups[0].training.sample, calibration), list(observations.values())
    answer = kind.estimate(rows, own)
    shares = kind.step(fitted(calibration), rows).shares
    for number, (place, row) in enumerate(observations.items()):
        per_sample = setups[place].devices / units_of_a_sample(row.described, setups[place].training)
        rates = (answer.tokens_per_s_per_gpu, answer.low_90, answer.high_90)
        value, low, high = (float(rate[number]) * per_sample for rate in rates)
        expected[place] = Expectation(value, low, high, {name: float(share[number]) for name, share in shares.items()})
    return expected
