"""Checkpointing, a chunked loss and compiling change memory and speed, never the training; LoRA changes what trains."""

import dataclasses
import shutil

import pytest
import torch

from planner.workloads.contract.spec import STRATEGIES, Lora
from planner.workloads.contract.spec_reader import from_json
from planner.workloads.inputs.tokens import SyntheticTokens
from planner.workloads.measure.op_recorder import OpRecorder
from planner.workloads.models.lora import narrow_frozen
from planner.workloads.models.registry import build_on_meta, count_parameters

ADAPTERS = {"rank": 4, "alpha": 8.0, "targets": ["query", "value", "down"]}
SAME_TRAINING: list[dict[str, object]] = [{"checkpointing": "full"}, {"checkpointing": "selective", "loss_chunks": 3}]
LORA: dict[str, object] = {"method": "lora", "lora": ADAPTERS}
TIED = {"mlp": "swiglu", "positions": "rope", "qk_norm": True, "kv_heads": 2, "tied_head": True}

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def curves(bare_node, spec_document):
    """Losses by (strategy, variant) of every variant under every strategy, on 2 ranks."""
    plain = spec_document(micro_batch=2)
    tied: dict[str, object] = {"architecture": {**plain["architecture"], **TIED}}
    variants: dict[str, dict[str, object]] = {
        "full": SAME_TRAINING[0],
        "selective": SAME_TRAINING[1],
        "lora": LORA,
        "tied": tied,
    }
    cases = [(strategy, name) for strategy in STRATEGIES for name in variants]
    specs = [{**plain, "strategy": strategy, **variants[name]} for strategy, name in cases]
    return dict(zip(cases, bare_node().curves(specs, processes=2), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("variant", ["full", "selective"])
def test_what_is_computed_again_is_the_same(curves, two_process_run, strategy, variant):
    assert curves[strategy, variant] == pytest.approx(two_process_run.result["losses_first10"][:4], abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("variant", ["lora", "tied"])
def test_adapters_and_tied_heads_train_the_same_under_every_strategy(curves, strategy, variant):
    losses = curves[strategy, variant]
    assert losses == pytest.approx(curves["ddp", variant], abs=1e-4)
    assert losses[-1] < losses[0]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="torch.compile needs a C++ compiler on a CPU")
def test_compiling_changes_no_loss(bare_node, spec_document, two_process_run):
    small = spec_document(micro_batch=4, compile=True, checkpointing="selective")
    (losses,) = bare_node().curves([small], processes=1, compiler=True)
    assert losses == pytest.approx(two_process_run.result["losses_first10"][:4], abs=1e-4)


def one_step(spec, **changes):
    """Return the loss, the gradients by name, and what a witness saw of one step on this process alone."""
    spec = dataclasses.replace(from_json(spec), **changes)
    return step_of(build_on_meta(spec), spec)


def step_of(model, spec):
    """Return the same of a model on the meta device."""
    model.to_empty(device="cpu")
    model.init_weights(spec.seed)
    inputs, targets = SyntheticTokens(spec, rank=0, world_size=1, device=CPU).micro_batches(0)[0]
    with OpRecorder() as recorder:
        loss = model(inputs, targets)
        loss.backward()
    gradients = {name: weight.grad for name, weight in model.named_parameters() if weight.grad is not None}
    return loss.item(), gradients, recorder, model


@pytest.mark.slow
@pytest.mark.parametrize("changes", [*SAME_TRAINING, {"loss_chunks": 512}], ids=str)
def test_gradients_are_those_of_the_plain_step(spec_document, changes):
    loss, gradients, _, _ = one_step(spec_document())
    again, others, _, _ = one_step(spec_document(), **changes)
    assert again == pytest.approx(loss, rel=1e-6)
    for name, gradient in gradients.items():
        torch.testing.assert_close(others[name], gradient, rtol=1e-4, atol=1e-7)


def test_full_checkpointing_computes_each_block_again_and_selective_half_of_its_products(spec_document):
    flops = {
        mode: one_step(spec_document(), checkpointing=mode)[2].matmul_flops_by_dtype["float32"]
        for mode in ("none", "selective", "full")
    }
    tokens, hidden, layers = 4 * 128, 128, 2
    square, wide, attention = 2 * hidden**2, 2 * hidden * 512, 4 * 128 * hidden
    # A recomputation ends where the last kept tensor is there: the block's last product, down, is not done again.
    full = layers * tokens * (4 * square + wide + attention)
    # query, value and up are kept with attention (first, third and fifth product); key and out are done again.
    selective = layers * tokens * 2 * square
    assert flops["full"] - flops["none"] == full
    assert flops["selective"] - flops["none"] == selective


def test_adapters_alone_have_gradients_and_frozen_products_are_left_out(spec_document):
    lora = Lora(rank=4, alpha=8.0, targets=("query", "up"))
    full_loss, _, full, _ = one_step(spec_document())
    loss, gradients, recorder, model = one_step(spec_document(), method="lora", lora=lora)
    assert loss == pytest.approx(full_loss, rel=1e-6)  # adapters start at zero
    assert sorted(gradients) == sorted(name for name, _ in model.named_parameters() if ".adapter_" in name)
    # rank 4 beside 128 -> 128 and 128 -> 512, in each of 2 blocks
    assert count_parameters(model, trained_only=True) == 2 * 4 * (128 + 128 + 128 + 512)
    assert count_parameters(model) == 672_384 + 2 * 4 * (128 + 128 + 128 + 512)
    assert recorder.matmul_flops_by_dtype["float32"] < 0.75 * full.matmul_flops_by_dtype["float32"]


def test_adapters_beside_weights_of_16_bit_keep_fp32_and_multiply_at_16_bit(spec_document):
    lora = Lora(rank=4, alpha=8.0, targets=("query", "up"), frozen="16bit")
    full_loss, *_ = one_step(spec_document())
    model = build_on_meta(dataclasses.replace(from_json(spec_document()), method="lora", lora=lora))
    narrow_frozen(model, torch.bfloat16)
    loss, gradients, recorder, model = step_of(model, from_json(spec_document()))
    assert {weight.dtype for weight in model.parameters() if weight.requires_grad} == {torch.float32}
    assert {weight.dtype for weight in model.parameters() if not weight.requires_grad} == {torch.bfloat16}
    assert {gradient.dtype for gradient in gradients.values()} == {torch.float32}
    assert list(recorder.matmul_flops_by_dtype) == ["bfloat16"]
    assert loss == pytest.approx(full_loss, rel=0.01)  # weights are rounded to 8 bits of mantissa


@pytest.mark.slow
@pytest.mark.parametrize(
    ("strategy", "precision"), [("ddp", "bf16"), ("fsdp2", "bf16"), ("zero2", "bf16"), ("ddp", "fp16")]
)
def test_every_strategy_holds_frozen_weights_at_16_bit(bare_node, spec_document, strategy, precision):
    """672,384 frozen parameters at 2 bytes; 2 blocks x rank 4 x (query 128 + 128, value the same, down 512 + 128)
    adapters at 4, or at 2 under ZeRO, with moments (and masters under ZeRO) in fp32."""
    spec = spec_document(precision=precision, strategy=strategy, window={"max_warmup_s": 0.1, "min_s": 0.1})
    spec |= {"method": "lora", "lora": {**ADAPTERS, "frozen": "16bit"}}
    result = bare_node().run(spec, processes=1).result
    assert list(result["matmul_flops_by_dtype"]) == [{"bf16": "bfloat16", "fp16": "float16"}[precision]]
    trained = 2 * 4 * (256 + 256 + 640)
    zero = strategy == "zero2"
    assert result["state_bytes"]["parameter_bytes"] == 2 * 672_384 + (2 if zero else 4) * trained
    assert result["state_bytes"]["optimizer_bytes"] == pytest.approx((12 if zero else 8) * trained, rel=0.01)
    assert result["losses_first10"][-1] < result["losses_first10"][0]


@pytest.mark.slow
def test_a_torch_that_shards_one_type_says_what_to_take_instead(bare_node, spec_document):
    """torch 2.7 refuses fp32 adapters and 16-bit weights in one group of parameters, in the first forward pass."""
    node = bare_node()
    node.append(
        "strategies/__init__.py",
        "from torch.distributed.fsdp._fully_shard._fsdp_param_group import FSDPParamGroup\n"
        "def _refuse(self):\n"
        "    found = {one.sharded_param.dtype for one in self.fsdp_params}\n"
        "    if len(found) > 1:\n"
        "        raise AssertionError(f'FSDP expects uniform original parameter dtype but got {found}')\n"
        "FSDPParamGroup._init_mp_dtypes = _refuse\n",
    )
    spec = spec_document(precision="bf16", strategy="fsdp2")
    run = node.run(spec | {"method": "lora", "lora": {**ADAPTERS, "frozen": "16bit"}}, processes=1)
    assert run.code != 0
    assert run.result["exit_reason"] == "error"
    assert "needs a newer torch" in run.result["error"]
    assert "Take strategy ddp or zero3" in run.result["error"]
