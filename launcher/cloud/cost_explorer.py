"""Costs of launches by their label, from AWS Cost Explorer: the third figure beside estimate and ledger."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date, timedelta
from typing import Any

from planner.aws_session import aws_session
from planner.errors import NodeError
from planner.launcher.cloud.aws import explained
from planner.launcher.plan.task import RUN_LABEL
from planner.model.base import Frozen
from planner.time_limits import within

REGION = "us-east-1"
"""Only region in which the service answers."""
LAG_DAYS = 1
"""Days until a bill is complete after the usage. Source: Cost Explorer user guide."""
NO_COST_REASON = (
    f"Cost Explorer names no cost for it: the label {RUN_LABEL} must be a cost allocation tag (Billing console, Cost "
    "allocation tags), and costs appear up to a day late"
)


class CostExplorerBill(Frozen):
    """AWS's bill for one launch."""

    usd: float | None
    reason: str | None
    """Reason why there is no figure, or why it may still grow."""
    estimated: bool
    """True if AWS calls the figure not final."""


def billed(run_ids: Collection[str], *, first: date, last: date, today: date) -> dict[str, CostExplorerBill]:
    """Return the unblended cost of each launch over the days from `first` to `last`, both included.

    One request, 0.01 USD (source: AWS Cost Management pricing page), covers all launches of these days.
    Unblended means what the account was charged on that day, without credits and refunds. An upfront payment (a
    Capacity Block) is charged on the day it was paid, without the launch's label, so it is not included.
    Source: AWS Cost Explorer API reference, GetCostAndUsage.
    """
    sums: dict[str, float] = {}
    estimated: set[str] = set()
    for period in _periods(first, last + timedelta(days=1)):
        for group in period.get("Groups", []):
            run_id = str(group["Keys"][0]).partition("$")[2]
            if run_id in run_ids:
                sums[run_id] = sums.get(run_id, 0.0) + float(group["Metrics"]["UnblendedCost"]["Amount"])
                estimated |= {run_id} if period.get("Estimated") else set()
    may_change = today <= last + timedelta(days=LAG_DAYS)
    return {run_id: _billed(sums.get(run_id), late=may_change, estimated=run_id in estimated) for run_id in run_ids}


def _billed(usd: float | None, *, late: bool, estimated: bool) -> CostExplorerBill:
    if usd is None:
        return CostExplorerBill(usd=None, reason=NO_COST_REASON, estimated=True)
    reason = "AWS completes a bill about a day after the usage" if late or estimated else None
    return CostExplorerBill(usd=usd, reason=reason, estimated=late or estimated)


def _periods(first: date, end: date) -> list[dict[str, Any]]:
    question: dict[str, Any] = {
        "TimePeriod": {"Start": first.isoformat(), "End": end.isoformat()},
        "Granularity": "DAILY",
        "Metrics": ["UnblendedCost"],
        "Filter": {"Not": {"Tags": {"Key": RUN_LABEL, "MatchOptions": ["ABSENT"]}}},
        "GroupBy": [{"Type": "TAG", "Key": RUN_LABEL}],
    }
    with explained("Cost Explorer"):
        return within(lambda: _all_pages(question), who="Cost Explorer")


def _all_pages(question: dict[str, Any]) -> list[dict[str, Any]]:
    periods: list[dict[str, Any]] = []
    client, tokens = aws_session().client("ce", region_name=REGION), set()
    while True:
        answer = client.get_cost_and_usage(**question)
        periods += answer["ResultsByTime"]
        token = answer.get("NextPageToken")
        if not token:
            return periods
        if token in tokens:
            raise NodeError("Cost Explorer: its list repeats itself.", fix="Try again in a minute.")
        tokens.add(token)
        question = {**question, "NextPageToken": token}
