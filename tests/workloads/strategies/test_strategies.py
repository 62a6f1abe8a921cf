"""All strategies do the same training; each is proved by what its ranks hold. Nothing is compiled for it."""

import pytest

from planner.workloads.contract.spec import STRATEGIES

N = 672_384
FP32 = 4
LARGEST_WEIGHT = 1024 * 128 * FP32
"""ZeRO-1 and 2 cut the list of weights anywhere; a rank keeps the whole gradient that the cut goes through."""
KEPT_WHOLE = 5 * 128 * FP32
"""ZeRO-3 leaves weights of under 10 x hidden elements whole: the five norms."""


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_trains_the_same_in_fp32(strategy_runs, strategy):
    run = strategy_runs[strategy]
    assert run.code == 0, run.stderr
    losses = run.result["losses_first10"]
    assert losses == pytest.approx(strategy_runs["ddp"].result["losses_first10"], abs=1e-4)
    assert losses[0] - losses[-1] > 0.2


# Bytes of fp32 training on 2 ranks: weights, gradients and two moments, each whole (4 N) or halved. DeepSpeed keeps
# its own copy of the weights beside the moments, in fp32 too. ZeRO-1 has let go of the other ranks' gradients by the
# end of the backward pass, when we look.
HELD = {
    "ddp": (4 * N, 4 * N, 8 * N),
    "fsdp2": (2 * N, 2 * N, 4 * N),
    "zero1": (4 * N, 2 * N, 6 * N),
    "zero2": (4 * N, 2 * N, 6 * N),
    "zero3": (2 * N, 2 * N, 6 * N),
}


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_really_shards_what_it_says(strategy_runs, strategy):
    held = strategy_runs[strategy].result["state_bytes"]
    parameter_bytes, gradient_bytes, optimizer_bytes = HELD[strategy]
    kept_whole = KEPT_WHOLE if strategy == "zero3" else 0
    assert parameter_bytes <= held["parameter_bytes"] <= parameter_bytes + kept_whole
    cut_through = LARGEST_WEIGHT if strategy in ("zero1", "zero2") else 0
    assert gradient_bytes <= held["gradient_bytes"] <= gradient_bytes + cut_through
    assert held["optimizer_bytes"] == pytest.approx(optimizer_bytes, rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_says_in_which_type_it_multiplied(strategy_runs, strategy):
    (dtype, flops), *others = strategy_runs[strategy].result["matmul_flops_by_dtype"].items()
    assert (dtype, others) == ("float32", [])
    # per token 6 N' + 12 L H Q T, N' = 2 * (4 * 128^2 + 2 * 128 * 512) + 128 * 1024, and a seventh attention product
    # that the backward pass of a fused kernel computes again
    assert flops == 256 * (6 * (2 * 196_608 + 131_072) + 14 * 2 * 128 * 128)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_nothing_is_compiled(strategy_runs, strategy):
    folder = strategy_runs[strategy].folder
    assert not (folder / "extensions").exists()
    assert len(strategy_runs[strategy].stdout.splitlines()) == 1


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["ddp", "fsdp2", "zero2"])
def test_bf16_multiplies_in_bf16_and_keeps_fp32_masters(bare_node, spec_document, strategy):
    spec = spec_document(precision="bf16", strategy=strategy, window={"max_warmup_s": 0.1, "min_s": 0.1})
    result = bare_node().run(spec, processes=1).result
    assert list(result["matmul_flops_by_dtype"]) == ["bfloat16"]
    masters_and_moments = 12 * N if strategy == "zero2" else 8 * N
    assert result["state_bytes"]["optimizer_bytes"] == pytest.approx(masters_and_moments, rel=0.01)
    assert result["state_bytes"]["parameter_bytes"] == (2 * N if strategy == "zero2" else 4 * N)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "broken", "strategy", "says"),
    [
        pytest.param(
            "strategies/zero.py",
            "import sys\nsys.modules['deepspeed'] = None\n",
            "zero1",
            "Run: pip install deepspeed",
            id="no DeepSpeed",
        ),
        pytest.param(
            "strategies/__init__.py",
            "import torch.distributed.fsdp\ndel torch.distributed.fsdp.fully_shard\n",
            "fsdp2",
            "fsdp2 needs torch 2.6 or newer, and this is torch",
            id="an older torch",
        ),
    ],
)
def test_a_strategy_that_cannot_run_here_says_what_is_missing(bare_node, spec_document, file, broken, strategy, says):
    node = bare_node()
    node.append(file, broken)
    run = node.run(spec_document(strategy=strategy), processes=1)
    assert run.code != 0
    assert run.result["exit_reason"] == "error"
    assert says in run.result["error"]
