"""What of a training waits in the memory of its hosts: an offloaded optimizer, or what a paged one has no room for."""

from __future__ import annotations

from planner.model.network.trainer_memory import Offload
from planner.model.network.workload import Precision
from planner.scenario.candidate import Candidate
from planner.scenario.job import Job
from planner.speed.memory.states import device_states

BYTES_PER_GIB = 2**30


def waiting_gib(job: Job, candidate: Candidate, *, paged: float) -> float:
    """Return the GiB of states that wait in the memory of each host.

    accelerators of a node x (states without offload - states on the device); of a paged optimizer its moments times
    `paged`, the share that the device has no room for. Buffers of the transfer are left out.
    """
    trainer = job.setup.settings.trainer
    if job.setup.network is None or (trainer.offload is Offload.NONE and not paged):
        return 0.0
    whole = trainer.model_copy(update={"offload": Offload.NONE, "optimizer": trainer.optimizer.resident})
    here, all_of_it = (
        device_states(
            job.setup.network,
            strategy=candidate.strategy,
            devices=candidate.accelerators,
            precision=job.setup.precision or Precision.BF16,
            adapters=job.setup.adapters,
            trainer=one,
            split=candidate.split,
        )
        for one in (trainer, whole)
    )
    moved = all_of_it.held - here.held
    share = 1.0 if trainer.offload is not Offload.NONE else paged
    return candidate.accelerators_per_node * share * moved / BYTES_PER_GIB
