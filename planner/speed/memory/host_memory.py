"""Training states in the hosts' memory: those of an offloaded optimizer, or pages for which devices lack room."""

from __future__ import annotations

from planner.model.network.trainer_memory import Offload
from planner.model.network.workload import Precision
from planner.scenario.candidate import Candidate
from planner.scenario.job import Job
from planner.speed.memory.fullest_moment import GIB
from planner.speed.memory.states import device_states


def waiting_gib(job: Job, candidate: Candidate, *, paged: float) -> float:
    """Return the GiB of training states in the memory of each host.

    GiB = accelerators per node x (states without offload - states on the device) x share that is moved

    The share is 1 with offload. For a paged optimizer it is `paged`, the share of its moments that the device has no
    room for. Transfer buffers are not counted.
    """
    trainer = job.setup.settings.trainer
    if job.setup.network is None or (trainer.offload is Offload.NONE and not paged):
        return 0.0
    whole = trainer.model_copy(update={"offload": Offload.NONE, "optimizer": trainer.optimizer.resident})
    on_device, complete = (
        device_states(
            job.setup.network,
            strategy=candidate.strategy,
            devices=candidate.accelerators,
            precision=job.setup.precision or Precision.BF16,
            adapters=job.setup.adapters,
            trainer=placement,
            split=candidate.split,
        )
        for placement in (trainer, whole)
    )
    moved = complete.after_backward - on_device.after_backward
    share = 1.0 if trainer.offload is not Offload.NONE else paged
    return candidate.accelerators_per_node * share * moved / GIB
