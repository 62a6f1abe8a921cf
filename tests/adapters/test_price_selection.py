"""What a search read is kept: the same search reads it again, any other chooses anew."""

from __future__ import annotations

from datetime import date

import pytest

from planner.adapters import price_selection
from planner.adapters.price_filter import PriceFilter
from planner.adapters.price_search import Search
from planner.adapters.price_store import PriceStore
from planner.model.prices.offer import PriceKind, PriceOrigin
from planner.model.prices.price_list import ListRead
from tests.adapters.test_price_store import price

TODAY = date(2026, 11, 21)
HERE, THERE = "us-east-1", "eu-west-1"


def rows(day=20):
    """Five instances alike, of which a search reads the two cheapest, and one of another kind in another region."""
    alike = [
        price(10 + number, day, instance_type=f"alike-{number}", accelerator="H100-SXM", accelerators=8)
        for number in range(5)
    ]
    return [*alike, price(7, day, instance_type="spot", accelerator="H100-SXM", accelerators=8, region=THERE,
                          price_kind=PriceKind.SPOT)]  # fmt: skip


class Workspace:
    """A store with these rows, and how often its price files were read."""

    def __init__(self, folder, monkeypatch):
        self.folder, self.store, self.files_read = folder, PriceStore(folder), 0
        self.store.add(rows())
        newest = PriceStore._newest

        def counted(*arguments, **named):
            self.files_read += 1
            return newest(*arguments, **named)

        monkeypatch.setattr(PriceStore, "_newest", counted)

    @property
    def kept(self):
        return sorted((self.folder / "prices" / "selected").glob("*"))

    def find(self, **asked):
        """Return what a search reads, and what it left out."""
        search = Search(**asked)
        found = self.store.current(PriceFilter(search=search))
        return [(row.instance_type, row.usd_per_hour, row.as_of) for row in found], search.unread(), found


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    return Workspace(tmp_path, monkeypatch)


def test_the_same_search_reads_the_same_without_the_price_files(workspace):
    first = workspace.find()
    assert [name for name, *_ in first[0]] == ["alike-0", "alike-1", "spot"]
    assert sum(row.instances for row in first[1]) == 3
    assert workspace.files_read == 1
    assert workspace.find() == first
    assert workspace.files_read == 1


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        pytest.param({"regions": frozenset({THERE})}, ["alike-0", "spot"], id="of another region"),
        pytest.param({"said_on": TODAY}, ["alike-0", "spot"], id="of what is said to be had"),
        pytest.param({"known": {"aws/alike-4"}}, ["alike-0", "alike-1", "alike-4", "spot"], id="beside a machine more"),
        pytest.param({"standing": {("aws/alike-3", HERE, "on_demand")}}, ["alike-0", "alike-1", "spot"],
                     id="beside a price more"),
        pytest.param(
            {"lists": [ListRead(provider="aws", origin=PriceOrigin.GPUHUNT, price_kind=PriceKind.ON_DEMAND,
                                read_on="2026-11-21")]},
            ["alike-0", "alike-1", "alike-2", "alike-3", "alike-4", "spot"], id="beside a list that holds them no more",
        ),
    ],
)  # fmt: skip
def test_another_search_chooses_anew(workspace, asked, names):
    workspace.find()
    found, _, _ = workspace.find(**asked)
    assert [name for name, *_ in found] == names
    assert workspace.files_read == 2


def test_after_a_refresh_nothing_old_is_read_or_left(workspace):
    workspace.find()
    workspace.store.add([row.model_copy(update={"usd_per_hour": 5.0}) for row in rows(21)[4:5]])
    assert workspace.kept == []
    found, _, _ = workspace.find()
    assert ("alike-4", 5.0) in [cells[:2] for cells in found]
    assert len(workspace.kept) == 1


def test_a_price_file_that_was_changed_by_hand_is_read(workspace):
    workspace.find()
    path = workspace.folder / "prices" / "current" / "aws.csv"
    path.write_text(path.read_text().replace(",14,", ",4,"))
    assert "alike-4" in [name for name, *_ in workspace.find()[0]]


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda text: text.replace(b"alike-0", b"alike-7"), id="a name changed"),
        pytest.param(lambda text: text[:-100], id="cut"),
        pytest.param(lambda _text: b"", id="empty"),
        pytest.param(lambda text: b"\xff\xfe" + text, id="no text"),
    ],
)
def test_a_spoilt_selection_is_passed_over_and_written_anew(workspace, spoil):
    first = workspace.find()
    (path,) = workspace.kept
    whole = path.read_bytes()
    path.write_bytes(spoil(whole))
    assert workspace.find() == first
    assert path.read_bytes() == whole


def test_where_it_cannot_be_kept_the_search_answers_all_the_same(workspace):
    (workspace.folder / "prices" / "selected").write_text("in the way")
    assert workspace.find() == workspace.find()
    assert workspace.files_read == 2


@pytest.mark.parametrize("said_on", [None, TODAY])
def test_what_was_left_out_is_told_again_with_its_reason(workspace, said_on):
    first = workspace.find(said_on=said_on)
    assert {row.nobody_says for row in first[1]} == {said_on is not None}
    assert workspace.find(said_on=said_on) == first
    assert workspace.files_read == 1


def test_another_version_of_what_chooses_chooses_anew(workspace, monkeypatch):
    workspace.find()
    monkeypatch.setattr(price_selection, "CODE", (("cheapest_rows.py", 1, 2, 3),))
    workspace.find()
    assert workspace.files_read == 2


def test_another_filter_chooses_anew(workspace):
    workspace.find()
    search = Search()
    assert workspace.store.current(PriceFilter(providers=frozenset({"gcp"}), search=search)) == []


def test_no_more_than_the_newest_few_are_kept(workspace):
    for number in range(price_selection.KEPT + 3):
        workspace.find(known={f"aws/another-{number}"})
    assert len(workspace.kept) == price_selection.KEPT
    workspace.find(known={f"aws/another-{price_selection.KEPT + 2}"})
    assert workspace.files_read == price_selection.KEPT + 3
