"""Small networks of every kind, as spec documents; the same code as the real ones."""

from typing import Any

TINY_MOE: dict[str, Any] = {
    "kind": "moe_decoder",
    "layers": 2,
    "hidden": 32,
    "heads": 4,
    "kv_heads": 2,
    "head_dim": 8,
    "mlp": "swiglu",
    "norm": "rmsnorm",
    "norm_eps": 1e-6,
    "bias": False,
    "positions": "rope",
    "max_positions": 32,
    "rope_theta": 10000.0,
    "qk_norm": True,
    "vocab": 128,
    "tied_head": False,
    "experts": 8,
    "experts_per_token": 2,
    "moe_ffn_hidden": 16,
    "shared_experts": 1,
    "dense_layers": [0],
    "ffn_hidden": 64,
}
TINY_RESNET: dict[str, Any] = {"kind": "resnet", "blocks": [2, 1], "width": 8, "image_size": 33, "classes": 10}
TINY_VIT: dict[str, Any] = {
    "kind": "vit",
    "layers": 2,
    "hidden": 32,
    "heads": 4,
    "ffn_hidden": 64,
    "patch_size": 8,
    "image_size": 32,
    "classes": 10,
}
KINDS = {"moe": TINY_MOE, "resnet": TINY_RESNET, "vit": TINY_VIT}


def of_kind(document: dict[str, Any], kind: str, **changes: Any) -> dict[str, Any]:
    """Return the document with a network of this kind in it."""
    changed = {**document, "workload": f"tiny-{kind}", "architecture": KINDS[kind], "seq_len": 32, **changes}
    if kind != "moe":
        del changed["seq_len"]
    return changed
