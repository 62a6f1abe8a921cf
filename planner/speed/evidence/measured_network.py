"""Network of a published measurement."""

from __future__ import annotations

import re

from planner.model.evidence.measurement import Measurement, year_of
from planner.scenario.frameworks import HUGGING_FACE, framework_family
from planner.speed.physics.accelerator_facts import ALIGNED

MASKED_SHARE = 0.15
"""Share of an encoder's tokens whose logits are computed (Devlin et al. 2018)."""
CLASSIFIES = re.compile(r"squad|classif|glue|sst-?2|mrpc|\bner\b|question answering|full-ft|\bfull\b")
"""Words for a fine-tuning with a small head of its own instead of the one over the vocabulary."""
USUAL_HEAD = 128
USUAL_HEADS = USUAL_HEAD, 256
"""Usual sizes of a head in networks whose heads do not divide the hidden size."""
MATCHING_COUNT = 0.01
"""Largest relative difference between a count of parameters and the published one that it explains."""
USUAL_VOCAB, FEWEST_TOKENS = 32_000, 256
"""Vocabulary of a network that states none (Llama 2's), and the smallest one (bytes)."""
ROUNDED = 0.05
"""Largest relative rounding of a published count of parameters."""
PLAUSIBLE_EXPERTS = 0.25, 4.0
"""Smallest and largest plausible ratio of the experts by parameter count to the stated experts."""
EXPERTS = re.compile(r"\bmoe\b|mixture of experts|\d[bt]-a\d+(?:\.\d+)?b\b|\b\d+x\d+b\b")
_COUNTS = re.compile(r"moe\D*?(\d+)\D+?(\d+)", re.IGNORECASE)
GROUPED_YEAR = 2026
"""First year in which Hugging Face's networks multiply all experts of a layer at once (transformers 5)."""


def network_of(row: Measurement) -> dict[str, float]:
    """Return the network for the physics, with heads of 128 and a usual vocabulary if they are not stated."""
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
        experts = _experts_by_count(experts, row.params_total, others, table, expert)
        routed = active * min(1.0, experts / stated)
        active = min(experts, _experts_by_count(active, row.params_active, others, table, expert))
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
    """Return whether the network attends in both directions: `encoder`, `dense-encoder` or `bert`."""
    family = row.model_family.casefold()
    return ("encoder" in family and "decoder" not in family) or "bert" in family


def _head_share(row: Measurement) -> float:
    """Return the share of an encoder's tokens with logits over the vocabulary, which is 0 for classifiers."""
    text = f"{row.model} {row.notes} {row.method}".casefold()
    return 0.0 if CLASSIFIES.search(text) and "mlm" not in text else MASKED_SHARE


def _vocab_beside(layers: float, parameters: float | None, *, hidden: int) -> int:
    """Return the usual vocabulary, limited to the parameters that the layers leave for one table.

    If the layers alone exceed the count, it does not include the table.
    """
    if parameters is None or parameters <= layers:
        return USUAL_VOCAB
    rest = (1 + ROUNDED) * parameters - layers
    return min(USUAL_VOCAB, max(FEWEST_TOKENS, int(rest / hidden) // ALIGNED * ALIGNED))


def _calls_experts_by_themselves(row: Measurement) -> bool:
    """Return whether experts are called one after another, as Hugging Face's networks did before 2026."""
    kernels = row.compile_kernels.casefold()
    grouped = any(word in kernels for word in ("grouped", "gmm", "scattermoe", "megablocks", "unsloth"))
    return framework_family(row.framework) in HUGGING_FACE and year_of(row) < GROUPED_YEAR and not grouped


def is_mixture(row: Measurement) -> bool:
    """Return whether a row measures a mixture of experts, by its words or its name (Qwen3-30B-A3B, 8x7B)."""
    return EXPERTS.search(f"{row.model_family} {row.mlp_type} {row.model}".casefold()) is not None


def states_experts(row: Measurement) -> bool:
    """Return whether a row states the experts of a layer, their width, and the experts of a token."""
    return _COUNTS.search(row.mlp_type) is not None and row.ffn_hidden is not None


def _experts(mlp_type: str) -> tuple[float, float]:
    """Read the experts of a layer and those of a token: `swiglu-moe(128,top8)`, `swiglu MoE 8x top2`."""
    counts = _COUNTS.search(mlp_type)
    if counts is None:
        return 1.0, 1.0
    fewer, more = sorted((float(counts[1]), float(counts[2])))
    return max(more, 1.0), max(fewer, 1.0)


def _experts_by_count(stated: float, parameters: float | None, others: float, table: float, expert: float) -> float:
    """Return the experts per layer that explain a count of parameters, or the stated ones if that is implausible.

    The count includes experts that all tokens share, and averages over layers without experts.
    """
    if parameters is None:
        return stated
    count = _times_in_count(parameters - others, table, expert, expected=stated)
    return count if PLAUSIBLE_EXPERTS[0] < count / stated < PLAUSIBLE_EXPERTS[1] else stated


def _times_in_count(parameters: float, table: float, each: float, *, expected: float) -> float:
    """Return (parameters - tables) / each for one table or two, whichever is closer to the expected number.

    Some networks tie the head to the first table, and some counts omit the head.
    """
    return min(((parameters - tables * table) / each for tables in (1, 2)), key=lambda count: abs(count - expected))


def _q_dim(row: Measurement, *, heads: int, kv_heads: int, mlp: float, vocab: int, dense: bool) -> float:
    """Return heads x size of a head: the hidden size, unless the parameter count implies other heads.

    Tables do not state the size of a head. It is usually hidden size / heads, or the next power of two if that size
    does not suit kernels. For a dense network whose count this does not explain, it is the size with which attention,
    MLP and one table or two explain the count. A mixture's count includes experts that tables omit, so its heads are
    taken as usual or as twice that.
    """
    assert row.n_layers is not None
    assert row.hidden is not None
    share = row.hidden / heads
    odd = bool(share % ALIGNED)
    usual = float(heads * 2 ** int(share).bit_length()) if odd else float(row.hidden)
    parameters = row.params_total
    if parameters is None:
        return usual
    per_unit = row.n_layers * 2 * row.hidden * (1 + kv_heads / heads)
    others, table = row.n_layers * mlp, vocab * row.hidden

    def difference(q_dim: float) -> float:
        """Return the relative difference between the published count and the closest one with `q_dim`."""
        counts = (per_unit * q_dim + others + tables * table for tables in (1, 2))
        return min(abs(count / parameters - 1) for count in counts)

    if dense and share not in USUAL_HEADS:
        best = min((float(row.hidden), *(float(heads * size) for size in USUAL_HEADS)), key=difference)
        if difference(best) <= min(MATCHING_COUNT, difference(usual) / 4):
            return best
    if odd:
        return usual
    ratio = _times_in_count(parameters - others, table, per_unit * row.hidden, expected=1)
    return usual * 2 if 1.7 < ratio < 2.3 and share < USUAL_HEAD else usual
