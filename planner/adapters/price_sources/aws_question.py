"""A question to AWS about one region: its clients, its pages, and what happens when a part is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from threading import Lock
from typing import TYPE_CHECKING, Any

from planner.adapters.price_sources.source import SourceAnswer
from planner.model.hardware.machines import Node
from planner.model.prices.offer import PriceOrigin

if TYPE_CHECKING:
    import boto3

MOST_PAGES = 100
REFUSED_TO_ALL = ("AccessDenied", "AccessDeniedException", "AuthFailure", "ExpiredToken", "UnauthorizedOperation")
SILENT = ("ConnectTimeoutError", "ReadTimeoutError", "EndpointConnectionError")
"""Names of botocore exceptions after which a silent service is not asked again."""


@dataclass
class AwsQuestion:
    """One region's question to AWS, with the place for its answers."""

    session: boto3.Session
    region: str
    nodes: Mapping[str, Node]
    """Nodes by instance type."""
    now: datetime
    timeout_s: float
    answer: SourceAnswer
    vcpus: dict[str, int]
    making_clients: Lock
    """Lock for making clients: a session is for one thread at a time, its clients for any."""

    def client(self, service: str, region: str | None = None) -> Any:
        """Return a client of a service."""
        from botocore.config import Config

        config = Config(connect_timeout=self.timeout_s, read_timeout=self.timeout_s, retries={"mode": "standard"})
        with self.making_clients:
            return self.session.client(service, region_name=region or self.region, config=config)  # type: ignore[call-overload]

    def add(self, instance: str, **cells: Any) -> None:
        """Add a price of one of our machines; `cells` replace what all prices of the region share."""
        node, today = self.nodes[instance], self.now.date()
        self.answer.add(
            **{
                "provider": "aws", "instance_type": instance, "accelerator": node.accelerator,
                "accelerators": node.accelerators, "region": self.region, "origin": PriceOrigin.AWS_API,
                "as_of": today, "fetched_at": today, "confidence": "api", "source_version": today.isoformat(),
            } | cells
        )  # fmt: skip


@contextmanager
def refusals_noted(question: AwsQuestion, what: str, *, of_many: bool = False) -> Iterator[None]:
    """Let only the refused part fail: it is named among the problems, once for each reason.

    A refusal to the account covers all types and quotas, so a refusal to `of_many` ends the question.
    """
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
        return
    except (ClientError, BotoCoreError) as error:
        problem = _reason(error)
        if of_many and (problem.partition(":")[0] in REFUSED_TO_ALL or type(error).__name__ in SILENT):
            raise
    except Exception as error:  # noqa: BLE001  # whatever one answer is, the others are kept
        problem = f"an answer of unknown shape: {error!r}"
    said = [problem in earlier and f" in {question.region}:" in earlier for earlier in question.answer.problems]
    if not any(said):
        question.answer.problems.append(f"AWS {what} in {question.region}: {problem}")


def _reason(error: Exception) -> str:
    response: Mapping[str, Any] = getattr(error, "response", {})
    detail = response.get("Error", {})
    if detail.get("Code"):
        return f"{detail['Code']}: {detail.get('Message', '')}".strip(": ")
    return " ".join(str(error).split())


def pages_of(call: Callable[..., Mapping[str, Any]], token: str, **request: Any) -> Iterator[Mapping[str, Any]]:
    """Call until no token comes back, at most a hundred times."""
    for _ in range(MOST_PAGES):
        page = call(**request)
        yield page
        following = page.get(token)
        if not following:
            return
        request[token] = following
