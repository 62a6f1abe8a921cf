"""Vision transformer in plain torch: patches, a class token, learned positions, blocks, a classifier."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812  (torch's own habit)
from torch import Tensor, nn

from ..contract.architecture import COLOURS, VitShape
from ..models.base import NO_TARGET, Draw, Model
from ..models.layers import AttentionLayer, Block, GeluMlp
from ..models.pixels import as_numbers

INIT_STD = 0.02
NORM_EPS = 1e-6  # the paper's and torchvision's


class VitModel(Model):
    """ViT of Dosovitskiy et al. 2020: pre-norm blocks with biases, exact GELU, attention over all pairs of tokens."""

    def __init__(self, shape: VitShape, *, checkpointing: str = "none") -> None:
        super().__init__()
        hidden = shape.hidden
        self.patches = nn.Conv2d(COLOURS, hidden, shape.patch_size, stride=shape.patch_size)
        self.class_token = nn.Embedding(1, hidden)
        self.positions = nn.Embedding(shape.tokens, hidden)
        self.blocks = nn.ModuleList(_block(shape, checkpointing) for _ in range(shape.layers))
        self.final_norm = nn.LayerNorm(hidden, eps=NORM_EPS)
        self.head = nn.Linear(hidden, shape.classes)

    def forward(self, inputs: Tensor, targets: Tensor) -> Tensor:
        """Return the mean cross-entropy over the images that have a label."""
        patches = self.patches(as_numbers(inputs, self.patches.weight)).flatten(2).transpose(1, 2)
        numbers = torch.arange(patches.shape[1] + 1, device=inputs.device)
        start = self.class_token(numbers[:1]).expand(len(inputs), 1, -1)
        hidden = torch.cat((start.to(patches.dtype), patches), dim=1) + self.positions(numbers)
        for block in self.blocks:
            hidden = block(hidden)
        logits = self.head(self.final_norm(hidden[:, 0]))
        return F.cross_entropy(logits.float(), targets, ignore_index=NO_TARGET)

    def compile_parts(self) -> None:
        """Compile each block."""
        for block in self.blocks:
            assert isinstance(block, Block)
            block.compile_body()

    def fill(self, name: str, module: nn.Module, draw: Draw) -> None:
        """Draw normal weights everywhere. Norms start at one."""
        del name
        if isinstance(module, (nn.Linear, nn.Embedding, nn.Conv2d)):
            draw(module.weight, INIT_STD)
        elif isinstance(module, nn.LayerNorm):
            module.weight.fill_(1.0)


def _block(shape: VitShape, checkpointing: str) -> Block:
    hidden, heads = shape.hidden, shape.heads
    attention_norm = nn.LayerNorm(hidden, eps=NORM_EPS)
    attention = AttentionLayer(hidden, heads=heads, kv_heads=heads, head_dim=hidden // heads, bias=True, causal=False)
    mlp_norm = nn.LayerNorm(hidden, eps=NORM_EPS)
    mlp = GeluMlp(hidden, shape.ffn_hidden, bias=True, approximate="none")
    return Block(attention_norm, attention, mlp_norm, mlp, checkpointing)
