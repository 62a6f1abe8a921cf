"""Turns the machines of a question into options of a plan: owned machines, purchases and named offers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from planner.errors import InputError, NotFoundError, NotModelledError
from planner.model.answer.audit import Severity
from planner.model.answer.run_check import RunVerdict
from planner.model.catalog import Catalog
from planner.model.hardware.accelerator_name import accelerator_named, not_modelled
from planner.model.hardware.machines import Accelerator
from planner.model.network.workload import Precision
from planner.model.owning.acquisition import Hold
from planner.model.plan.find_filters import Terms
from planner.model.plan.plan import SpotUse
from planner.model.plan.plan_option import OWN_LOG
from planner.model.prices.offer import PriceKind
from planner.model.quantity import Basis
from planner.scenario.price_choice import ANY_REGION, current_price
from planner.scenario.unpublished_power import nearest_offer, owning_not_modelled
from planner.text.number_text import with_plain_digits
from planner.use_cases.asking.question import Draft, MachineToBuy
from planner.use_cases.cluster_names import counted_cards
from planner.use_cases.importing.check_run import check_run

KIND = re.compile(r"(.+):([a-z0-9_]+)")
"""Pattern of an offer followed by its kind of price. Ids contain no colon."""
BLOCK = PriceKind.CAPACITY_BLOCK
CHECK = "see: planner check-run LOG"


def owned_machines(draft: Draft) -> list[dict[str, Any]]:
    """Return the options for owned machines and for machines to be bought."""
    question = draft.question
    return [*(_owned(text, draft) for text in question.own), *(_bought(purchase, draft) for purchase in question.buy)]


def _owned(text: str, draft: Draft) -> dict[str, Any]:
    nodes, count, card = own_cards(text, draft.catalog)
    if text in draft.catalog.sites:
        return {"site": text, "hold": Hold.HAVE} | _step_of_log(draft, nodes * count)
    machine = {"own": _card(card, draft), "count": count} | _several(nodes, draft)
    return machine | _step_of_log(draft, nodes * count)


def usual_precision(draft: Draft) -> Precision:
    """Return the first of bf16, fp16 and fp32 that every owned card supports in hardware."""
    cards = [card for text in draft.question.own if (card := _accelerator(text, draft)) is not None]
    for precision in (Precision.BF16, Precision.FP16):
        if all(card.peak_tflops(precision) is not None for card in cards):
            return precision
    return Precision.FP32


def _accelerator(text: str, draft: Draft) -> Accelerator | None:
    """Return the card of an owned machine; None if the catalog does not know it."""
    name = own_cards(text, draft.catalog)[2]
    found = accelerator_named(name, draft.catalog.accelerators, draft.catalog.aliases)
    return found or draft.catalog.accelerators.get(f"{name.upper()}-SXM")


def _several(nodes: int, draft: Draft) -> dict[str, Any]:
    """Return the number of nodes, and the network between them if the question states it; empty for one node."""
    if nodes == 1:
        return {}
    network = draft.question.filters.network_gbit_per_s
    return {"nodes": nodes} | ({} if network is None else {"network_gbit_per_s": network})


def _bought(purchase: MachineToBuy, draft: Draft) -> dict[str, Any]:
    price = {"hold": Hold.BUY} | ({} if purchase.usd is None else {"purchase_usd": purchase.usd})
    if purchase.machine in draft.catalog.sites:
        return {"site": purchase.machine} | price
    nodes, count, card = own_cards(purchase.machine, draft.catalog)
    return {"own": _card(card, draft), "count": count} | _several(nodes, draft) | price


def own_cards(text: str, catalog: Catalog) -> tuple[int, int, str]:
    """Read `2xRTX-3090`, `4x8xA100-40GB-SXM` or a site's id. Return nodes, cards per node, and the card's name."""
    site = catalog.sites.get(text)
    if site is not None:
        node = catalog.nodes[site.node]
        return site.nodes, node.accelerators, node.accelerator
    counted = counted_cards(text)
    if counted is None:
        plain = with_plain_digits(text)
        usual = "Write --own 2xRTX-3090, 4x8xA100-40GB-SXM, or a site's id."
        raise InputError(f"--own {text}: is not a machine.", fix=f"Write --own {plain}" if plain != text else usual)
    return counted.nodes, counted.per_node, counted.card


def _card(name: str, draft: Draft) -> str:
    """Return an accelerator's id. A chip that is sold as module and as card (H100) means the module."""
    if name not in draft.catalog.accelerators and (reason := not_modelled(name)) is not None:
        raise NotModelledError(f"--own {name}: {reason}.", fix="Leave --own out to see what can be rented.")
    known = accelerator_named(name, draft.catalog.accelerators, draft.catalog.aliases)
    if known is not None and (reason := owning_not_modelled(known)) is not None:
        offer = nearest_offer(known, draft.catalog)
        fix = "Leave --own out." if offer is None else f"Nearest is to rent it: --on {offer}"
        raise NotModelledError(f"--own {name}: {reason}.", fix=fix)
    usual = f"{name.upper()}-SXM"
    if name in draft.catalog.accelerators or usual not in draft.catalog.accelerators:
        return name
    draft.assume(f"{name} is {usual}", f"--own {name.upper()}-PCIe")
    return usual


def named_offers(draft: Draft) -> list[dict[str, Any]]:
    """Return the named offers, each with its kind of price if one is named."""
    return [_named(text, draft) for text in draft.question.on]


def _named(text: str, draft: Draft) -> dict[str, Any]:
    named = KIND.fullmatch(text)
    if named is None:
        return _as_sold(_offer(text, draft), draft)
    kinds = [kind.value for kind in PriceKind]
    if named[2] not in kinds:
        fix = f"Known: {', '.join(kinds)}"
        raise NotFoundError("kind of price", named[2], kinds, where=f"--on {text}", fix=fix)
    return {"offer": _offer(named[1], draft), "price": named[2]}


def _as_sold(offer: str, draft: Draft) -> dict[str, Any]:
    """Return an offer at its on-demand price, or as a capacity block if it is only sold as blocks."""
    by_kind = [current_price(offer, draft.catalog, kind=kind, region=None) for kind in (PriceKind.ON_DEMAND, BLOCK)]
    on_demand, block = (row is not None and row.amount is not None for row in by_kind)
    if on_demand or not block:
        return {"offer": offer}
    draft.assume(f"{offer} as a block of whole days, as it has no price on demand", f"--on {offer}:spot")
    return {"offer": offer, "price": BLOCK.value}


def limits_of(draft: Draft, owned: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the limits that the filters set for named offers. Owned machines are allowed anywhere."""
    filters = draft.question.filters
    limits: dict[str, Any] = {"spot": SpotUse.NEVER} if filters.terms is Terms.FIRM else {}
    if filters.region:
        sites = [option["site"] for option in owned if "site" in option]
        limits["allowed_regions"] = (*filters.region, ANY_REGION, *sites)
    return limits


def _offer(text: str, draft: Draft) -> str:
    """Return an offer by its id or by its family. A family (p5) means its machine with the most accelerators."""
    nodes = draft.catalog.nodes
    if text in nodes:
        return text
    asked = text.casefold()
    alike = [node for node in nodes.values() if _is_of(node.id.casefold(), asked)]
    if not alike:
        raise NotFoundError("offer", text, nodes, where="--on", fix="See: planner prices list")
    largest = max(alike, key=lambda node: (node.accelerators, node.id))
    if len(alike) > 1:
        smallest = min(alike, key=lambda node: (node.accelerators, node.id))
        draft.assume(f"{text} is {largest.id}", f"--on {smallest.id}")
    return largest.id


def _is_of(node: str, asked: str) -> bool:
    instance = node.rpartition("/")[2]
    return asked in (instance, node) or instance.startswith(f"{asked}.") or node.startswith(f"{asked}.")


def _step_of_log(draft: Draft, accelerators: int) -> dict[str, Any]:
    """Return the `step` of an option with this number of accelerators; empty if the log is of another machine.

    Also empty if the log's speed is impossible. The estimator then answers, as `check-run` does for the same training.
    """
    log = draft.question.log
    if log is None or log.global_batch is None or log.hardware.accelerators != accelerators:
        return {}
    checked = check_run(log, draft.catalog)
    wrong = next((finding.says for finding in checked.audit.findings if finding.severity is Severity.IMPOSSIBLE), None)
    if wrong is not None:
        draft.assume(f"an estimate in place of the log's speed, which cannot be true: {wrong.rstrip('.')}", CHECK)
        return {}
    rate, basis = log.throughput, Basis.ASSUMED
    if log.verdict:
        draft.assume(f"the log's speed, which is doubtful: {log.verdict[0]}", "--log")
    elif checked.verdict is RunVerdict.TOO_FAST:
        draft.assume("the log's speed, which is above what its settings lead to expect", CHECK)
    else:
        basis = Basis.MEASURED
    step = {
        "batch": log.global_batch, "seconds": log.global_batch / rate.value, "basis": basis.value,
        "low_seconds": log.global_batch / rate.high, "high_seconds": log.global_batch / rate.low,
        "source": OWN_LOG,
    }  # fmt: skip
    return {"step": step}
