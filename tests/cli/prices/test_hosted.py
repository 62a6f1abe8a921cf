"""A service that trains for a price per million tokens: planned, billed, ranked, frozen; its time is not known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.refusals import one_error

ORI = {"offer": "ori/lora-up-to-10b", "price": "hosted_training"}
ACME = {"offer": "acme/llama", "price": "hosted_training", "usd_per_million_tokens": 2.5}
P5 = {"offer": "aws/p5.48xlarge", "region": "us-east-1"}
ORI_ID, ACME_ID = "ori/lora-up-to-10b:any:hosted_training", "acme/llama:any:hosted_training"


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("PLANNER_HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def plan(tmp_path, home):
    def write(*options: dict[str, Any], **keys: Any) -> Path:
        data = {
            "schema_version": 1,
            "name": "hosted or not",
            "workload": {"ref": "llama3-8b"},
            "work": {"tokens": 16_000_000},
            "training": {"precision": "bf16", "strategy": "auto"},
            "options": list(options),
        }
        path = tmp_path / "plan.yaml"
        path.write_text(yaml.safe_dump(data | keys))
        return path

    return write


def test_a_wrong_only_option_is_not_called_an_empty_list_as_well(planner, plan):
    answer = planner("estimate", plan(ORI | {"nodes": 2}))
    one_error(answer, "options.0: nodes belongs to a machine")
    assert "is empty" not in answer.err


class TestHostedMoney:
    def test_the_vendor_s_own_example(self, planner, plan):
        """Ori's page bills 15 M tokens of training and 1 M of validation at 0.46 USD: 7.36 USD."""
        option = planner("estimate", plan(ORI), "--json").option(ORI_ID)
        assert (option["usd_total"]["value"], option["usd_marginal"]["value"]) == pytest.approx((7.36, 7.36))
        (line,) = option["bill"]["lines"]
        assert (line["what"], line["quantity"], line["usd_per_unit"], line["usd"]["value"]) == (
            "training by the token", 16.0, 0.46, 7.36,
        )  # fmt: skip
        assert line["usd"]["basis"] == "quoted"
        assert option["bill"]["coverage"]["unsupported"] == [
            "validation tokens", "keeping and serving the trained model", "taxes",
        ]  # fmt: skip

    def test_nothing_is_assumed_of_machines_where_there_are_none(self, planner, plan):
        assert planner("estimate", plan(ORI), "--json").document["assumptions"] == []

    def test_epochs_support_and_trainings_multiply(self, planner, plan):
        """3 epochs x 1,000 samples x 8,192 tokens x 2.50 USD / 1e6 = 61.44 USD; x 1.1 of support, x 4 trainings."""
        asked = plan(
            ACME, work={"epochs": 3.0, "samples_per_epoch": 1000.0}, campaign={"runs": 4},
            workload={"ref": "llama3-8b", "seq_len": 8192}, assumptions={"support_fraction": 0.1},
        )  # fmt: skip
        bill = planner("estimate", asked, "--json").option(ACME_ID)["bill"]
        assert [line["usd"]["value"] for line in bill["lines"]] == [61.44, 6.14]
        assert bill["usd_total"]["value"] == 67.58
        four = planner("campaign", asked, "--json").option(ACME_ID)
        assert four["campaign_usd"]["value"] == pytest.approx(4 * 61.44 * 1.1)
        assert [line["usd"]["value"] for line in four["bill"]["lines"]] == [245.76, 24.58]

    def test_an_image_has_no_tokens(self, planner, plan):
        asked = plan(ACME, workload={"ref": "resnet50"}, work={"epochs": 1.0, "samples_per_epoch": 1000.0})
        option = planner("estimate", asked, "--json").option(ACME_ID)
        assert option["usd_total"] is None
        assert "no number of tokens" in option["why_not"]

    def test_a_price_with_a_reason_in_its_place_is_never_zero(self, planner, plan, home):
        (home / "prices").mkdir()
        row = "ori,closed,any,hosted_training,,on request only,their page,2026-11-20\n"
        head = "provider,instance_type,region,price_kind,usd_per_million_tokens,no_price_reason,source,as_of\n"
        (home / "prices" / "own.csv").write_text(head + row)
        option = planner("estimate", plan(ORI | {"offer": "ori/closed"}), "--json").document["options"][0]
        assert (option["usd_total"], option["bill"]) == (None, None)
        assert "no price: on request only" in option["why_not"]

    def test_a_discount_of_the_price_book_and_credits_that_last(self, planner, plan, home):
        """0.46 less 25 % is 0.345; 16 x 0.345 = 5.52 USD, of which a credit of 5 leaves 0.52."""
        (home / "price_book.yaml").write_text(
            "schema_version: 1\nas_of: 2026-11-01\n"
            "discounts:\n  - {name: start, provider: ori, discount_fraction: 0.25, source: mail}\n"
            "credits:\n  - {name: gift, provider: ori, usd: 5, expires: 2099-01-01, source: mail}\n"
        )
        asked = plan(ORI | {"training_hours": 2.0})
        option = planner("estimate", asked, "--json", "--with-price-book").option(ORI_ID)
        assert option["usd_per_million_tokens"]["value"] == pytest.approx(0.345)
        assert option["list_usd_per_million_tokens"] == 0.46
        assert (option["bill"]["usd_total"]["value"], option["bill"]["usd_to_pay"]) == pytest.approx((5.52, 0.52))
        shown = planner("prices", "show", "--provider", "ori", "--with-price-book", "--json").document["prices"]
        assert [row["net_usd_per_million_tokens"] for row in shown] == pytest.approx([0.345])
        assert (
            "0.345 per million tokens"
            in planner("prices", "show", "--provider", "ori", "--with-price-book", "--format", "tsv").out
        )


class TestRank:
    def test_it_ranks_by_money_where_nothing_asks_for_its_time(self, planner, plan):
        answer = planner("compare", plan(P5, ORI), "--json")
        document = answer.document
        assert document["recommended"] == ORI_ID
        assert "time not known" in document["sentence"]
        assert "is the plan's word" in document["sentence"]
        machine = next(option for option in document["options"] if option["id"] != ORI_ID)
        assert "more expensive" in machine["why_not"]
        assert machine["why_not"].endswith("than Ori by the token, whose time is not known")
        assert answer.option(ORI_ID)["pareto"] is False

    def test_the_dearer_service_says_so(self, planner, plan):
        """40 USD on the one against 7.36 on the other."""
        answer = planner("compare", plan(ORI, ACME), "--json")
        assert answer.option(ACME_ID)["why_not"] == (
            "more expensive (40.00 USD against 7.36 USD) than Ori by the token, its time is not known"
        )

    @pytest.mark.parametrize(
        "limits",
        [
            pytest.param({"start": "2026-12-01", "deadline": "2027-12-31"}, id="a deadline"),
            pytest.param({"prefer": "time"}, id="time decides"),
            pytest.param({"budget_usd": 1000.0, "prefer": "time"}, id="the fastest within a budget"),
        ],
    )
    def test_where_time_matters_an_unknown_time_is_not_recommended(self, planner, plan, limits):
        answer = planner("compare", plan(P5, ORI, campaign=limits), "--json")
        assert answer.document["recommended"].startswith("aws/")
        option = answer.option(ORI_ID)
        assert option["rank"] is None
        assert option["why_not"].startswith("training time: the service does not say how long it takes")

    def test_a_stated_time_is_assumed_and_ranks(self, planner, plan):
        limits = {"start": "2026-12-01", "deadline": "2026-12-02"}
        for hours, kept in ((3.0, True), (100.0, False)):
            answer = planner("compare", plan(ORI | {"training_hours": hours}, campaign=limits), "--json")
            option = answer.option(ORI_ID)
            assert option["campaign_hours"]["basis"] == "assumed"
            assert (option["meets_deadline"], answer.code) == (kept, 0 if kept else 3)

    def test_over_the_budget(self, planner, plan):
        answer = planner("compare", plan(ORI, campaign={"budget_usd": 5.0, "prefer": "cost"}), "--json")
        assert answer.code == 3
        assert "costs up to 7.36 USD of 5.00 USD" in answer.document["sentence"]

    def test_its_place_is_held_against_the_limits(self, planner, plan):
        limits = {"allowed_regions": ["eu-west-1"]}
        answer = planner("compare", plan(ACME | {"region": "eu-west-1"}, ORI, limits=limits), "--json")
        assert answer.document["recommended"] == "acme/llama:eu-west-1:hosted_training"
        assert "its region is not known" in answer.option(ORI_ID)["not_allowed"]

    def test_at_a_price_of_one_s_own_the_named_place_counts(self, planner, plan):
        limits = {"data_region": "eu-west-1"}
        asked = plan(ORI | {"usd_per_million_tokens": 1.0, "region": "eu-west-1"}, limits=limits)
        assert planner("compare", asked, "--json").document["recommended"].startswith("ori/lora-up-to-10b:eu-west-1:")


@pytest.mark.slow
def test_every_form_of_the_answer_can_hold_it(planner, plan, tmp_path):
    asked = plan(P5, ORI, ACME | {"training_hours": 3.0})
    for command in ("estimate", "campaign", "compare"):
        for form in ("table", "csv", "md"):
            answer = planner(command, asked, "--format", form)
            assert answer.code == 0
            assert ("a service" if form != "table" else "Ori by the token") in answer.out
    for ending in ("html", "md", "csv"):
        assert planner("report", asked, "--out", tmp_path / f"r.{ending}").code == 0
        assert "training by the token" in (tmp_path / f"r.{ending}").read_text() or ending == "csv"


def test_frozen_it_answers_the_same_and_a_new_price_is_told(planner, plan, home, tmp_path):
    asked = plan(P5, ORI)
    assert planner("estimate", asked, "--freeze").code == 0
    lock = asked.with_name("plan.lock.json")
    old = tmp_path / "old.lock.json"
    old.write_bytes(lock.read_bytes())
    (home / "prices").mkdir()
    head = "provider,instance_type,region,price_kind,usd_per_million_tokens,source,as_of\n"
    (home / "prices" / "own.csv").write_text(head + "ori,lora-up-to-10b,any,hosted_training,5,a mail,2026-11-20\n")
    assert planner("estimate", asked, "--locked", "--json").option(ORI_ID)["usd_total"]["value"] == pytest.approx(7.36)
    watched = planner("watch", tmp_path, "--json")
    assert watched.code == 3
    assert all(plan["recommended_then"] == ORI_ID for plan in watched.document["plans"])
    assert planner("estimate", asked, "--freeze").code == 0
    moved = planner("diff", old, lock, "--format", "json").document
    (option,) = [option for option in moved["options"] if option["option"] == ORI_ID]
    shares = {move["quantity"]: (move["change"], move["causes"]) for move in option["moves"]}
    assert shares["usd_total"] == (pytest.approx(16 * 4.54), [{"cause": "price", "change": pytest.approx(16 * 4.54)}])


@pytest.mark.parametrize(
    ("option", "words"),
    [
        pytest.param(ORI | {"usd_per_hour": 3.0}, "usd_per_hour belongs to a machine", id="an hourly price"),
        pytest.param(ORI | {"nodes": 2}, "nodes belongs to a machine", id="nodes"),
        pytest.param(P5 | {"usd_per_million_tokens": 3.0}, "belongs to a service", id="tokens of a machine"),
        pytest.param(P5 | {"training_hours": 3.0}, "belongs to a service", id="hours of a machine"),
        pytest.param({"site": "pc-rtx4090", "usd_per_million_tokens": 3.0}, "belongs to a", id="tokens of a site"),
        pytest.param(P5 | {"price": "hosted_training"}, "is a machine, and is paid by the hour", id="a machine"),
        pytest.param({"offer": "ori/lora-up-to-10b"}, "Write price: hosted_training", id="a service without its kind"),
        pytest.param(ORI | {"offer": "ori/lora-up-to-11b"}, "Did you mean ori/lora-up-to-10b", id="a slip in its name"),
    ],
)
def test_bad_input_is_one_clear_error(planner, plan, option, words):
    one_error(planner("estimate", plan(option)), words)
