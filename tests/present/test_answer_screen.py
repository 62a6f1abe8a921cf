"""The screen of an answer: groups of how machines are held, purchases, marks, own currency, 30 lines."""

from __future__ import annotations

from datetime import date

import pytest

from planner.model.answer.documents import CampaignDocument, ComparisonDocument, FeasiblePlan, PlacedRuns
from planner.model.answer.option_estimate import RankedOption
from planner.model.answer.reason import ReasonCode
from planner.model.currency import Currency
from planner.model.hardware.machines import NodeNetwork
from planner.model.network.workload import Split, Strategy
from planner.model.owning.acquisition import Hold
from planner.model.quantity import Basis, Quantity, Unit
from planner.present.answer_screen import campaign_screen, comparison_screen, screen_lines
from planner.present.facts import short_reason
from planner.present.option_marks import fit_text, marks, marks_explained
from tests.present.conftest import option, quantity


def ranked(name: str, hold: Hold, days: float, usd: float, **changes: object) -> RankedOption:
    hours = quantity(days * 24, Unit.HOURS, Basis.MODELLED, "test", low=days * 12, high=days * 48)
    cost = quantity(usd, Unit.USD, Basis.MODELLED, "test", low=usd / 2, high=usd * 2)
    fields: dict[str, object] = {
        "id": name.lower(), "name": name, "display_name": name, "hold": hold, "throughput": hours, "rank": 1,
        "campaign_hours": hours, "campaign_usd": cost, "to_pay_usd": cost, "done_by": date(2027, 1, 31),
        "meets_deadline": True, "within_budget": True, "chance_deadline": 0.97, "chance_budget": 0.88,
    }  # fmt: skip
    return option(**fields | changes)


def document(*options: RankedOption, **changes: object) -> ComparisonDocument:
    fields: dict[str, object] = {
        "plan": "Which machine?", "assumptions": (), "runs": 50, "deadline": date(2027, 6, 30), "deadline_hours": 240.0,
        "budget_usd": 20_000.0, "recommended": options[0].id, "nearest": None, "sentence": "Keep it. Or not.",
        "headline": ("Keep it.", "Or not."), "confidence": 0.8, "options": options,
    }  # fmt: skip
    return ComparisonDocument(**fields | changes)


def lines(answer: ComparisonDocument, *, width: int = 100, whole: bool = False) -> list[str]:
    return screen_lines(comparison_screen(answer, plan="plan.yaml"), width=width, whole=whole)


def usd(value: float) -> Quantity:
    return quantity(value, Unit.USD, Basis.QUOTED, "test")


KEPT = ranked("DGX Station, 4x V100", Hold.HAVE, 118, 543)
RENTED = ranked("Lambda, 1x H100", Hold.RENT, 83, 8540)
SPOT = ranked(
    "AWS p5en spot, 8x H200",
    Hold.RENT,
    9.7,
    3580,
    firm=False,
    price_stale=True,
    unpriced=("egress",),
    assumed_rates=("storage",),
)
BOUGHT = ranked(
    "Server, 2x H200", Hold.BUY, 36, 189, within_budget=False, chance_budget=0.0,
    pay_now_usd=quantity(114_800, Unit.USD, Basis.QUOTED, "test"), why_not="costs too much",
    why_not_codes=(ReasonCode.OVER_BUDGET,),
)  # fmt: skip
BOUGHT_LATE = BOUGHT.model_copy(update={"display_name": "A server in Pittsburgh, 2x H200"})


def test_the_screen_of_an_answer():
    """Ranges are half and double: 271.5 to 1,086 are 270 to 1,100. The lesser chance counts."""
    assert lines(document(KEPT, RENTED, SPOT, BOUGHT)) == [
        "Which machine?: 50 trainings by 2027-06-30 for 20,000 USD",
        "",
        "Keep it.",
        "Or not.",
        "",
        "#       machine                 likely end  days      USD (90 %)          chance  known from",
        "1 HAVE  DGX Station, 4x V100    2027-01-31   118      543 (270-1,100)       88 %  modelled     <-",
        "2 RENT  Lambda, 1x H100         2027-01-31    83    8,540 (4,300-17,000)    88 %  modelled",
        "3       AWS p5en spot, 8x H200  2027-01-31   9.7    3,580 (1,800-7,200)     88 %  modelled     *s+~",
        "  BUY                                             pay now + running",
        "4 no    Server, 2x H200         2027-01-31    36  115,000 + 189              0 %  over budget",
        "s spot: may be taken away.  * price out of date: planner prices refresh.  + not in the bill: egress.",
        "~ at an assumed rate in the bill: storage.",
        "Why: planner explain plan.yaml    Sources: --details",
    ]  # fmt: skip


def test_where_none_is_recommended_the_nearest_is_marked():
    printed = lines(document(BOUGHT, recommended=None, nearest=BOUGHT.id))
    assert printed[-2].endswith("<-")


@pytest.mark.parametrize("width", [100, 60])
def test_what_has_no_cost_says_why_beside_its_name(width):
    small = ranked(
        "PC, 1x RTX 4090", Hold.HAVE, 1, 1, campaign_usd=None, to_pay_usd=None, campaign_hours=None, done_by=None,
        why_not="needs more", why_not_codes=(ReasonCode.MEMORY_TOO_SMALL,), chance_deadline=None, chance_budget=None,
    )  # fmt: skip
    printed = " ".join(" ".join(lines(document(KEPT, small), width=width)).split())
    assert "2 no PC, 1x RTX 4090: does not fit" in printed


SMALL = ranked("2x RTX 4090", Hold.BUY, 29, 108, pay_now_usd=usd(6500), left_usd=usd(4764))


def test_what_is_left_of_a_purchase_is_said_where_it_has_room():
    """The remaining value is left out if a column would be removed for it, so the header never changes."""
    _, _, buy, row = lines(document(RENTED, SMALL))[5:9]
    assert "pay now + running - left" in buy
    assert "6,500 + 108 - 4,760 " in row
    without = document(RENTED, SMALL.model_copy(update={"left_usd": None}))
    written = set()
    for width in range(55, 101):
        header, _, buy, row = lines(document(RENTED, SMALL), width=width)[-5:-1]
        assert ("- left" in buy) is ("- 4,760" in row)
        assert header.split() == lines(without, width=width)[-5].split()
        written.add("- left" in buy)
    assert written == {True, False}


@pytest.mark.parametrize("width", [100, 80, 60])
def test_why_not_is_said_at_every_width(width):
    """At 60 columns `known from` is removed, and the reason follows the name, nowhere twice."""
    text = " ".join(" ".join(lines(document(KEPT, BOUGHT_LATE), width=width)).split())
    assert text.count("over budget") == 1
    assert ("2x H200: over budget" in text) is ("known from" not in text)
    assert ("known from" in text) is (width == 100)
    assert all(len(line) <= width for line in lines(document(KEPT, BOUGHT_LATE), width=width))


def test_after_credits_the_bill_is_named_in_the_plan_s_currency():
    """2,540 USD at 1,400 won: 3.556 million."""
    credited = ranked("AWS p5, 8x H100", Hold.RENT, 2, 2540, offer="aws/p5", to_pay_usd=usd(0))
    other = ranked("AWS p4d, 8x A100", Hold.RENT, 2, 3100, offer="aws/p4d", to_pay_usd=usd(600))
    printed = lines(document(credited, RENTED))
    assert printed[6].split()[-2:] == ["<-", "c"]
    assert not printed[7].endswith("c")
    assert printed[-2] == "c after credits: the bill is 2,540 USD."
    won = Currency(code="KRW", per_usd=1400.0, as_of=date(2026, 11, 1), source="test")
    assert lines(document(credited, currency=won))[-2] == "c after credits: the bill is 3,560,000 KRW."
    assert lines(document(credited, other))[-2] == "c after credits: the bills are 2,540 USD and 3,100 USD."
    campaign = CampaignDocument(plan="p", assumptions=(), runs=10, options=(credited, RENTED))
    assert "c after credits: the bill is 2,540 USD." in screen_lines(campaign_screen(campaign, plan="p"), width=100)


@pytest.mark.parametrize(
    ("changes", "asked"),
    [
        pytest.param({}, True, id="eight nodes without a promise"),
        pytest.param({"nodes": 2, "at_once": 2}, True, id="two trainings at once on two nodes each"),
        pytest.param({"nodes": 3}, False, id="three nodes"),
        pytest.param({"availability": "yes"}, False, id="a fresh price says that they are there"),
        pytest.param({"firm": False}, False, id="spot has its own mark"),
        pytest.param({"offer": None, "site": "ours"}, False, id="owned"),
        pytest.param({"price": "the plan: usd_per_hour"}, False, id="the plan's own price: somebody was asked"),
    ],
)
def test_many_nodes_of_which_nobody_says_that_they_are_there(changes: dict[str, object], asked: bool) -> None:
    source = str(changes.get("price", "on_demand in us-east-1: a list"))
    fields: dict[str, object] = {
        "offer": "aws/p5", "nodes": 8, "firm": True, "availability": "unknown",
        "usd_per_hour": quantity(55, Unit.USD_PER_HOUR, Basis.QUOTED, source),
    }  # fmt: skip
    fields |= {key: value for key, value in changes.items() if key != "price"}
    printed = lines(document(ranked("8x AWS p5, 64x H100", Hold.RENT, 2, 2540, **fields)))
    assert ("? ask whether they have that many." in printed) is asked
    assert printed[6].endswith(" ?") is asked


@pytest.mark.parametrize("width", [100, 60, 48])
def test_a_command_is_whole_on_a_line_where_it_fits(width):
    """`planner explain a-plan-with-a-long-name-of-its-own.yaml` has 54 characters, with its label 59."""
    screen = comparison_screen(document(KEPT), plan="a-plan-with-a-long-name-of-its-own.yaml --home there")
    printed = screen_lines(screen, width=width)
    command = "planner explain a-plan-with-a-long-name-of-its-own.yaml --home there"
    assert all(len(line) <= width for line in printed)
    assert any(command in line for line in printed) is (width >= len(command))
    short = screen_lines(comparison_screen(document(KEPT), plan="a-plan-of-its-own.yaml"), width=40)
    assert "planner explain a-plan-of-its-own.yaml" in short


def test_only_marks_that_occur_are_explained():
    printed = lines(document(KEPT, ranked("Vast.ai, 1x H100", Hold.RENT, 1, 2, price_stale=True)))
    assert printed[-2] == "* price out of date: planner prices refresh."


@pytest.mark.parametrize("width", [100, 80, 60])
def test_any_number_of_options_fits_30_lines_with_the_one_to_take(width):
    options = [ranked(f"Cloud number {place}, 8x H100", Hold.RENT, 10, 100) for place in range(200)]
    printed = lines(document(*options, recommended=options[150].id), width=width)
    assert len(printed) == 30
    assert sum("<-" in line for line in printed) == 1
    shown = sum("Cloud" in line for line in printed)
    assert f"and {200 - shown} more: --all" in printed
    assert sum("8x H100" in line for line in lines(document(*options), width=1000, whole=True)) == 200


def test_the_plan_s_own_currency_comes_before_dollars():
    """At 1,400 won: 543 USD are 0.76 million, 8,540 are 12.0; the budget of 20,000 is 28 million."""
    won = Currency(code="KRW", per_usd=1400.0, as_of=date(2026, 11, 1), source="test")
    printed = lines(document(KEPT, RENTED, currency=won), width=120)
    assert printed[0].endswith("for 28,000,000 KRW")
    assert "million KRW (90 %)" in printed[5]
    assert printed[6].split()[9:12] == ["0.76", "(0.38-1.5)", "543"]
    assert printed[7].split()[8:11] == ["12.0", "(6.0-24)", "8,540"]
    assert all("543" not in line for line in lines(document(KEPT, RENTED, currency=won), width=80))


def test_without_limits_there_is_no_chance_and_no_limit_in_the_title():
    free = ranked("PC", Hold.HAVE, 1, 1, chance_deadline=None, chance_budget=None)
    printed = lines(document(free, deadline=None, budget_usd=None, runs=1))
    assert printed[0] == "Which machine?: one training"
    assert "chance" not in printed[5]


def test_a_campaign_is_in_the_plan_s_order_without_rows_to_name():
    campaign = CampaignDocument(plan="p", assumptions=(), runs=10, options=(RENTED, KEPT))
    printed = screen_lines(campaign_screen(campaign, plan="plan.yaml"), width=100)
    assert printed[0] == "p: 10 trainings"
    assert [line[:22].strip() for line in printed[2:5]] == ["machine", "RENT  Lambda, 1x H100", "HAVE  DGX Station, 4x"]


PLACED = PlacedRuns(
    option="a", name="AWS p4d", runs=10, nodes=1, start="2026-12-01T00:00", end="2026-12-03T00:00", usd=1500.0,
    groups={}, earliest_start_hours=None,
)  # fmt: skip
WON = Currency(code="KRW", per_usd=1400.0, as_of=date(2026, 11, 1), source="test")


@pytest.mark.parametrize(
    ("changes", "written"),
    [
        pytest.param({"usd_confident": 2001.0}, ["Plan: 1,500 USD, ", "at most 2,010 USD.", "1,500 USD."], id="up"),
        pytest.param({"usd_confident": 6.051}, ["at most 6.06 USD."], id="cents up"),
        pytest.param(
            {"usd_confident": 2001.0, "campaign_hours": quantity(120, Unit.HOURS, Basis.MODELLED, "test"),
             "placements": (PLACED.model_copy(
                 update={"earliest_start_hours": quantity(72, Unit.HOURS, Basis.QUOTED, "test")}),)},
            ["Plan: 1,500 USD, 5 days, 3 days of it before the start (proven best)."], id="5 days, the first 3 waiting",
        ),
        pytest.param(
            {"usd_confident": 2001.0, "local_confident": 2_999_000.0, "currency": WON},
            ["Plan: 2,100,000 KRW, ", "at most 3,000,000 KRW.", "2,100,000 KRW."],
            id="1,400 won a USD, with the doubt of the rate",
        ),
        pytest.param({"usd_confident": 0.0, "credits_usd": 1500.0}, ["all of it paid by credits."], id="credits"),
        pytest.param(
            {"usd_confident": 0.0, "campaign_usd": usd(0)}, ["4 in 5 sure: done by 2026-12-09, nothing to pay."],
            id="a grant",
        ),
        pytest.param({"optimality_gap_pct": None}, ["2 days (best found)."], id="nothing is proven"),
    ],
)  # fmt: skip
def test_a_campaign_s_plan_is_in_the_plan_s_currency_and_its_upper_bound_is_rounded_up(changes, written):
    """1,500 USD at 1,400 won are 2,100,000; three digits of 2,001 that are not below it are 2,010."""
    hours = quantity(48, Unit.HOURS, Basis.MODELLED, "test")
    fields: dict[str, object] = {
        "campaign_usd": usd(1500), "campaign_hours": hours, "done_by_confident": date(2026, 12, 9),
        "optimality_gap_pct": 0.0, "confidence": 0.8, "feasible": True, "placements": (PLACED,),
    }  # fmt: skip
    plan = CampaignDocument(plan="p", assumptions=(), runs=10, options=(RENTED,), **fields | changes)
    printed = " ".join(campaign_screen(plan, plan="plan.yaml").headline)
    assert [text for text in written if text not in printed] == []
    assert "0.00" not in printed


@pytest.mark.parametrize(
    ("changes", "written"),
    [
        pytest.param(
            {}, "Mix: 50 days (40-61), 2,000 USD (1,500-3,100), 83 %.",
            id="dollars",
        ),
        pytest.param(
            {"currency": WON}, "Mix: 50 days (40-61), 2.80 million KRW (2.1-4.3), 83 %.", id="1,400 won a USD",
        ),
    ],
)  # fmt: skip
def test_a_mix_shows_its_likely_time_and_cost_as_rows_do(changes, written):
    """Units are those of the table: days, and two digits for a wide range, as 1,464 is over 1.5 x 960 hours."""
    hours = quantity(1200, Unit.HOURS, Basis.MODELLED, "test", low=960, high=1464)
    cost = quantity(2000, Unit.USD, Basis.QUOTED, "test", low=1490, high=3090)
    mix = FeasiblePlan(
        campaign_usd=cost, campaign_hours=hours, chance_deadline=0.83, chance_budget=None, chance_both=0.83,
        usd_confident=2400.0, optimality_gap_pct=0.0, placements=(),
    )  # fmt: skip
    assert written in " ".join(lines(document(KEPT, RENTED, mix=mix, **changes), width=300))


@pytest.mark.parametrize(("usd", "named"), [(250.0, True), (None, False)], ids=["known", "not known"])
def test_own_or_rent_is_named_where_it_has_an_answer(usd: float | None, named: bool) -> None:
    """A machine with an unknown full cost of owning, such as `{own: RTX-3090}` at hand, is refused."""
    full = None if usd is None else quantity(usd, Unit.USD, Basis.MODELLED, "test")
    kept = KEPT.model_copy(update={"site": "mine", "usd_total": full})
    assert any("own-or-rent" in line for line in lines(document(kept, RENTED))) is named


@pytest.mark.parametrize(
    ("accelerator", "marked"),
    [("GH200-96GB", "a"), ("GB200-per-GPU", "a"), ("GB10", "a"), ("H200-SXM", ""), ("B200-SXM", "")],
)
def test_an_arm_host_is_marked(accelerator, marked):
    """NVIDIA's Grace processors are Arm: an image built for x86 does not run there."""
    option = RENTED.model_copy(update={"accelerator": accelerator})
    assert marks(option) == marked
    said = ["a Arm processor: x86 images do not run."] if marked else []
    assert marks_explained([option], lambda usd: f"{usd.value:g} USD") == said


@pytest.mark.parametrize(
    ("accelerator", "software"),
    [
        ("Trainium2", "AWS Neuron"),
        ("Gaudi3", "Intel's Gaudi software (Habana)"),
        ("TPU-v5e", "XLA (JAX, or PyTorch/XLA)"),
        ("MI300X", None),
        ("H100-SXM", None),
    ],
)
def test_an_accelerator_that_needs_its_makers_software_says_so(accelerator: str, software: str | None) -> None:
    option = RENTED.model_copy(update={"accelerator": accelerator})
    assert marks(option) == ("" if software is None else "w")
    said = [] if software is None else [f"w needs {software}: the trainer must be ported to it."]
    assert marks_explained([option], lambda usd: f"{usd.value:g} USD") == said


@pytest.mark.parametrize(
    ("low", "high", "marked"),
    [
        pytest.param(None, None, "", id="a known network"),
        pytest.param(10.0, 100.0, "n", id="a range of what it may be"),
    ],
)
def test_an_assumed_network_is_marked_and_its_range_explained(low: float | None, high: float | None, marked: str):
    network = NodeNetwork(gbit_per_s=32.0, low_gbit_per_s=low, high_gbit_per_s=high, source="somebody")
    option = ranked("Cloud, 16x H100", Hold.RENT, 3, 500, nodes=2, network=network)
    assert marks(option) == marked
    explained = "n network between nodes assumed: 10 to 100 Gbit/s of each; set yours with --network."
    assert (explained in marks_explained([option], lambda usd: f"{usd.value:g} USD")) is bool(marked)


@pytest.mark.parametrize(
    ("fits", "chunked", "marked"),
    [
        pytest.param(True, True, "l", id="with a loss in chunks alone"),
        pytest.param(True, False, "", id="with any loss"),
        pytest.param(False, True, "", id="not at all"),
    ],
)
def test_a_fit_with_a_loss_in_chunks_alone_is_marked(fits: bool, chunked: bool, marked: str):
    option = ranked("Cloud, 8x H100", Hold.RENT, 3, 500, fits=fits, chunked_loss=chunked)
    assert marks(option) == marked
    explained = "l fits only with a loss in chunks, as Liger's: --loss chunked."
    assert (explained in lines(document(option))) is bool(marked)


def test_a_speed_that_offloaded_weights_leave_open_is_named():
    option = ranked("Cloud, 8x H100", Hold.RENT, 3, 500, rank=None, why_not_codes=(ReasonCode.OFFLOAD_NOT_KNOWN,))
    assert short_reason(option) == "speed with offload not known"
    groups = option.model_copy(update={"why_not_codes": (ReasonCode.NODES_NOT_ASKED,)})
    assert short_reason(groups) == "wrong number of nodes"


@pytest.mark.parametrize(
    ("whole", "campaign", "explained"),
    [
        pytest.param(
            3.0, 1.0, "d the trainer must split the model: Mine, 8x H100: fsdp2, tensor 4, by torchtitan; "
            "by plain FSDP or ZeRO 3 "
            "hours.", id="what any trainer needs",
        ),
        pytest.param(
            3.0, 4.0, "d the trainer must split the model: Mine, 8x H100: fsdp2, tensor 4, by torchtitan; "
            "by plain FSDP or ZeRO 12 "
            "hours.", id="four runs one after another, as in the row",
        ),
        pytest.param(
            None, 1.0, "d the trainer must split the model: Mine, 8x H100: fsdp2, tensor 4, by torchtitan.",
            id="any other does not fit"
        ),
    ],
)  # fmt: skip
def test_a_divided_network_is_marked_with_its_trainer_and_the_plain_time(
    whole: float | None, campaign: float, explained: str
):
    hours = {
        name: quantity(value, Unit.HOURS, Basis.MODELLED, "test")
        for name, value in (("one", 1.0), ("three", 3.0), ("campaign", campaign))
    }
    option = ranked("Mine, 8x H100", Hold.HAVE, 3, 500).model_copy(
        update={
            "strategy": Strategy.FSDP2, "split": Split(tensor=4), "trainers": ("torchtitan",),
            "training_hours": hours["one"], "time": None, "campaign_hours": hours["campaign"],
            "whole_hours": None if whole is None else hours["three"],
        }
    )  # fmt: skip
    assert "d" in marks(option)
    assert explained in marks_explained([option], lambda usd: f"{usd.value:g} USD")
    twice = marks_explained([option, option], lambda usd: f"{usd.value:g} USD")
    assert f"{explained.removesuffix('.')}; 1 more: --details." in twice


@pytest.mark.parametrize(
    ("chance", "fits", "written"),
    [
        pytest.param(0.86, True, "fits 86 %", id="may not fit"),
        pytest.param(0.944, True, "fits 94 %", id="just not sure"),
        pytest.param(0.946, True, "", id="95 % as it would be written"),
        pytest.param(None, True, "", id="nothing was computed"),
        pytest.param(0.1, False, "", id="the row says that it does not"),
    ],
)
def test_a_row_shows_its_chance_to_fit_below_95_percent(chance: float | None, fits: bool, written: str):
    option = ranked("Cloud, 8x H100", Hold.RENT, 3, 500, fits=fits, fit_chance=chance)
    assert fit_text(option) == written
    assert (written in "\n".join(lines(document(option)))) is True
    assert ("fits" in "\n".join(lines(document(option)))) is bool(written)
