"""A program for torchrun: a few steps of many variants of one spec in one process group, one JSON line for each."""

import json
import os
import sys
from pathlib import Path

import torch
import torch.distributed as dist

from planner.workloads.contract.spec_reader import from_json
from planner.workloads.inputs.tokens import SyntheticImages, SyntheticTokens
from planner.workloads.models.registry import build_on_meta
from planner.workloads.strategies import load
from planner.workloads.strategies.precision import PrecisionContexts

STEPS = 4


def curve(document):
    cpu = torch.device("cpu")
    spec = from_json(document)
    model = build_on_meta(spec)
    strategy = load(spec.strategy)(model, spec, PrecisionContexts(spec.precision, cpu), cpu)
    if spec.compile:
        model.compile_parts()
    synthetic = SyntheticTokens if spec.unit == "tokens" else SyntheticImages
    data = synthetic(spec, rank=dist.get_rank(), world_size=dist.get_world_size(), device=cpu)
    losses = torch.stack([strategy.step(data.micro_batches(step)) for step in range(STEPS)])
    dist.all_reduce(losses)
    return (losses / dist.get_world_size()).tolist()


if __name__ == "__main__":
    dist.init_process_group("gloo")
    for document in json.loads(Path(sys.argv[1]).read_text()):
        losses = curve(document)
        if dist.get_rank() == 0:
            print(json.dumps(losses), flush=True)
    dist.destroy_process_group()
    os._exit(0)  # as workloads.train ends: threads of torch may abort a process that Python takes down bit by bit
