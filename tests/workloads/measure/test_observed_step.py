"""The step in which operators are observed: few samples, no effect on training."""

import dataclasses

import pytest
import torch

from planner.workloads.batch.micro_batch_probe import PROBE_WINDOW
from planner.workloads.contract.spec_reader import from_json
from planner.workloads.measure.loop import observed_samples
from planner.workloads.strategies.base import StateTensors, TrainingStrategy, adamw, gradients_of, optimizer_tensors
from tests.workloads.kinds import of_kind


@pytest.mark.parametrize(
    ("changes", "samples"),
    [
        pytest.param({"micro_batch": 8}, 1, id="a decoder: one sample"),
        pytest.param({"micro_batch": 8, "loss_chunks": 129}, 2, id="129 chunks need 129 of 128 tokens a sample"),
        pytest.param({"micro_batch": 8, "precision": "float8", "seq_len": 12}, 4, id="float8: 4 x 12 is 3 x 16"),
    ],
)
def test_as_few_samples_as_a_forward_pass_takes(spec_document, changes, samples):
    assert observed_samples(from_json(spec_document(**changes))) == samples


@pytest.mark.parametrize(
    ("kind", "micro_batch", "samples"),
    [("moe", 8, 1), ("vit", 8, 1), ("resnet", 8, 2), ("resnet", 1, 1)],
)
def test_batch_norm_takes_two_images(spec_document, kind, micro_batch, samples):
    assert observed_samples(from_json(of_kind(spec_document(micro_batch=micro_batch), kind))) == samples


class OneLayer(TrainingStrategy):
    """A linear map without a process group."""

    def __init__(self, spec):
        torch.manual_seed(0)
        self.model = torch.nn.Linear(4, 4)
        self.adamw = adamw(self.model, spec, torch.device("cpu"))

    def backward(self, micro_batches):
        loss = torch.stack([(self.model(inputs) - targets).square().mean() for inputs, targets in micro_batches]).mean()
        loss.backward()
        return loss.detach()

    def apply_gradients(self):
        self.adamw.step()
        self.adamw.zero_grad(set_to_none=True)

    def state_tensors(self):
        parameters = list(self.model.parameters())
        return StateTensors(parameters, gradients_of(parameters), optimizer_tensors(self.adamw))


BATCH = [(torch.arange(8.0).view(2, 4), torch.ones(2, 4))]


def test_a_step_without_effect_makes_the_optimizers_states_and_leaves_no_trace(spec_document):
    spec = from_json(spec_document())
    observed, plain = OneLayer(spec), OneLayer(spec)
    observed.backward([(inputs[:1], targets[:1]) for inputs, targets in BATCH])
    observed.update_without_effect()
    held = observed.state_tensors()
    assert [len(tensors) for tensors in held] == [2, 0, 4]  # weight and bias, no gradient, two moments of each
    assert all(torch.equal(*pair) for pair in zip(held.parameters, plain.state_tensors().parameters, strict=True))
    assert not any(moment.any() for moment in held.optimizer)
    losses = [[strategy.step(BATCH).item() for _ in range(12)] for strategy in (observed, plain)]
    assert losses[0] == losses[1]


@pytest.mark.parametrize(("hidden", "peak"), [(128, 3e-4), (1024, 3e-4), (4096, 0.75e-4)])
def test_the_learning_rate_rises_over_ten_updates_to_a_peak_that_falls_with_the_width(spec_document, hidden, peak):
    spec = from_json(spec_document())
    strategy = OneLayer(dataclasses.replace(spec, architecture=dataclasses.replace(spec.architecture, hidden=hidden)))
    rates = []
    for _ in range(12):
        strategy.step(BATCH)
        rates.append(strategy.adamw.param_groups[0]["lr"])
    assert rates == pytest.approx([peak * share for share in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1, 1)])


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["ddp", "zero3"])
def test_a_probe_is_never_not_steady_and_its_observed_step_is_scaled(bare_node, spec_document, strategy):
    """Two accumulated micro-batches of three samples; the FLOPs of a token are those of test_strategies.py."""
    spec = spec_document(micro_batch=3, grad_accumulation=2, strategy=strategy, window=PROBE_WINDOW)
    run = bare_node().run(spec, processes=1)
    assert (run.code, run.result["exit_reason"]) == (0, "completed")
    (flops,) = run.result["matmul_flops_by_dtype"].values()
    assert flops == pytest.approx(6 * 128 * (6 * (2 * 196_608 + 131_072) + 14 * 2 * 128 * 128))
    assert run.result["losses_first10"][0] > run.result["loss_last"]
