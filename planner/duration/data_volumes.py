"""Gigabytes that a training moves and keeps, and the rates at which its storage reads and writes."""

from __future__ import annotations

from dataclasses import dataclass

from planner.model.answer.bill import Uncounted
from planner.model.base import Id
from planner.model.catalog import Catalog
from planner.model.defaults import BillDefaults, GoodputDefaults
from planner.model.hardware.storage import Scope, StorageRates
from planner.model.network.trainer_memory import Optimizer, WeightFormat
from planner.model.plan.plan import Data, Plan
from planner.model.quantity import Basis, Quantity, Unit
from planner.network.lora_memory import trained_parameters
from planner.quantity.conversion import derived, interval, to_quantity
from planner.quantity.interval import Interval
from planner.scenario.candidate import Candidate
from planner.scenario.job import Job

BYTES_PER_GB = 1e9
FP32_WEIGHT_BYTES = 4.0
LEAST_BYTES = 2.0
"""Smallest number of bytes of a parameter in a checkpoint: the 16-bit weight."""


@dataclass(frozen=True)
class Volumes:
    """Volumes in GB of 10^9 bytes; None if `unknown` has the reason."""

    dataset: Quantity | None
    checkpoint: Quantity | None
    """Size of one checkpoint."""
    egress: Quantity | None
    """Egress of one training, unless `egress_is_of_campaign`."""
    egress_is_of_campaign: bool
    unknown: tuple[Uncounted, ...]


def data_volumes(job: Job, data: Data, defaults: BillDefaults) -> Volumes:
    """Return the moved and kept volumes: the plan's figures, otherwise computed from the workload.

    data set   = samples of an epoch x (tokens of a sample x bytes a token, or bytes an image)
    checkpoint = parameters x bytes of weights and optimizer
    egress     = parameters x bytes of weights, after each training        Source: definitions.
    With adapters, checkpoint and egress count only their parameters.
    """
    dataset = _stated(data.dataset_gb, "dataset_gb") or _dataset(job, defaults)
    checkpoint = _stated(data.checkpoint_gb, "checkpoint_gb") or _network_volume(
        job, _checkpoint_bytes(job, defaults), "weights and optimizer"
    )
    egress = _stated(data.egress_gb, "egress_gb") or _network_volume(
        job, defaults.weight_bytes_per_parameter, "weights"
    )
    network = "the network is not known, so its size cannot be counted; give data."
    unknown = [
        Uncounted(what=what, reason=reason)
        for what, volume, reason in (
            ("data set", dataset, "how many bytes a sample has is not known; give data.dataset_gb"),
            ("checkpoints", checkpoint, f"{network}checkpoint_gb"),
            ("egress", egress, f"{network}egress_gb"),
        )
        if volume is None
    ]
    return Volumes(dataset, checkpoint, egress, data.egress_gb is not None, tuple(unknown))


def _stated(gigabytes: float | None, key: str) -> Quantity | None:
    if gigabytes is None:
        return None
    return to_quantity(Interval.exact(gigabytes), Unit.GB, Basis.ASSUMED, f"the plan: data.{key}")


def bytes_per_sample(job: Job, volumes: Volumes) -> Quantity | None:
    """Return the storage size of one sample: data set / samples of an epoch; None if either is unknown."""
    if volumes.dataset is None:
        return None
    each = interval(volumes.dataset, Unit.GB).scaled(BYTES_PER_GB / job.samples_per_epoch)
    source = f"{volumes.dataset.value:.4g} GB / {job.samples_per_epoch:,.0f} samples; {volumes.dataset.source}"
    return derived(each, Unit.BYTES, volumes.dataset, source=source)


def _dataset(job: Job, defaults: BillDefaults) -> Quantity | None:
    if job.tokens_per_epoch is not None:
        tokens, each = job.tokens_per_epoch, defaults.bytes_per_token
        return _gigabytes(tokens, each, f"{tokens:.4g} tokens x {each.value:g} bytes; {each.source}")
    if job.setup.sample == "image" and defaults.bytes_per_image is not None:
        images, each = job.samples_per_epoch, defaults.bytes_per_image
        return _gigabytes(images, each, f"{images:,.0f} images x {each.value:g} bytes; {each.source}")
    return None


def _network_volume(job: Job, each: Quantity, what: str) -> Quantity | None:
    if job.setup.network is None:
        return None
    count = trained_parameters(job.setup.network, job.setup.adapters)
    counted = "parameters" if job.setup.adapters is None else "parameters of the adapters"
    return _gigabytes(count, each, f"{count:,} {counted} x {each.value:g} bytes of {what}; {each.source}")


def _checkpoint_bytes(job: Job, defaults: BillDefaults) -> Quantity:
    """Return the bytes of a trained parameter in a checkpoint: the default, minus what smaller optimizer states save.

    16-bit weights 2, fp32 weights 4 unless all is kept at 16 bit, moments by optimizer.
    """
    usual, settings = defaults.checkpoint_bytes_per_parameter, job.setup.settings
    narrow = settings.weights is WeightFormat.SIXTEEN_BIT and job.setup.adapters is None
    optimizer = settings.optimizer or Optimizer.ADAMW
    moments = optimizer.moment_bytes(narrow=narrow)
    less = Optimizer.ADAMW.moment_bytes(narrow=False) - moments + (FP32_WEIGHT_BYTES if narrow else 0.0)
    if not less:
        return usual
    copy = "no fp32 weights" if narrow else "fp32 weights 4"
    source = f"16-bit weights 2, {copy}, moments of {optimizer.value} {moments:g}"
    each = Interval(usual.value - less, max(LEAST_BYTES, usual.low - less), usual.high - less)
    return derived(each, Unit.BYTES, usual, source=source)


def _gigabytes(count: float, each: Quantity, source: str) -> Quantity:
    scale = count / BYTES_PER_GB
    size = Interval(each.value * scale, each.low * scale, each.high * scale)
    return derived(size, Unit.GB, each, source=source)


@dataclass(frozen=True)
class Rates:
    """Total GB/s of all nodes that read or write."""

    name: str
    read: Quantity
    write: Quantity


def sample_storage(plan: Plan, candidate: Candidate, catalog: Catalog, defaults: GoodputDefaults) -> Rates:
    """Return the storage from which samples are read."""
    given = (*_stated_storage(candidate), (plan.data.storage, "the plan: data.storage"))
    return _first(given, defaults.sample_storage, catalog, candidate, nodes=candidate.nodes)


def checkpoint_storage(
    plan: Plan, candidate: Candidate, catalog: Catalog, defaults: GoodputDefaults, *, writing_nodes: int
) -> Rates:
    """Return the storage for checkpoints: that of the samples, unless another one is stated."""
    given = (
        *_stated_storage(candidate),
        (plan.data.checkpoint_storage, "the plan: data.checkpoint_storage"),
        (plan.data.storage, "the plan: data.storage"),
    )
    return _first(given, defaults.checkpoint_storage, catalog, candidate, nodes=writing_nodes)


Given = tuple[Id | StorageRates | None, str]


def _stated_storage(candidate: Candidate) -> tuple[Given, Given]:
    site = candidate.site
    return (
        (candidate.option.storage, "the option: storage"),
        (site.storage if site else None, f"site {site.id}: storage" if site else ""),
    )


def _first(given: tuple[Given, ...], default: Id, catalog: Catalog, candidate: Candidate, *, nodes: int) -> Rates:
    storage, where = next(((value, where) for value, where in given if value is not None), (default, "default"))
    if isinstance(storage, StorageRates):
        read = storage.read_gb_per_s.quantity(Unit.GB_PER_S, where=f"{where}.read_gb_per_s")
        write = storage.write_gb_per_s.quantity(Unit.GB_PER_S, where=f"{where}.write_gb_per_s")
        name, scope = where, storage.scope
    else:
        kind = catalog.find_storage(storage, where=where)
        read, write, name, scope = kind.read, kind.write, kind.id, kind.scope
    times = {"accelerator": nodes * candidate.accelerators_per_node, "node": nodes, "training": 1}[scope]
    return Rates(name, _rate_of_all_parts(read, times, scope), _rate_of_all_parts(write, times, scope))


def _rate_of_all_parts(rate: Quantity, times: int, scope: Scope) -> Quantity:
    if times == 1:
        return rate
    whole = interval(rate, Unit.GB_PER_S).scaled(times)
    source = f"{times} {scope}s x {rate.value:g} GB/s; {rate.source}"
    return to_quantity(whole, Unit.GB_PER_S, rate.basis, source, rate.as_of)
