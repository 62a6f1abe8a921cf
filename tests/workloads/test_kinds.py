"""Mixtures of experts, ResNets and vision transformers: the same strategies, precisions and options as the decoder."""

import dataclasses
import math
import shutil
from typing import Any

import pytest
import torch

from planner.workloads.contract.architecture import MoeDecoderShape
from planner.workloads.contract.spec import STRATEGIES, SpecError
from planner.workloads.contract.spec_reader import from_json, to_json
from planner.workloads.inputs.tokens import SyntheticImages, SyntheticTokens, image
from planner.workloads.measure.op_recorder import OpRecorder
from planner.workloads.models.experts import MixtureOfExperts
from planner.workloads.models.registry import build_on_meta
from planner.workloads.strategies.precision import PrecisionContexts
from tests.workloads.kinds import KINDS, TINY_MOE, TINY_RESNET, of_kind

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def curves(bare_node, spec_document):
    """Losses by (kind, strategy), on 2 ranks."""
    cases = [(kind, strategy) for kind in KINDS for strategy in STRATEGIES]
    specs = [of_kind(spec_document(), kind, strategy=strategy) for kind, strategy in cases]
    return dict(zip(cases, bare_node().curves(specs, processes=2), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("kind", KINDS)
def test_every_strategy_trains_every_kind_alike(curves, kind, strategy):
    """Experts too, though each rank's tokens choose others."""
    losses = curves[kind, strategy]
    assert losses == pytest.approx(curves[kind, "ddp"], abs=1e-4)
    classes = 128 if kind == "moe" else 10
    assert losses[0] == pytest.approx(math.log(classes), rel=0.05)  # an untrained model knows nothing
    assert len(set(losses)) == len(losses)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="torch.compile needs a C++ compiler on a CPU")
def test_compiling_changes_no_loss(bare_node, spec_document):
    """Options of a resnet with one block, as compiling takes seconds a block; transformers: test_options.py."""
    plain = of_kind(spec_document(), "resnet", architecture={**TINY_RESNET, "blocks": [1]})
    expected, losses = bare_node().curves([plain, {**plain, "compile": True}], processes=1, compiler=True)
    assert losses == pytest.approx(expected, abs=1e-4)


@pytest.mark.slow
def test_a_run_on_images_counts_images(bare_node, spec_document):
    run = bare_node().run(of_kind(spec_document(), "resnet", channels_last=True), processes=2)
    result = run.result
    assert (run.code, result["exit_reason"] in ("completed", "not_steady")) == (0, True)
    assert result["images"] == result["samples"] == result["steps"] * 8
    assert (result["tokens"], result["padding_tokens"]) == (None, None)
    assert all(step["images"] == 8 and "tokens" not in step for step in run.steps)
    assert list(result["matmul_flops_by_dtype"]) == ["float32"]


def one_step(document, precision="fp32"):
    """Return the loss, the gradients by name, and what a witness saw of one step on this process alone."""
    spec = from_json({**document, "precision": precision})
    model = build_on_meta(spec).to_empty(device="cpu")
    model.init_weights(spec.seed)
    synthetic = SyntheticTokens if spec.unit == "tokens" else SyntheticImages
    inputs, targets = synthetic(spec, rank=0, world_size=1, device=CPU).micro_batches(0)[0]
    with OpRecorder() as recorder:
        with PrecisionContexts(precision, CPU).autocast():
            loss = model(inputs, targets)
        loss.backward()
    gradients = {name: weight.grad for name, weight in model.named_parameters() if weight.grad is not None}
    assert len(gradients) == len(list(model.parameters()))
    return loss.item(), gradients, recorder


@pytest.mark.parametrize(
    ("kind", "checkpointing"),
    [("moe", "full"), ("moe", "selective"), ("vit", "full"), ("vit", "selective"), ("resnet", "full")],
)
def test_what_is_computed_again_is_the_same(spec_document, kind, checkpointing):
    loss, gradients, plain = one_step(of_kind(spec_document(), kind))
    again, others, more = one_step(of_kind(spec_document(), kind, checkpointing=checkpointing))
    assert again == pytest.approx(loss, rel=1e-6)
    for name, gradient in gradients.items():
        torch.testing.assert_close(others[name], gradient, rtol=1e-4, atol=1e-6)
    assert sum(more.matmul_flops_by_dtype.values()) > sum(plain.matmul_flops_by_dtype.values())


def test_the_memory_layout_of_images_changes_no_loss(spec_document):
    loss, _, _ = one_step(of_kind(spec_document(), "resnet"))
    other, _, _ = one_step(of_kind(spec_document(), "resnet", channels_last=True))
    assert other == pytest.approx(loss, rel=1e-5)


@pytest.mark.parametrize("precision", ["bf16", "fp16"])
@pytest.mark.parametrize("kind", KINDS)
def test_low_precision_is_seen_in_every_product(spec_document, kind, precision):
    exact, _, fp32 = one_step(of_kind(spec_document(), kind))
    rough, _, low = one_step(of_kind(spec_document(), kind), precision)
    assert rough == pytest.approx(exact, rel=0.01)
    (flops,) = fp32.matmul_flops_by_dtype.values()
    assert low.matmul_flops_by_dtype == {{"bf16": "bfloat16", "fp16": "float16"}[precision]: flops}


@pytest.fixture
def experts():
    spec = {key: value for key, value in TINY_MOE.items() if key != "dense_layers"}
    mixture = MixtureOfExperts(MoeDecoderShape(**spec))
    torch.manual_seed(0)
    for weight in mixture.parameters():
        torch.nn.init.normal_(weight)
    return mixture


def by_hand(mixture, token):
    """Pass a token through its experts, one by one."""
    scores = mixture.router.weight @ token
    best = scores.argsort(descending=True)[: mixture.experts_per_token]
    gates = scores[best].exp() / scores[best].exp().sum()
    shared = mixture.shared
    found = shared.down.weight @ (torch.nn.functional.silu(shared.gate.weight @ token) * (shared.up.weight @ token))
    for gate, number in zip(gates, best, strict=True):
        weights = mixture.experts
        inner = torch.nn.functional.silu(weights.gate[number] @ token) * (weights.up[number] @ token)
        found = found + gate * (weights.down[number] @ inner)
    return found


def test_every_token_meets_its_experts_and_none_is_dropped(experts):
    tokens = torch.randn(2, 5, 32, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        mixed = experts(tokens)
        expected = torch.stack([by_hand(experts, token) for token in tokens.view(10, 32)]).view(2, 5, 32)
    torch.testing.assert_close(mixed, expected, rtol=1e-4, atol=1e-4)


def test_an_expert_without_tokens_gets_a_gradient_of_zeros(experts):
    experts(torch.ones(1, 3, 32)).sum().backward()  # three equal tokens: two of the eight experts
    used = experts.experts.up.grad.flatten(1).abs().sum(dim=1) > 0
    assert used.sum() == 2


@pytest.mark.skipif(not hasattr(torch.nn.functional, "grouped_mm"), reason="this torch has no grouped product")
def test_one_grouped_product_is_the_loop_over_experts(experts, monkeypatch):
    tokens = torch.randn(1, 24, 32, generator=torch.Generator().manual_seed(1)).to(torch.bfloat16)
    experts = experts.to(torch.bfloat16)
    with torch.no_grad():
        grouped = experts(tokens)
        monkeypatch.delattr(torch.nn.functional, "grouped_mm")
        looped = experts(tokens)
    torch.testing.assert_close(grouped, looped, rtol=0.05, atol=2.0)


def test_images_do_not_depend_on_how_the_batch_is_split(spec_document):
    alone = from_json(of_kind(spec_document(micro_batch=4), "vit"))
    shared = from_json(of_kind(spec_document(micro_batch=1, grad_accumulation=2), "vit"))
    whole = SyntheticImages(alone, rank=0, world_size=1, device=CPU).micro_batches(3)[0]
    parts = [SyntheticImages(shared, rank=rank, world_size=2, device=CPU).micro_batches(3) for rank in (0, 1)]
    for side in (0, 1):
        joined = torch.cat([parts[rank][micro][side] for micro in (0, 1) for rank in (0, 1)])
        assert torch.equal(whole[side], joined)


def test_brighter_images_have_higher_labels(spec_document):
    spec = from_json(of_kind(spec_document(), "resnet"))
    images = [image(spec, number) for number in range(50)]
    assert {label for _, label in images} == set(range(10))
    by_brightness = sorted(images, key=lambda pair: pair[0].float().mean().item())
    labels = [label for _, label in by_brightness]
    assert labels == sorted(labels)


@pytest.mark.parametrize("kind", KINDS)
def test_a_spec_of_every_kind_survives_the_round_trip(spec_document, kind):
    spec = from_json(of_kind(spec_document(), kind))
    assert from_json(to_json(spec)) == spec


@pytest.mark.parametrize(
    ("kind", "changes", "says"),
    [
        pytest.param("vit", {"seq_len": 32}, "seq_len: a sample of a vit is an image", id="length of an image"),
        pytest.param("resnet", {"checkpointing": "selective"}, "selective is of matrix products", id="selective"),
        pytest.param("resnet", {"loss_chunks": 2}, "loss_chunks: 2 is more than", id="loss chunks of one image"),
        pytest.param("vit", {"loss_chunks": 2, "micro_batch": 4}, "has one loss an image", id="loss chunks"),
        pytest.param("moe", {"channels_last": True}, "channels_last: is of images", id="layout of tokens"),
        pytest.param("moe", {"seq_len": None}, "seq_len: is missing", id="no length"),
        pytest.param("moe", {"precision": "float8"}, "float8 is for dense decoders, not", id="float8"),
        pytest.param(
            "moe",
            {"method": "lora", "lora": {"rank": 2, "alpha": 4.0, "targets": ["up"]}},
            "of a moe_decoder only query, key, value, out take adapters",
            id="adapters of experts",
        ),
        pytest.param(
            "vit",
            {"method": "lora", "lora": {"rank": 2, "alpha": 4.0, "targets": ["up"]}},
            "adapters are for decoders",
            id="adapters of a vit",
        ),
    ],
)
def test_what_does_not_go_together_is_refused(spec_document, kind, changes, says):
    with pytest.raises(SpecError) as refused:
        from_json({**of_kind(spec_document(micro_batch=1), kind), **changes})
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("kind", "changes", "says"),
    [
        pytest.param("moe", {"experts_per_token": 9}, "experts_per_token: 9 is more than experts 8", id="top-k"),
        pytest.param("moe", {"dense_layers": [2]}, "dense_layers: [2] are not numbers from 0 to 1", id="no such layer"),
        pytest.param("moe", {"dense_layers": []}, "ffn_hidden: is the width of the dense_layers", id="no dense layer"),
        pytest.param("vit", {"patch_size": 7}, "patch_size: 7 does not divide image_size 32", id="patches"),
        pytest.param("vit", {"heads": 5}, "heads: 5 does not divide hidden 32", id="heads"),
        pytest.param("resnet", {"blocks": 3}, "blocks: 3 is not a list of whole numbers", id="blocks"),
        pytest.param("resnet", {"kind": "alexnet"}, "kind: 'alexnet' is not known here", id="kind"),
        pytest.param("resnet", {"depth": 50}, "depth: is not a known key", id="key of no kind"),
    ],
)
def test_an_architecture_that_cannot_be_is_refused(spec_document, kind, changes, says):
    document = of_kind(spec_document(), kind)
    with pytest.raises(SpecError) as refused:
        from_json({**document, "architecture": {**document["architecture"], **changes}})
    assert says in str(refused.value)


def test_a_dense_layer_among_experts_is_an_ordinary_mlp(spec_document):
    blocks = build_on_meta(from_json(of_kind(spec_document(), "moe"))).blocks
    assert [isinstance(block.mlp, MixtureOfExperts) for block in blocks] == [False, True]


def test_all_kinds_are_frozen_values(spec_document):
    architecture: Any = from_json(of_kind(spec_document(), "vit")).architecture
    with pytest.raises(dataclasses.FrozenInstanceError):
        architecture.layers = 3
