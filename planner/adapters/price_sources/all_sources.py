"""Asks all sources of prices at the same time, and yields each answer as it arrives."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from datetime import datetime
from enum import StrEnum
from functools import partial

from planner import time_limits
from planner.adapters.http_fetch import TIMEOUT_S
from planner.adapters.price_sources.source import Machines, Names, SourceAnswer
from planner.cost.cloud.price_level import Bands, implausible, price_bands
from planner.errors import PriceSourceError
from planner.model.catalog import Catalog
from planner.model.prices.offer import PriceOrigin
from planner.model.prices.price_list import EVERYWHERE
from planner.time_limits import asked_together, within

LAMBDA_KEY_VARIABLE = "LAMBDA_API_KEY"
AZURE_URL_VARIABLE = "PLANNER_AZURE_PRICES_URL"
LAMBDA_URL_VARIABLE = "PLANNER_LAMBDA_API_URL"


class SourceChoice(StrEnum):
    """Sources of prices."""

    AWS = "aws"
    AWS_LIST = "aws-list"
    AZURE = "azure"
    GPUHUNT = "gpuhunt"
    LAMBDA = "lambda"
    SKYPILOT = "skypilot"
    ALL = "all"


IN_TURN = (
    (SourceChoice.AWS, SourceChoice.AWS_LIST),
    (SourceChoice.AZURE,),
    (SourceChoice.GPUHUNT,),
    (SourceChoice.LAMBDA,),
    (SourceChoice.SKYPILOT,),
)
"""Groups of sources to ask at the same time.

AWS's public list is asked only if AWS itself, with the same prices, has none.
"""


def source_answers(
    choice: SourceChoice, catalog: Catalog, now: datetime, regions: tuple[str, ...], timeout_s: float
) -> Iterator[tuple[SourceChoice, SourceAnswer]]:
    """Yield the answer of each source as it arrives, without implausible prices."""
    bands = price_bands((price for price in catalog.prices if price.origin is PriceOrigin.BUNDLED), catalog.nodes)

    limit_s = time_limits.OPERATION_S * max(1.0, timeout_s / TIMEOUT_S)

    def ask(sources: Sequence[SourceChoice]) -> list[tuple[SourceChoice, SourceAnswer]]:
        """Ask one source after the other until one has a price."""
        said = []
        for source in sources:
            answer = SourceAnswer()
            with answer.alone(source.value):
                fetcher = partial(_FETCHERS[source], catalog, now, regions, timeout_s)
                answer.take(within(fetcher, who=source.value, limit_s=limit_s, error=PriceSourceError))
            said.append((source, _plausible(answer, catalog, bands)))
            if answer.prices:
                break
        return said

    together = IN_TURN if choice is SourceChoice.ALL else ((choice,),)
    asked = asked_together([partial(ask, sources) for sources in together], at_once=len(together))
    for answers in as_completed(asked):
        yield from answers.result()


def _plausible(answer: SourceAnswer, catalog: Catalog, bands: Bands) -> SourceAnswer:
    """Return an answer with its plausible prices. The others are counted with their reasons."""
    sane = []
    for price in answer.prices:
        problem = implausible(price, catalog.nodes, bands)
        if problem is None:
            sane.append(price)
        else:
            answer.left_out[f"{price.node} in {price.region}: {problem}"] += 1
    answer.prices = sane
    return answer


def _from_aws(catalog: Catalog, now: datetime, regions: tuple[str, ...], timeout_s: float) -> SourceAnswer:
    from planner.adapters.price_sources.aws import REGIONS, aws_prices

    return aws_prices(session=None, nodes=catalog.nodes, now=now, regions=regions or REGIONS, timeout_s=timeout_s)


def _from_aws_list(catalog: Catalog, now: datetime, regions: tuple[str, ...], timeout_s: float) -> SourceAnswer:
    from planner.adapters.price_sources.aws import REGIONS
    from planner.adapters.price_sources.aws_list import aws_list_prices

    return aws_list_prices(nodes=catalog.nodes, today=now.date(), regions=regions or REGIONS, timeout_s=timeout_s)


def _from_azure(catalog: Catalog, now: datetime, regions: tuple[str, ...], timeout_s: float) -> SourceAnswer:
    from planner.adapters.price_sources.azure import API_URL, azure_prices

    url = os.environ.get(AZURE_URL_VARIABLE) or API_URL
    answer = azure_prices(nodes=catalog.nodes, today=now.date(), api_url=url, timeout_s=timeout_s)
    return _in_regions(answer, regions)


def _from_gpuhunt(catalog: Catalog, now: datetime, regions: tuple[str, ...], timeout_s: float) -> SourceAnswer:
    from planner.adapters.price_sources.gpuhunt import gpuhunt_prices

    answer = gpuhunt_prices(
        names=Names(catalog.nodes), machines=Machines(catalog.nodes), today=now.date(), timeout_s=timeout_s
    )
    return _in_regions(answer, regions)


def _from_lambda(catalog: Catalog, now: datetime, regions: tuple[str, ...], timeout_s: float) -> SourceAnswer:  # noqa: ARG001
    from planner.adapters.price_sources.lambda_labs import API_URL, lambda_prices

    key = os.environ.get(LAMBDA_KEY_VARIABLE)
    if not key:
        raise PriceSourceError(f"Lambda's API: needs a key in {LAMBDA_KEY_VARIABLE}.", fix="Make one in its console.")
    url = os.environ.get(LAMBDA_URL_VARIABLE) or API_URL
    return lambda_prices(key=key, names=Names(catalog.nodes), today=now.date(), api_url=url, timeout_s=timeout_s)


def _from_skypilot(catalog: Catalog, now: datetime, regions: tuple[str, ...], timeout_s: float) -> SourceAnswer:
    from planner.adapters.price_sources.skypilot import skypilot_prices

    answer = skypilot_prices(names=Names(catalog.nodes), today=now.date(), timeout_s=timeout_s)
    return _in_regions(answer, regions)


def _in_regions(answer: SourceAnswer, regions: tuple[str, ...]) -> SourceAnswer:
    if regions:
        answer.prices = [price for price in answer.prices if price.region in (*regions, "any")]
        answer.lists = [
            read.model_copy(update={"region": region})
            for read in answer.lists
            for region in (regions if read.region == EVERYWHERE else (read.region,))
        ]
    return answer


_FETCHERS: Mapping[SourceChoice, Callable[[Catalog, datetime, tuple[str, ...], float], SourceAnswer]] = {
    SourceChoice.AWS: _from_aws,
    SourceChoice.AWS_LIST: _from_aws_list,
    SourceChoice.AZURE: _from_azure,
    SourceChoice.GPUHUNT: _from_gpuhunt,
    SourceChoice.LAMBDA: _from_lambda,
    SourceChoice.SKYPILOT: _from_skypilot,
}
