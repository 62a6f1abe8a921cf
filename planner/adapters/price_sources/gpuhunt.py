"""Prices from gpuhunt's catalogs: many clouds in one format, each published with its date."""

from __future__ import annotations

import io
import logging
import os
import re
import tempfile
import warnings
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import date, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from planner.adapters.http_fetch import PATIENCE, TIMEOUT_S, fetch
from planner.adapters.price_sources.source import Machines, Names, SourceAnswer, as_id
from planner.errors import MissingExtraError, PriceSourceError
from planner.model.prices.offer import PriceKind, PriceOrigin
from planner.time_limits import asked_together

if TYPE_CHECKING:
    from gpuhunt import CatalogItem

FOLDER_VARIABLE = "GPUHUNT_CATALOG_DIR"
URL_VARIABLE = "GPUHUNT_CATALOG_URL"
PROVIDERS = ("aws", "azure", "cloudrift", "gcp", "lambdalabs", "nebius", "oci", "runpod", "verda")
"""Clouds of which gpuhunt publishes a catalog."""
NOT_ASKED = {
    "crusoe": "needs its access key and secret",
    "daytona": "rents sandboxes, no machines",
    "digitalocean": "needs DIGITAL_OCEAN_API_KEY",
    "hotaisle": "needs HOTAISLE_API_KEY",
    "jarvislabs": "needs JL_API_KEY",
    "lium": "a market of single hosts, answered without a size limit",
    "seeweb": "needs its token",
    "vastai": "a market of single hosts, answered without a size limit",
    "vultr": "needs VULTR_API_KEY to say what it has where",
}
"""Clouds that gpuhunt queries one by one, without a limit on the answer that we could set.

They are skipped, and the user is told. Their prices can be written into a price file.
"""
OUR_NAMES = {"lambdalabs": "lambda"}
INCOMPLETE = {"aws"}
"""Catalogs that omit machines which are still sold: p3."""
LIMIT_BYTES = 50_000_000
UNPACKED_LIMIT_BYTES = 500_000_000
ZONED = {"gcp"}
"""Clouds whose location is a zone: us-central1-a."""


def gpuhunt_prices(
    *, names: Names, machines: Machines, today: date, providers: Iterable[str] = PROVIDERS, timeout_s: float = TIMEOUT_S
) -> SourceAnswer:
    """Read the published catalogs, or the folder in `GPUHUNT_CATALOG_DIR`. A catalog that fails is skipped.

    We download them ourselves, several at once, with a size limit and a time limit, which gpuhunt lacks, and let it
    parse them.
    """
    try:
        from gpuhunt import Catalog
    except ImportError as error:
        raise MissingExtraError("gpuhunt", "prices") from error
    answer = SourceAnswer(not_asked=[f"{name}: {reason}" for name, reason in NOT_ASKED.items()])
    providers = tuple(providers)
    own = os.environ.get(FOLDER_VARIABLE)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(own or scratch)
        asks = [
            partial(_day_of, folder, provider) if own else partial(_download, folder, provider, timeout_s=timeout_s)
            for provider in providers
        ]
        for provider, downloaded in zip(providers, asked_together(asks), strict=True):
            what = f"gpuhunt's catalog of {provider}"
            with answer.alone(what):
                version = downloaded.result()
                with _catalogs_in(folder), _unread_rows() as unread, warnings.catch_warnings():
                    warnings.simplefilter(
                        "ignore", ResourceWarning
                    )  # it leaves closing its files to the garbage collector
                    catalog = Catalog(balance_resources=False, auto_reload=False)
                    items = catalog.query(provider=provider, min_gpu_count=1)
                for reason, rows in unread.items():
                    answer.left_out[f"rows of {provider} that it could not read: {reason}"] += rows
                if not items:
                    why = f": {', '.join(list(unread)[:3])}. Its format has changed." if unread else ""
                    answer.problems.append(f"{what}: holds no accelerator that it could read{why}")
                _add(answer, items, names=names, machines=machines, version=version, today=today)
                if provider not in INCOMPLETE and not unread:
                    answer.read_whole(OUR_NAMES.get(provider, provider), PriceOrigin.GPUHUNT, today)
    if not answer.prices and answer.problems:
        raise PriceSourceError(f"gpuhunt: no catalog could be read: {answer.problems[0]}")
    return answer


@contextmanager
def _unread_rows() -> Iterator[Counter[str]]:
    """Count the rows that gpuhunt cannot read, by reason. It writes a log line for each."""
    reasons: Counter[str] = Counter()

    class Counting(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            message = record.getMessage()
            reasons[message.partition(": ")[2] or message] += 1

    logger, handler = logging.getLogger("gpuhunt"), Counting()
    propagate, logger.propagate = logger.propagate, False
    logger.addHandler(handler)
    try:
        yield reasons
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagate


def _download(folder: Path, provider: str, *, timeout_s: float) -> str:
    """Fetch and unpack one provider's catalog. Return its version."""
    from gpuhunt._internal.catalog import CATALOG_URL

    base = (os.environ.get(URL_VARIABLE) or CATALOG_URL).rstrip("/")
    what = f"gpuhunt's catalog of {provider}"
    raw = fetch(f"{base}/{provider}/version", what=what, timeout_s=timeout_s, limit_bytes=1000).data
    version = raw.decode("ascii", errors="replace").strip()
    if not re.fullmatch(r"[0-9A-Za-z._-]{1,40}", version):
        raise PriceSourceError(f"{what}: {version[:40]!r} is no version.")
    data = fetch(
        f"{base}/{provider}/{version}/catalog.zip", what=what, timeout_s=timeout_s, limit_bytes=LIMIT_BYTES,
        patience=PATIENCE,
    )  # fmt: skip
    try:
        with zipfile.ZipFile(io.BytesIO(data.data)) as archive, archive.open(f"{provider}.csv") as packed:
            text = packed.read(UNPACKED_LIMIT_BYTES + 1)
    # the last four: cut short; packed in a way, or for a version, that zipfile does not read; spoilt; behind a password
    except (zipfile.BadZipFile, KeyError, EOFError, NotImplementedError, zlib.error, RuntimeError) as error:
        raise PriceSourceError(f"{what}: the download is damaged: {error}.", fix="Try again.") from error
    if len(text) > UNPACKED_LIMIT_BYTES:
        raise PriceSourceError(f"{what}: unpacks to more than {UNPACKED_LIMIT_BYTES / 1e6:g} MB.")
    (folder / f"{provider}.csv").write_bytes(text)
    return version


def _day_of(folder: Path, provider: str) -> str:
    """Return the version of a file of the user's own: the day on which it was written."""
    path = folder / f"{provider}.csv"
    if not path.is_file():
        raise PriceSourceError(f"gpuhunt's catalog of {provider}: {FOLDER_VARIABLE} has no {path.name}.")
    return datetime.fromtimestamp(path.stat().st_mtime).strftime("%Y%m%d")


@contextmanager
def _catalogs_in(folder: Path) -> Iterator[None]:
    before = os.environ.get(FOLDER_VARIABLE)
    os.environ[FOLDER_VARIABLE] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ[FOLDER_VARIABLE]
        else:
            os.environ[FOLDER_VARIABLE] = before


def _add(
    answer: SourceAnswer, items: Iterable[CatalogItem], *, names: Names, machines: Machines, version: str, today: date
) -> None:
    """Add the cheapest row of each machine, place and kind. One name may stand for several numbers of cards."""
    rows: list[tuple[CatalogItem, tuple[str, str, int], str | None]] = []
    for item in items:
        if not item.price > 0:
            answer.left_out["rows without a price"] += 1
            continue
        provider = OUR_NAMES.get(item.provider, item.provider)
        instance = as_id(item.instance_name)
        carried = names.find(f"{provider}/{instance}", item.gpu_name or "", item.gpu_memory)
        if carried is None:
            answer.left_out[f"accelerator '{item.gpu_name}' is not in the catalog"] += 1
            continue
        rows.append((item, (instance, carried.accelerator, item.gpu_count or 1), carried.note))
    provider = OUR_NAMES.get(rows[0][0].provider, rows[0][0].provider) if rows else ""
    ours = machines.of_source(provider, (offer for _, offer, _ in rows))
    cheapest: dict[tuple[object, ...], tuple[CatalogItem, tuple[str, str, int], str | None]] = {}
    for row in rows:
        key = (ours[row[1]], row[0].location, row[0].spot)
        if key not in cheapest or row[0].price < cheapest[key][0].price:
            cheapest[key] = row
    for item, offer, assumed in cheapest.values():
        zone = item.location if provider in ZONED else None
        answer.add(
            provider=provider, instance_type=ours[offer], accelerator=offer[1], accelerators=offer[2],
            region=item.location.rpartition("-")[0] if zone else item.location, zone=zone,
            price_kind=PriceKind.SPOT if item.spot else PriceKind.ON_DEMAND, usd_per_hour=item.price,
            origin=PriceOrigin.GPUHUNT, source=f"gpuhunt catalog of {item.provider}", source_version=version,
            as_of=_version_day(version, today), fetched_at=today, confidence="third_party",
            note=_note(item, ours[offer], assumed),
        )  # fmt: skip


def _note(item: CatalogItem, instance: str, assumed: str | None) -> str | None:
    called = None if as_id(item.instance_name) == instance else f"listed as {item.instance_name[:80]}"
    return "; ".join(part for part in (called, assumed) if part) or None


def _version_day(version: str, today: date) -> date:
    """Return the day in a version like 20261120 or 20261120-13; today if there is none."""
    try:
        return min(today, datetime.strptime(version[:8], "%Y%m%d").date())
    except ValueError:
        return today
