"""Two lists of one source, one after the other: what is renewed, new, or not listed any more."""

from __future__ import annotations

from datetime import timedelta

import pytest

from planner import clock
from planner.adapters.price_sources.all_sources import source_answers
from planner.adapters.workspace import workspace_dir
from tests.cli.prices.price_answers import PLAN, shown
from tests.conftest import NOON

GPUHUNT_HEADER = (
    "instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot,disk_size,gpu_vendor,flags,"
    "cpu_arch,provider_data\n"
)


class TestTwoListsHalfAYearApart:
    """Catalogs written in gpuhunt's documented columns, not recorded; names of machines are Verda's."""

    @pytest.fixture
    def listing(self, planner, tmp_path, monkeypatch):
        folder = tmp_path / "lists"
        folder.mkdir()
        monkeypatch.setenv("GPUHUNT_CATALOG_DIR", str(folder))

        def read(**machines):
            rows = "".join(
                f"{name},FIN-01,{usd},20,60.0,1,{gpu},{gib},False,,nvidia,,x86,{{}}\n"
                for name, (gpu, gib, usd) in machines.items()
            )
            (folder / "verda.csv").write_text(GPUHUNT_HEADER + rows)
            answer = planner("prices", "refresh", "--source", "gpuhunt", "--json")
            (report,) = answer.document["sources"]
            return answer, report

        return read

    def test_each_is_renewed_new_or_gone_and_what_is_gone_is_not_to_be_had(self, planner, listing, monkeypatch):
        a6000, l40s, l40 = ("A6000", 48.0, 0.49), ("L40S", 48.0, 0.91), ("L40", 48.0, 0.8)
        monkeypatch.setattr(clock, "now", lambda: NOON - timedelta(days=183))
        _, report = listing(a=a6000, b=l40s)
        assert (report["renewed"], report["added"], report["vanished"]) == (0, 2, 0)
        monkeypatch.setattr(clock, "now", lambda: NOON)
        answer, report = listing(b=(*l40s[:2], 1.2), c=l40)
        assert (report["renewed"], report["added"], report["vanished"]) == (1, 1, 1)
        document = answer.document
        rows = [row for row in shown(planner, "--all") if row["origin"] == "bundled"]
        told = document["bundled_renewed"], document["bundled_unlisted"], document["bundled_not_asked"]
        assert sum(told) == len(rows)
        assert told[0] == 1, "the L40S on demand"
        bundled = [row for row in rows if row["provider"] == "verda" and row["price_kind"] == "on_demand"]
        assert told[1] == len([row for row in bundled if row["usd_per_hour"] is not None]) - 1
        plan = PLAN.partition("options:")[0] + (
            "options:\n  - {offer: verda/1x-rtx-a6000, step: {batch: 64, seconds: 1.0, basis: measured}}\n"
            "  - {offer: verda/1x-l40s, step: {batch: 64, seconds: 1.0, basis: measured}}\n"
        )
        path = workspace_dir() / "gone.yaml"
        path.write_text(plan)
        comparison = planner("compare", path, "--json").document
        options = {option["offer"]: option for option in comparison["options"]}
        assert options["verda/1x-l40s"]["usd_per_hour"]["value"] == 1.2
        assert "it is no longer listed" in options["verda/1x-rtx-a6000"]["not_allowed"]
        [newer] = [row["usd_per_hour"] for row in bundled if row["instance_type"] == "1x-rtx-a6000"]
        assert options["verda/1x-rtx-a6000"]["usd_per_hour"]["value"] == newer, "seen after what was listed in May"
        assert comparison["recommended"] == options["verda/1x-l40s"]["id"]

    def test_what_came_before_a_refresh_was_stopped_is_kept(self, planner, listing, monkeypatch):
        listing(a=("H100", 80.0, 2.2))

        def stopped(*arguments):
            yield from source_answers(*arguments)
            raise KeyboardInterrupt

        monkeypatch.setattr("planner.use_cases.prices.source_answers", stopped)
        with pytest.raises(ValueError, match="Expecting value"):  # it says nothing on stdout
            listing(a=("H100", 80.0, 2.4))
        rows = [row for row in shown(planner, "--provider", "verda") if row["origin"] == "gpuhunt"]
        assert [row["usd_per_hour"] for row in rows] == [2.4]

    def test_a_crash_before_the_list_is_noted_loses_nothing(self, planner, listing, monkeypatch):
        from planner.adapters.stored_prices.price_store import PriceStore

        def crash(*_):
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as broken:
            broken.setattr(PriceStore, "add_lists", crash)
            with pytest.raises((OSError, KeyError)):
                listing(b=("L40S", 48.0, 1.2))
        rows = [row for row in shown(planner, "--provider", "verda") if row["item"] == "verda/1x-l40s"]
        assert 1.2 in [row["usd_per_hour"] for row in rows]
        _, report = listing(b=("L40S", 48.0, 1.2))
        assert report["prices"] == 1
        history = planner("prices", "history", "verda/1x-l40s", "--json").document["prices"]
        assert [row["usd_per_hour"] for row in history if row["origin"] == "gpuhunt"] == [1.2]
