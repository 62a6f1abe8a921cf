"""Rates of one's own in the workspace's `services.csv`: they come first, and a wrong one is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.refusals import one_error

HEAD = "provider,service,usd,unit,low_usd,high_usd,free_gb,no_price_reason,source,as_of,note\n"
P3DN = 5


@pytest.fixture
def services(tmp_path: Path):
    def write(row: str) -> None:
        home = tmp_path / "planner-home"
        home.mkdir(exist_ok=True)
        (home / "services.csv").write_text(HEAD + row + "\n", encoding="utf-8")

    return write


def test_an_own_rate_comes_first(planner, changed, services):
    """100 GB out at 0.02 USD, all of it charged: 2.00 USD."""
    services("aws,egress,0.02,USD/GB,,,0,,our contract,2026-11-20,")
    plan = changed("dgx_station_v100", {"data": {"egress_gb": 100.0}}, only=[P3DN])
    (option,) = planner("estimate", plan, "--json").document["options"]
    (egress,) = (line for line in option["bill"]["lines"] if line["what"] == "egress")
    assert egress["usd"]["value"] == 2.0
    assert "our contract" in egress["usd"]["source"]


@pytest.mark.parametrize(
    ("row", "words"),
    [
        pytest.param("aws,egress,$0.09,USD/GB,,,0,,x,2026-11-20,", ["usd", "'$0.09'"], id="a dollar sign"),
        pytest.param("aws,egress,-1,USD/GB,,,0,,x,2026-11-20,", ["usd", "greater than or equal to 0"], id="negative"),
        pytest.param("aws,egress,0.09,USD/GB-month,,,0,,x,2026-11-20,", ["egress is not priced in"], id="per month"),
        pytest.param(
            "aws,egress,,USD/GB,,,0,,x,2026-11-20,", ["either usd or no_price_reason"], id="no price, no reason"
        ),
        pytest.param(
            "aws,egress,0.09,USD/GB,0.1,0.2,0,,x,2026-11-20,", ["between low_usd and high_usd"], id="out of range"
        ),
        pytest.param("aws,egress,0.09,USD/GB,,,0,,x,20.11.2026,", ["as_of", "20.11.2026"], id="a date of another form"),
        pytest.param("aws,egres,0.09,USD/GB,,,0,,x,2026-11-20,", ["service", "'egres'"], id="a service misspelt"),
        pytest.param("aws,egress,0.09,USD/GB,0,0.2,0,,x,2026-11-20,", ["low_usd", "greater than 0"], id="free at best"),
        pytest.param("aws,egress,0.09", ["more or fewer cells"], id="too few cells"),
    ],
)
def test_a_wrong_rate_names_file_and_line(planner, example, services, row, words):
    services(row)
    one_error(planner("estimate", example("p5e_vs_a100")), "services.csv:2", *words)
