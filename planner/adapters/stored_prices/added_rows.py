"""Writes observations and readings of lists to the tables of stored prices, within a transaction of the caller."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from planner.model.prices.offer import Price
from planner.model.prices.price_list import ListRead

if TYPE_CHECKING:
    from sqlite3 import Connection

Key = tuple[str, str, str | None, int | None, str, str | None, str]
STORED_OFFERS = """
SELECT instance_type, price_kind, offer.accelerator, offer.accelerators, region, zone, origin, offer.id, as_of, price
FROM term JOIN offer ON offer.term = term.id JOIN observation ON observation.id = offer.newest WHERE provider = ?
"""
TERMS = "SELECT instance_type, price_kind, id FROM term WHERE provider = ?"
AGREED = """
UPDATE term SET (accelerator, accelerators, least_usd) = (
  SELECT
    iif(count(*) = count(accelerator) AND min(accelerator) = max(accelerator)
        AND min(accelerators) = max(accelerators), min(accelerator), NULL),
    min(accelerators), min(coalesce(usd, 0))
  FROM offer WHERE offer.term = term.id
) WHERE provider = ?
"""


def add_observations(connection: Connection, provider: str, rows: Sequence[Price]) -> int:
    """Store a provider's new observations as the newest. Return how many were not known word for word."""
    offers = {row[:7]: row[7:] for row in connection.execute(STORED_OFFERS, (provider,))}
    known = {key: text for key, (_, _, text) in offers.items()}
    terms = {row[:2]: row[2] for row in connection.execute(TERMS, (provider,))}
    observation, offer, term = (_last(connection, table) for table in ("observation", "offer", "term"))
    observations, new_terms, changed = [], [], {}
    for row in rows:
        key, text, as_of = _key(row), row.model_dump_json(exclude_defaults=True), row.as_of.isoformat()
        if known.get(key) == text:
            continue
        if key[:2] not in terms:
            terms[key[:2]] = term = term + 1
            new_terms.append((term, provider, *key[:2]))
        if key not in offers:
            offer += 1
            offers[key] = offer, "", ""
        of_row, newest, _ = offers[key]
        observation += 1
        observations.append((observation, of_row, text))
        if as_of >= newest:
            offers[key] = of_row, as_of, text
            days = as_of, row.fetched_at.isoformat()
            changed[key] = (of_row, terms[key[:2]], *key[2:], row.usd_per_hour, *days, row.available, observation)
    connection.executemany("INSERT INTO term (id, provider, instance_type, price_kind) VALUES (?, ?, ?, ?)", new_terms)
    connection.executemany("INSERT INTO observation (id, offer, price) VALUES (?, ?, ?)", observations)
    connection.executemany(f"REPLACE INTO offer VALUES ({', '.join('?' * 12)})", changed.values())
    connection.execute(AGREED, (provider,))
    return len(observations)


def add_list_readings(connection: Connection, lists: Iterable[ListRead]) -> None:
    """Store that these lists were read. The last reading of each counts."""
    connection.executemany(
        "INSERT INTO list_read VALUES (:provider, :origin, :price_kind, :region, :read_on)"
        " ON CONFLICT DO UPDATE SET read_on = max(read_on, excluded.read_on)",
        [read.model_dump(mode="json") for read in lists],
    )


def _key(row: Price) -> Key:
    kind, origin = row.price_kind.value, row.origin.value
    return row.instance_type, kind, row.accelerator, row.accelerators, row.region, row.zone, origin


def _last(connection: Connection, table: str) -> int:
    return int(connection.execute(f"SELECT coalesce(max(id), 0) FROM {table}").fetchone()[0])
