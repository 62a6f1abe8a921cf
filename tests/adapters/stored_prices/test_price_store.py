"""Observations are all kept, the newest of each is read, and a write that fails half-way loses nothing."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.adapters.catalog import load_catalog
from planner.adapters.price_file import as_csv
from planner.adapters.stored_prices.price_filter import PriceFilter, PriceSearch
from planner.adapters.stored_prices.price_store import PriceStore
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


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.lists(
            st.builds(
                price,
                st.sampled_from([4.0, 5.0, 6.0]),
                st.integers(1, 4),
                provider=st.sampled_from(["aws", "gcp"]),
                zone=st.sampled_from([None, "a"]),
                origin=st.sampled_from([PriceOrigin.GPUHUNT, PriceOrigin.AWS_API]),
            ),
            max_size=6,
        ),
        max_size=4,
    )
)
def test_of_each_price_the_newest_row_of_a_source_is_current(refreshes):
    """The second method keeps a list of everything, and walks through it."""
    kept: list[Price] = []
    newest: dict[tuple[str, str | None, PriceOrigin], Price] = {}
    with TemporaryDirectory() as folder:
        for rows in refreshes:
            PriceStore(Path(folder)).add(rows)
            before = dict(newest)
            for row in rows:
                key = row.provider, row.zone, row.origin
                if before.get(key) != row:
                    kept.append(row)
                    if key not in newest or newest[key].as_of <= row.as_of:
                        newest[key] = row
        store = PriceStore(Path(folder))
        in_order = {(row.provider, row.origin, str(row.zone)): row for row in newest.values()}
        trust = list(PriceOrigin)
        places = sorted(in_order, key=lambda place: (place[0], trust.index(place[1]), place[2]))
        assert store.current() == [in_order[place] for place in places]
        for provider in ("aws", "gcp"):
            of_provider = store.history(PriceFilter(providers=frozenset({provider})))
            assert of_provider == [row for row in kept if row.provider == provider]


def test_reading_makes_no_file(tmp_path):
    store = PriceStore(tmp_path)
    assert (store.current(), store.history(), store.lists(), store.search(PriceSearch())) == ([], [], [], ([], []))
    assert store.heal() == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda data: b"<html>" + data[6:], id="no database"),
        pytest.param(lambda data: data[: len(data) // 2], id="cut"),
        pytest.param(lambda data: data.replace(b'"usd_per_hour":54.0', b'"usd_per_hour":-4.0'), id="a cell changed"),
        pytest.param(lambda data: data[:4096] + os.urandom(len(data) - 4096), id="pages overwritten"),
    ],
)
def test_a_damaged_file_is_named_and_set_aside_by_the_next_refresh(tmp_path, spoil):
    store = PriceStore(tmp_path)
    store.add([price(54, 18)])
    path = tmp_path / "prices" / "observed.sqlite"
    damaged = spoil(path.read_bytes())
    path.write_bytes(damaged)
    with pytest.raises(StoreError, match=r"observed\.sqlite: cannot be read: ") as caught:
        load_catalog(tmp_path)
    assert caught.value.fix.endswith("by: planner prices refresh")
    [aside] = store.heal()
    assert aside.read_bytes() == damaged
    assert store.add([price(56, 20)]) == 1
    assert [row.usd_per_hour for row in store.current()] == [56]
    assert store.heal() == []


def test_a_file_of_a_newer_planner_is_left_as_it_is(tmp_path):
    PriceStore(tmp_path).add([price()])
    with closing(sqlite3.connect(tmp_path / "prices" / "observed.sqlite")) as connection:
        connection.execute("PRAGMA user_version = 2")
    for use in (PriceStore(tmp_path).current, PriceStore(tmp_path).heal):
        with pytest.raises(StoreError, match="written by a newer planner"):
            use()


WRITER = """
import os, sys
from pathlib import Path
from planner.adapters.stored_prices import price_store
from planner.model.prices.offer import Price

row = Price.model_validate_json(sys.stdin.read())
rows = [row.model_copy(update={"zone": f"z{number}"}) for number in range(3000)]
before = price_store.add_observations
limit = sys.argv[2] == "full"
if limit:
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

def then_killed(*arguments):
    arguments[0].execute("PRAGMA cache_size = 10")  # so that it writes into the file before the end
    before(*arguments)
    os.kill(os.getpid(), 9)

if not limit:
    price_store.add_observations = then_killed
try:
    price_store.PriceStore(Path(sys.argv[1])).add(rows)
except price_store.StoreError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("how", "says"),
    [pytest.param("full", "cannot be used: ", id="a full disk"), pytest.param("killed", "", id="a kill")],
)
def test_a_write_that_ends_half_way_takes_nothing_away(tmp_path, how, says):
    store = PriceStore(tmp_path)
    store.add([price(54, 18)])
    run = [sys.executable, "-c", WRITER, str(tmp_path), how]
    row = price(55, 19).model_dump_json()
    done = subprocess.run(run, input=row, capture_output=True, text=True, check=False)
    assert (done.returncode, says in done.stdout) == (0 if says else -9, True), done.stderr
    assert [row.usd_per_hour for row in store.history()] == [54]
    assert store.add([price(55, 19)]) == 1


class TestFilesOfAnEarlierVersion:
    """CSV files of observations, and of the lists that were read."""

    ROWS = (price(54, 18), price(56, 20), price(2.5, 19, provider="lambda", instance_type="gpu_1x_h100_pcie"))
    READ = ListRead(provider="aws", origin=PriceOrigin.GPUHUNT, price_kind=PriceKind.ON_DEMAND, read_on="2026-11-20")

    @pytest.fixture
    def home(self, tmp_path):
        folder = tmp_path / "prices"
        for name in ("observations", "read", "current"):
            (folder / name).mkdir(parents=True)
        (folder / "observations" / "aws.csv").write_text(as_csv(self.ROWS[:2]))
        (folder / "observations" / "lambda.csv").write_text(as_csv(self.ROWS[2:]) + "lambda,gpu_1x_h1")  # torn
        read = self.READ.model_dump(mode="json")
        (folder / "read" / "lists.csv").write_text(",".join(read) + "\n" + ",".join(read.values()) + "\n")
        return tmp_path

    def test_they_are_taken_over_once(self, home):
        store = PriceStore(home)
        assert store.history() == list(self.ROWS)
        assert store.current() == list(self.ROWS[1:])
        assert store.lists() == [self.READ]
        (home / "prices" / "observations" / "aws.csv").unlink()
        assert PriceStore(home).history() == list(self.ROWS)

    def test_they_are_read_where_nothing_can_be_written(self, home):
        store = PriceStore(home)
        store.path = home / "not there" / "observed.sqlite"
        assert store.history() == list(self.ROWS)
        assert not store.path.parent.exists()

    def test_a_wrong_cell_is_named_and_nothing_is_taken_over(self, home):
        path = home / "prices" / "observations" / "aws.csv"
        whole = path.read_text()
        path.write_text(whole.replace("2026-11-20", "soon"))
        with pytest.raises(InputError, match=r"observations/aws\.csv:3: as_of: is no date"):
            PriceStore(home).history()
        path.write_text(whole)
        assert PriceStore(home).history() == list(self.ROWS)

    def test_eight_commands_at_once_take_them_over_once(self, home):
        with ThreadPoolExecutor(8) as pool:
            read = list(pool.map(lambda _: PriceStore(home).history(), range(8)))
        assert read == [list(self.ROWS)] * 8


def test_two_refreshes_at_once_lose_nothing(tmp_path):
    stores = [PriceStore(tmp_path) for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        added = list(pool.map(lambda pair: pair[1].add([price(50 + pair[0], zone=f"az{pair[0]}")]), enumerate(stores)))
    assert added == [1] * 8
    assert len(PriceStore(tmp_path).history()) == len(PriceStore(tmp_path).current()) == 8


ADDER = """
import sys
from pathlib import Path
from planner.adapters.stored_prices.price_store import PriceStore
from planner.model.prices.offer import Price

row, name = Price.model_validate_json(sys.stdin.read()), sys.argv[2]
for number in range(50):
    assert PriceStore(Path(sys.argv[1])).add([row.model_copy(update={"zone": f"{name}{number}"})]) == 1
"""


def test_two_processes_that_add_in_turn_lose_nothing(tmp_path):
    adders = [
        subprocess.Popen([sys.executable, "-c", ADDER, str(tmp_path), name], stdin=subprocess.PIPE, text=True)
        for name in "ab"
    ]
    for adder in adders:
        assert adder.stdin is not None
        adder.stdin.write(price().model_dump_json())
        adder.stdin.close()
    assert [adder.wait() for adder in adders] == [0, 0]
    zones = sorted(str(row.zone) for row in PriceStore(tmp_path).history())
    assert zones == sorted(f"{name}{number}" for name in "ab" for number in range(50))


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
    skypilot = price(accelerator="A10", origin=PriceOrigin.SKYPILOT, region="us-west-2", **named)
    other = price(accelerator="A10G", origin=PriceOrigin.GPUHUNT, **named)
    stored, cards = [], []
    for name, order in (("a", (skypilot, other)), ("b", (other, skypilot))):
        store = PriceStore(tmp_path / name)
        for row in order:
            store.add([row])
        stored.append(store.current())
        cards.append(load_catalog(tmp_path / name).nodes["aws/p9.mystery"].accelerator)
    assert stored[0] == stored[1]
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
