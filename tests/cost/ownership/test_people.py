"""People count where the site states them or a rack is operated, at the wages of the country."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from planner.cost.ownership.owned_cost import annual_cost
from planner.cost.ownership.resolve_site import resolve_site
from planner.cost.ownership.resolved_site import ResolvedSite
from planner.model.owning.site import Site
from planner.model.plan.plan import Plan
from tests.bundled import bundled_catalog

CATALOG = bundled_catalog()
ROOM = {"room": {"usd_per_month": 0}}
STATED = {"staff": {"fte_per_node": 0.1}}
WAGES = {"staff": {"fte_per_node": 0.1, "usd_per_fte_year": 60_000}}


def staff_usd(country: str | None, **changes: Any) -> float:
    node = CATALOG.nodes["hgx-h200-8x"]
    bare: dict[str, Any] = {"schema_version": 1, "id": "s", "name": "S", "node": node.id, "source": "me"}
    site = Site.model_validate(bare | {"as_of": date(2026, 11, 1), "purchase": {"server_usd": 300_000}} | changes)
    assumed = {} if country is None else {"assumptions": {"country": country}}
    plan = Plan.model_validate(
        {"schema_version": 1, "name": "p", "workload": {"ref": "gpt-305m"}, "work": {"tokens": 1e9},
         "options": [{"site": "pc-rtx4090"}]} | assumed
    )  # fmt: skip
    found = resolve_site(site, node, CATALOG.accelerators[node.accelerator], plan, CATALOG)
    assert isinstance(found, ResolvedSite), found
    return annual_cost(found.inputs).staff


@pytest.mark.parametrize(
    ("country", "changes", "usd"),
    [
        pytest.param(None, ROOM, 0.0, id="in a room that is there anyhow: no one is paid for it"),
        pytest.param(None, {}, 0.0133 * 150_000, id="in colocation: 1 for 75, at US wages"),
        pytest.param(None, ROOM | {"rack_kw": 20}, 0.0133 * 150_000, id="in a rack of one's own"),
        pytest.param("KR", {}, 0.0133 * 150_000 * 0.48, id="in Korea, at 29,125 of 60,154 USD"),
        pytest.param("CH", {}, 0.0133 * 150_000 * 1.42, id="in Switzerland, at 85,718"),
        pytest.param("KR", ROOM | STATED, 0.1 * 150_000 * 0.48, id="stated, at the country's wages"),
        pytest.param("KR", ROOM | WAGES, 0.1 * 60_000, id="both stated"),
    ],
)
def test_what_people_cost_a_year(country: str | None, changes: dict[str, Any], usd: float):
    assert staff_usd(country, **changes) == pytest.approx(usd)


def test_no_bundled_machine_in_a_room_has_people():
    in_rooms = [site for site in CATALOG.sites.values() if site.room is not None]
    assert in_rooms
    assert [site.id for site in in_rooms if site.staff is not None] == []
