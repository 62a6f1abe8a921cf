"""Screen of a planned launch before anything is started: one line for each target, or the bill with its sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from planner.decide.options.display_name import machine_name
from planner.launcher.documents import PlannedLaunch
from planner.launcher.plan.bill import LaunchBill, capped_usd
from planner.model.prices.service import Provider
from planner.present.screen import Column, table_lines, wrapped
from planner.present.table import Row

PLANNED = (
    Column(key="target", title="machine", wrap=20),
    Column(key="terms", title="terms", drop=2),
    Column(key="rate", title="USD/h", right=True, drop=1),
    Column(key="job", title="job up to", right=True, drop=3),
    Column(key="gone", title="gone after", right=True),
    Column(key="worst", title="USD at most", right=True),
)
BELOW = " " * 15
"""Column at which the text of `bill_lines` begins."""


def planned_lines(
    documents: Sequence[PlannedLaunch],
    providers: Mapping[str, Provider],
    *,
    worst_usd: float | None,
    width: int,
    details: bool = False,
) -> list[str]:
    """Return what would run where, for how long and at what highest cost; with `details`, also the sources."""
    workloads = ", ".join(dict.fromkeys(document.workload for document in documents))
    lines = [*wrapped(f"Launch of {workloads}", width=width), ""]
    lines += [*wrapped(_headline(documents, worst_usd), width=width, indent="  "), ""]
    lines += table_lines(PLANNED, [_planned_row(document, providers) for document in documents], width=width)
    if details:
        texts = ["", *(line for document in documents for line in bill_lines(document))]
        return [*lines, *(line for text in texts for line in wrapped(text, width=width, indent=BELOW) or [""])]
    checks = [f"{_name(document, providers)}: {check}" for document in documents for check in document.checks]
    texts = [*_notes(documents, providers), *checks]
    return [*lines, *(line for text in texts for line in wrapped(text, width=width, indent="  ")), "Sources: --details"]


def bill_lines(planned: PlannedLaunch) -> list[str]:
    """Return the bill of one launch in words: price, source, date, the three limits on time, the worst case."""
    bill, target = planned.bill, planned.target
    caps = bill.caps
    lines = [
        f"{target.id}: {bill.nodes} node(s), {planned.workload}, {bill.price_kind.replace('_', ' ')}"
        + (f", {target.region}" if target.region else ""),
        f"  price        {_price(bill)}",
        f"  time         job at most {caps.max_minutes:g} min; taken down within {caps.watchdog_minutes:g} min "
        f"({caps.max_minutes:g} + {caps.provisioning_minutes:g} to boot and set up), or {caps.worst_minutes:g} min if "
        f"this client stops (+ {caps.idle_minutes:g} idle)",
        f"  worst case   {_usd(bill.worst_case_usd)}"
        + (f", of which {bill.ancillary_usd:.2f} are ancillary costs" if bill.ancillary_usd else ""),
    ]
    lines += [
        f"  ancillary    {cost.what}: {cost.usd_per_hour:.3f} USD per hour at most ({cost.basis.value}: {cost.source})"
        for cost in bill.ancillary
    ]
    lines += [f"  answer       planner show {planned.answer_id}"] if planned.answer_id is not None else []
    return [*lines, *(f"  note         {note}" for note in planned.notes), *(f"  check  {c}" for c in planned.checks)]


def _notes(documents: Sequence[PlannedLaunch], providers: Mapping[str, Provider]) -> list[str]:
    """Return each note once, with its machines if it does not apply to all."""
    targets: dict[str, list[str]] = {}
    for document in documents:
        for note in document.notes:
            targets.setdefault(note, []).append(_name(document, providers))
    return [
        note if len(names_of_targets) == len(documents) else f"{', '.join(names_of_targets)}: {note}"
        for note, names_of_targets in targets.items()
    ]


def _headline(documents: Sequence[PlannedLaunch], worst_usd: float | None) -> str:
    nodes = sum(document.bill.nodes for document in documents)
    machines = "1 machine" if nodes == 1 else f"{nodes} machines"
    minutes = max(document.bill.caps.worst_minutes for document in documents)
    if not any(document.bill.invoiced for document in documents):
        cost = "no invoice" if worst_usd is None else f"{capped_usd(worst_usd)} USD at most"
        return f"Measure on {machines}: {cost}, over after {minutes:g} minutes."
    cost = "at a price that is not known" if worst_usd is None else f"{capped_usd(worst_usd)} USD at most"
    return f"Rent {machines}: {cost}, gone after {minutes:g} minutes."


def _planned_row(planned: PlannedLaunch, providers: Mapping[str, Provider]) -> Row:
    bill = planned.bill
    return {
        "target": _name(planned, providers),
        "terms": ", ".join(filter(None, (bill.price_kind.replace("_", " "), planned.target.region))),
        "rate": "" if bill.rate is None else f"{bill.rate.usd_per_node_hour:,.2f}",
        "job": f"{bill.caps.max_minutes:g} min",
        "gone": f"{bill.caps.worst_minutes:g} min",
        "worst": _worst(bill),
    }


def _name(planned: PlannedLaunch, providers: Mapping[str, Provider]) -> str:
    target = planned.target
    if not target.is_cloud:
        return target.id
    return machine_name(
        target.id,
        providers,
        accelerator=target.accelerator,
        accelerators=target.devices_per_node,
        nodes=planned.bill.nodes,
    )


def _worst(bill: LaunchBill) -> str:
    if bill.worst_case_usd is None:
        return "not known" if bill.invoiced else "no invoice"
    return capped_usd(bill.worst_case_usd)


def _price(bill: LaunchBill) -> str:
    rate = bill.rate
    if rate is None:
        return f"none: {bill.no_price_reason}"
    up = rate.highest_usd_per_node_hour
    rise = f", may rise to {up:g}" if up > rate.usd_per_node_hour else ""
    dated = f", {rate.as_of}" if rate.as_of else ""
    return f"{rate.usd_per_node_hour:g} USD per node-hour{rise} ({rate.basis.value}: {rate.source}{dated})"


def _usd(value: float | None) -> str:
    return "not known" if value is None else f"{capped_usd(value)} USD"
