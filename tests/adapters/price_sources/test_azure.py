"""Azure's retail price list, on a server of this machine.

The documents are written from the shape that learn.microsoft.com/rest/api/cost-management/retail-prices documents; they
were not recorded. 98.32 is the catalog's price of the ND H100 v5, the others are made up.
"""

from __future__ import annotations

import json
from datetime import date
from urllib.parse import urlencode

import pytest

from planner.adapters.price_sources import azure as source
from planner.adapters.price_sources.azure import VERSION, azure_prices
from planner.errors import PriceSourceError
from tests.adapters.price_sources.conftest import says_so
from tests.bundled import bundled_catalog

TODAY = date(2026, 11, 24)
H100, T4 = "Standard_ND96isr_H100_v5", "Standard_NC64as_T4_v3"
NODES = {name: bundled_catalog().nodes[name] for name in (f"azure/{H100}", f"azure/{T4}", "aws/p5.48xlarge")}


def item(size, usd, **cells):
    return {
        "currencyCode": "USD", "tierMinimumUnits": 0.0, "retailPrice": usd, "unitPrice": usd,
        "armRegionName": "eastus", "location": "US East", "effectiveStartDate": "2023-08-01T00:00:00Z",
        "meterName": "ND96isr H100 v5", "productName": "Virtual Machines NDSRH100v5 Series",
        "skuName": "ND96isr H100 v5", "serviceName": "Virtual Machines", "serviceFamily": "Compute",
        "unitOfMeasure": "1 Hour", "type": "Consumption", "isPrimaryMeterRegion": True, "armSkuName": size,
    } | cells  # fmt: skip


def address(size, skip=0):
    asked = {"api-version": VERSION, "$filter": f"serviceName eq 'Virtual Machines' and armSkuName eq '{size}'"}
    return "/api?" + urlencode(asked | ({"$skip": str(skip)} if skip else {}))


@pytest.fixture
def asked(vendor, make_reply):
    def ask(*, last=None, body=None):
        pages = [
            [
                item(H100, 98.32, savingsPlan=[{"unitPrice": 50.1, "retailPrice": 50.1, "term": "3 Years"}]),
                item(H100, 40.0, skuName="ND96isr H100 v5 Spot"),
                item(H100, 12.0, skuName="ND96isr H100 v5 Low Priority"),
                item(H100, 120.0, productName="Virtual Machines NDSRH100v5 Series Windows"),
                item(H100, 500_000.0, type="Reservation", reservationTerm="1 Year"),
                item(H100, 0.0),
            ],
            [item(H100, 110.0, armRegionName="westeurope"), last or {"armSkuName": H100}],
        ]
        for number, items in enumerate(pages):
            more = "https://prices.azure.com/api/retail/prices?$skip=100" if number == 0 else None
            document = {"BillingCurrency": "USD", "Items": items, "NextPageLink": more, "Count": len(items)}
            vendor.replies[address(H100, 100 * number)] = make_reply(body=json.dumps(document).encode())
        t4 = body or json.dumps({"Items": [item(T4, 4.352)], "NextPageLink": None}).encode()
        vendor.replies[address(T4)] = make_reply(body=t4)
        return azure_prices(nodes=NODES, today=TODAY, api_url=f"{vendor.url}/api")

    return ask


def test_linux_on_demand_spot_and_savings_of_all_regions(asked):
    answer = asked()
    assert [(row.node, row.region, row.price_kind.value, row.usd_per_hour) for row in answer.prices] == [
        (f"azure/{H100}", "eastus", "on_demand", 98.32),
        (f"azure/{H100}", "eastus", "savings_3y", 50.1),
        (f"azure/{H100}", "eastus", "spot", 40.0),
        (f"azure/{H100}", "westeurope", "on_demand", 110.0),
        (f"azure/{T4}", "eastus", "on_demand", 4.352),
    ]
    assert sum(answer.left_out.values()) == 5, "two that are no Linux machine, a reservation, no price, cut short"
    assert {(read.provider, read.price_kind.value) for read in answer.lists} == {
        ("azure", "on_demand"), ("azure", "spot"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("body", "says"),
    [
        pytest.param(b"<!doctype html><p>Sign in", "answered with a web page instead of prices", id="a page"),
        pytest.param(b'{"Items": 3}', "has no list of Items", id="another shape"),
        pytest.param(b"[" * 50_000, "not the expected JSON document", id="too deep"),
        pytest.param(b'{"Items": ', "not the expected JSON document", id="cut short"),
    ],
)
def test_a_machine_that_fails_loses_itself_alone(asked, body, says):
    answer = asked(body=body)
    assert {row.instance_type for row in answer.prices} == {H100}
    (problem,) = answer.problems
    assert T4 in problem
    assert says in problem
    assert answer.lists == [], "a list that lacks a machine proves nothing of the others"


def test_a_price_that_is_no_number_is_left_out(asked):
    answer = asked(last=item(H100, float("nan")))
    assert len(answer.prices) == 5


def test_nothing_at_all_is_an_error(vendor):
    with pytest.raises(PriceSourceError, match="no price came from Azure"):
        azure_prices(nodes=NODES, today=TODAY, api_url=f"{vendor.url}/api")


def test_a_size_whose_reading_breaks_loses_itself_alone(asked, broken_for):
    broken_for(source, H100)
    answer = asked()
    assert {row.instance_type for row in answer.prices} == {T4}
    (problem,) = answer.problems
    assert says_so(problem, f"Azure's price list of {H100}")
    assert answer.lists == []
