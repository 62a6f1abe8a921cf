"""Observations are all kept; the newest of each is at hand; a write that fails half-way loses nothing."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from datetime import date

import pytest

from planner.adapters.catalog import load_catalog
from planner.adapters.price_store import PriceStore
from planner.errors import InputError, StoreError
from planner.model.prices.offer import Price, PriceKind, PriceOrigin
from planner.model.prices.price_list import ListRead


def price(usd=55.0, day=20, **cells):
    return Price(
        **{
            "provider": "aws", "instance_type": "p5.48xlarge", "region": "us-east-1", "price_kind": PriceKind.ON_DEMAND,
            "usd_per_hour": usd, "origin": PriceOrigin.GPUHUNT, "source": "gpuhunt", "source_version": "1",
            "as_of": date(2026, 11, day), "fetched_at": date(2026, 11, day), "confidence": "third_party",
        } | cells
    )  # fmt: skip


def test_every_observation_is_kept_and_the_newest_is_current(tmp_path):
    store = PriceStore(tmp_path)
    assert [store.add([price(55, 18)]), store.add([price(56, 19)]), store.add([price(54, 20)])] == [1, 1, 1]
    assert [row.usd_per_hour for row in store.history()] == [55, 56, 54]
    assert [row.usd_per_hour for row in store.current()] == [54]


def test_the_same_again_is_not_new(tmp_path):
    store = PriceStore(tmp_path)
    rows = [price(1 / 3), price(20, price_kind=PriceKind.SPOT, zone="use1-az1")]
    assert [store.add(rows), store.add(rows)] == [2, 0]
    assert len(store.history()) == 2


def test_an_older_observation_does_not_displace_a_newer_one(tmp_path):
    store = PriceStore(tmp_path)
    store.add([price(54, 20)])
    store.add([price(60, 10)])
    assert [row.usd_per_hour for row in store.current()] == [54]
    assert len(store.history()) == 2


def test_origins_stand_side_by_side(tmp_path):
    store = PriceStore(tmp_path)
    store.add([price(54), price(55, origin=PriceOrigin.AWS_API)])
    assert len(store.current()) == 2


def test_a_torn_last_line_is_passed_over_and_mended_by_the_next_refresh(tmp_path):
    store = PriceStore(tmp_path)
    store.add([price(54, 18), price(55, 19)])
    path = tmp_path / "prices" / "observations" / "aws.csv"
    path.write_bytes(path.read_bytes()[:-25])
    assert [row.usd_per_hour for row in store.history()] == [54]
    store.add([price(56, 20)])
    assert [row.usd_per_hour for row in store.history()] == [54, 56]


def test_a_damaged_current_file_names_its_line(tmp_path):
    store = PriceStore(tmp_path)
    store.add([price()])
    path = tmp_path / "prices" / "current" / "aws.csv"
    path.write_text(path.read_text().replace("2026-11-20", "soon"))
    with pytest.raises(InputError, match=r"current/aws\.csv:2: as_of: is no date"):
        load_catalog(tmp_path)


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda text: text + "aws,p5.48xlarge,us-east", id="a line that never got its end"),
        pytest.param(lambda text: text.replace("2026-11-20", "soon"), id="a cell changed by hand"),
        pytest.param(lambda text: text[:40], id="cut in its header"),
        pytest.param(lambda _text: "<html>", id="something else altogether"),
    ],
)
def test_a_damaged_current_file_is_written_anew_from_the_observations(tmp_path, spoil):
    store = PriceStore(tmp_path)
    store.add([price(54, 18)])
    store.add([price(56, 20)])
    path = tmp_path / "prices" / "current" / "aws.csv"
    whole = path.read_text()
    path.write_text(spoil(whole))
    with pytest.raises(StoreError) as caught:
        store.current()
    assert caught.value.fix.endswith("it is written anew by: planner prices refresh")
    assert store.heal() == [path]
    assert path.read_text() == whole
    assert store.heal() == []


def test_a_full_disk_takes_nothing_away(tmp_path, monkeypatch):
    store = PriceStore(tmp_path)
    store.add([price(54, 18)])
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.csv")}

    def full(_descriptor: int) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match="No space left on device"):
        store.add([price(55, 19)])
    monkeypatch.undo()
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.csv")} == before


def test_two_refreshes_at_once_lose_nothing(tmp_path):
    stores = [PriceStore(tmp_path) for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        added = list(pool.map(lambda pair: pair[1].add([price(50 + pair[0], zone=f"az{pair[0]}")]), enumerate(stores)))
    assert added == [1] * 8
    assert len(PriceStore(tmp_path).history()) == len(PriceStore(tmp_path).current()) == 8


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "prices").write_text("in the way")
    with pytest.raises(StoreError, match="prices: cannot be written"):
        PriceStore(tmp_path).add([price()])


def test_an_instance_known_from_a_price_alone_can_be_planned_on(tmp_path):
    PriceStore(tmp_path).add([price(instance_type="p9.mystery", accelerator="H100-SXM", accelerators=4)])
    node = load_catalog(tmp_path).nodes["aws/p9.mystery"]
    assert (node.accelerator, node.accelerators, node.rated_kw) == ("H100-SXM", 4, None)
    assert node.source == "gpuhunt"


def test_which_source_answers_first_changes_nothing(tmp_path):
    """Two sources name one instance's card differently: the more trusted one's is taken."""
    named = {"instance_type": "p9.mystery", "accelerators": 1}
    one = price(accelerator="A10", origin=PriceOrigin.SKYPILOT, region="us-west-2", **named)
    other = price(accelerator="A10G", origin=PriceOrigin.GPUHUNT, **named)
    files, cards = [], []
    for name, order in (("a", (one, other)), ("b", (other, one))):
        store = PriceStore(tmp_path / name)
        for row in order:
            store.add([row])
        files.append((tmp_path / name / "prices" / "current" / "aws.csv").read_text())
        cards.append(load_catalog(tmp_path / name).nodes["aws/p9.mystery"].accelerator)
    assert files[0] == files[1]
    assert cards == ["A10G", "A10G"]


def test_of_one_source_the_newest_word_describes_an_instance(tmp_path):
    """Not its older one, at the newer one's price."""
    for day, cards, usd in ((1, 8, 20.0), (20, 1, 2.5)):
        PriceStore(tmp_path).add(
            [price(usd, day, instance_type="p9.mystery", accelerator="H100-SXM", accelerators=cards)]
        )
    assert load_catalog(tmp_path).nodes["aws/p9.mystery"].accelerators == 1


def test_what_is_still_listed_describes_an_instance(tmp_path):
    rows = [
        price(20.0, 1, instance_type="p9.mystery", accelerator="H100-SXM", accelerators=8, origin=PriceOrigin.AWS_API),
        price(2.5, 20, instance_type="p9.mystery", accelerator="H100-SXM", accelerators=1),
    ]
    store = PriceStore(tmp_path)
    store.add(rows)
    assert load_catalog(tmp_path).nodes["aws/p9.mystery"].accelerators == 8, "AWS's own word"
    store.add_lists(
        [ListRead(provider="aws", origin=PriceOrigin.AWS_API, price_kind=PriceKind.ON_DEMAND, read_on="2026-11-20")]
    )
    assert load_catalog(tmp_path).nodes["aws/p9.mystery"].accelerators == 1
