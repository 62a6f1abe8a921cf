"""The network of a published measurement."""

from __future__ import annotations

import re

from planner.model.evidence.measurement import Measurement, year_of
from planner.scenario.frameworks import HUGGING_FACE, framework_family
from planner.speed.physics.number_format import ALIGNED

MASKED_SHARE = 0.15
"""Of an encoder's tokens, those whose logits are computed (Devlin et al. 2018)."""
CLASSIFIES = re.compile(r"squad|classif|glue|sst-?2|mrpc|\bner\b|question answering|full-ft|\bfull\b")
"""Words of a fine-tuning that has a small head of its own in the place of that over the vocabulary."""
USUAL_HEAD = 128
USUAL_HEADS = USUAL_HEAD, 256
"""Numbers of a head of most networks whose heads are not as wide as the hidden size would make them."""
MAKES_UP = 0.01
"""How far parameters may be from a published count that they are said to make up."""
USUAL_VOCAB, FEWEST_TOKENS = 32_000, 256
"""Of a network whose vocabulary is not stated: Llama 2's; bytes alone."""
ROUNDED = 0.05
"""How far a published count of parameters may be rounded."""
ADDS_UP = 0.25, 4.0
"""Between these shares of the experts stated, a count of parameters says what experts there are."""
EXPERTS = re.compile(r"\bmoe\b|mixture of experts|\d[bt]-a\d+(?:\.\d+)?b\b|\b\d+x\d+b\b")
_COUNTS = re.compile(r"moe\D*?(\d+)\D+?(\d+)", re.IGNORECASE)
GROUPED_YEAR = 2026
"""From then on Hugging Face's networks multiply all experts of a layer at once (transformers 5)."""


def network_of(row: Measurement) -> dict[str, float]:
    """Return what the physics needs of the network; heads of 128 and a usual vocabulary where they are not stated."""
    assert row.n_layers is not None
    assert row.hidden is not None
    heads = row.n_heads or max(1, row.hidden // USUAL_HEAD)
    kv_heads = min(row.n_kv_heads or heads, heads)
    gated = any(word in row.mlp_type.casefold() for word in ("swiglu", "geglu", "glu", "gated"))
    experts, active = _experts(row.mlp_type)
    ffn = row.ffn_hidden or (8 * row.hidden // 3 if gated else 4 * row.hidden)
    matrices = 3.0 if gated else 2.0
    plain = row.n_layers * (2 * row.hidden**2 * (1 + kv_heads / heads) + matrices * row.hidden * ffn)
    guessed = experts > 1 or row.ffn_hidden is None
    vocab = row.vocab or (USUAL_VOCAB if guessed else _vocab_beside(plain, row.params_total, hidden=row.hidden))
    encoder = is_encoder(row)
    mlp = matrices * row.hidden * ffn * experts
    q_dim = _q_dim(row, heads=heads, kv_heads=kv_heads, mlp=mlp, vocab=vocab, dense=experts == 1)
    attention = 2 * row.hidden * q_dim * (1 + kv_heads / heads)
    layer = attention + mlp
    routed = active
    if experts > 1:
        stated, others, table = experts, row.n_layers * attention, vocab * row.hidden
        expert = row.n_layers * matrices * row.hidden * ffn
        experts = _that_add_up(experts, row.params_total, others, table, expert)
        routed = active * min(1.0, experts / stated)
        active = min(experts, _that_add_up(active, row.params_active, others, table, expert))
    return {
        "layers": row.n_layers,
        "hidden": row.hidden,
        "q_dim": q_dim,
        "kv_dim": q_dim * kv_heads / heads,
        "heads": heads,
        "ffn_hidden": ffn,
        "mlp_matrices": matrices,
        "experts": experts,
        "active_experts": active,
        "routed_experts": routed,
        "sequential_experts": float(experts > 1 and _calls_experts_by_themselves(row)),
        "vocab": vocab,
        "head_share": _head_share(row) if encoder else 1.0,
        "unaligned": float(vocab % ALIGNED > 0),
        "causal": float(not encoder),
        "attended": 1.0,
        "parameters": row.params_total or row.n_layers * layer + 2 * vocab * row.hidden,
    }


def is_encoder(row: Measurement) -> bool:
    """Return whether the network reads both ways: `encoder`, `dense-encoder`, `bert`; no encoder-decoder."""
    family = row.model_family.casefold()
    return ("encoder" in family and "decoder" not in family) or "bert" in family


def _head_share(row: Measurement) -> float:
    """Return the share of an encoder's tokens whose logits over the vocabulary are computed: none in a classifier."""
    said = f"{row.model} {row.notes} {row.method}".casefold()
    return 0.0 if CLASSIFIES.search(said) and "mlm" not in said else MASKED_SHARE


def _vocab_beside(layers: float, parameters: float | None, *, hidden: int) -> int:
    """Return a usual vocabulary, or as much of it as one table may hold beside the layers; a count may leave it out."""
    if parameters is None or parameters <= layers:
        return USUAL_VOCAB
    rest = (1 + ROUNDED) * parameters - layers
    return min(USUAL_VOCAB, max(FEWEST_TOKENS, int(rest / hidden) // ALIGNED * ALIGNED))


def _calls_experts_by_themselves(row: Measurement) -> bool:
    """Return whether experts are called one after another, as Hugging Face's networks did before 2026."""
    said = row.compile_kernels.casefold()
    grouped = any(word in said for word in ("grouped", "gmm", "scattermoe", "megablocks", "unsloth"))
    return framework_family(row.framework) in HUGGING_FACE and year_of(row) < GROUPED_YEAR and not grouped


def is_mixture(row: Measurement) -> bool:
    """Return whether a row is of a mixture of experts, by its words or the network's name (Qwen3-30B-A3B, 8x7B)."""
    return EXPERTS.search(f"{row.model_family} {row.mlp_type} {row.model}".casefold()) is not None


def states_experts(row: Measurement) -> bool:
    """Return whether a row says how many experts a layer has, of which width, and how many of them a token meets."""
    return _COUNTS.search(row.mlp_type) is not None and row.ffn_hidden is not None


def _experts(mlp_type: str) -> tuple[float, float]:
    """Read the number of experts and of those that a token meets: `swiglu-moe(128,top8)`, `swiglu MoE 8x top2`."""
    counts = _COUNTS.search(mlp_type)
    if counts is None:
        return 1.0, 1.0
    one, other = float(counts[1]), float(counts[2])
    return max(one, other, 1.0), max(1.0, min(one, other))


def _that_add_up(stated: float, parameters: float | None, others: float, table: float, expert: float) -> float:
    """Return how many experts per layer make up a count of parameters.

    So experts that all tokens share count, and layers without experts do not. As stated where the count is missing or
    far from it.
    """
    if parameters is None:
        return stated
    count = _counted(parameters - others, table, expert, near=stated)
    return count if ADDS_UP[0] < count / stated < ADDS_UP[1] else stated


def _counted(parameters: float, table: float, each: float, *, near: float) -> float:
    """Return how often `each` stands in a count of parameters with one table or two, whichever is nearer to a number.

    (parameters - tables) / each; heads are tied to the first table in some networks, and some counts leave it out.
    """
    return min(((parameters - tables * table) / each for tables in (1, 2)), key=lambda count: abs(count - near))


def _q_dim(row: Measurement, *, heads: int, kv_heads: int, mlp: float, vocab: int, dense: bool) -> float:
    """Return heads x their size: the hidden size, unless the parameter count says that heads are of another.

    Tables state no size of a head. Of a dense network it is the one with which attention, MLP and one table or two make
    up the count, where the usual one does not: the hidden size's share, or where that is no size that kernels like
    the next power of two. A mixture's count also holds experts that tables leave out: its heads are as usual or double.
    """
    assert row.n_layers is not None
    assert row.hidden is not None
    share = row.hidden / heads
    odd = bool(share % ALIGNED)
    usual = float(heads * 2 ** int(share).bit_length()) if odd else float(row.hidden)
    parameters = row.params_total
    if parameters is None:
        return usual
    of_a_unit = row.n_layers * 2 * row.hidden * (1 + kv_heads / heads)
    others, table = row.n_layers * mlp, vocab * row.hidden

    def off(q_dim: float) -> float:
        """How far the count is from that of such heads, at best."""
        counts = (of_a_unit * q_dim + others + tables * table for tables in (1, 2))
        return min(abs(count / parameters - 1) for count in counts)

    if dense and share not in USUAL_HEADS:
        best = min((float(row.hidden), *(float(heads * size) for size in USUAL_HEADS)), key=off)
        if off(best) <= min(MAKES_UP, off(usual) / 4):
            return best
    if odd:
        return usual
    ratio = _counted(parameters - others, table, of_a_unit * row.hidden, near=1)
    return usual * 2 if 1.7 < ratio < 2.3 and share < USUAL_HEAD else usual
