"""Lambda's API, on a loopback server; the document follows the vendor's published OpenAPI description."""

from __future__ import annotations

import json
from datetime import date

import pytest

from planner.adapters.price_sources.lambda_labs import lambda_prices
from planner.errors import PriceSourceError
from planner.model.prices.offer import PriceKind, PriceOrigin

TODAY = date(2026, 11, 21)


def instance(name: str, cents: object, gpus: int, gpu: str, regions: tuple[str, ...]) -> dict[str, object]:
    return {
        "instance_type": {
            "name": name, "description": f"{gpus}x {gpu}", "gpu_description": gpu, "price_cents_per_hour": cents,
            "specs": {"vcpus": 208, "memory_gib": 1800, "storage_gib": 24780, "gpus": gpus},
        },
        "regions_with_capacity_available": [{"name": region, "description": "somewhere"} for region in regions],
    }  # fmt: skip


DATA = {
    "gpu_8x_h100_sxm5": instance("gpu_8x_h100_sxm5", 3192, 8, "H100 (80 GB SXM5)", ()),
    "gpu_1x_new_h100": instance("gpu_1x_new_h100", 449, 1, "H100 (80 GB PCIe)", ("us-east-1", "us-west-2")),
    "gpu_1x_oddity": instance("gpu_1x_oddity", 99, 1, "Oddity (1 GB)", ()),
    "cpu_4x_general": instance("cpu_4x_general", 20, 0, "N/A", ("us-east-1",)),
    "gpu_1x_broken": instance("gpu_1x_broken", "free", 1, "A10 (24 GB PCIe)", ()),
    "gpu_1x_zero": instance("gpu_1x_zero", 0, 1, "A10 (24 GB PCIe)", ()),
}


@pytest.fixture
def answer(vendor, make_reply, names):
    vendor.replies["/api/v1/instance-types"] = make_reply(body=json.dumps({"data": DATA}).encode())
    return lambda_prices(key="secret-key", names=names, today=TODAY, api_url=f"{vendor.url}/api/v1/")


def test_the_price_is_of_the_whole_instance_in_all_regions(answer):
    price = answer.prices[0]
    assert (price.node, price.region, price.usd_per_hour) == ("lambda/gpu_8x_h100_sxm5", "any", 31.92)
    assert (price.price_kind, price.origin, price.confidence) == (PriceKind.ON_DEMAND, PriceOrigin.VENDOR_API, "api")
    assert (price.as_of, price.billing_granularity_s) == (TODAY, 60)


def test_sold_out_still_has_a_price(answer):
    assert [price.available for price in answer.prices] == [False, True]
    assert "sold out" in answer.prices[0].note
    assert "us-east-1, us-west-2" in answer.prices[1].note


def test_an_instance_that_we_do_not_know_gets_its_card_from_the_description(answer):
    assert (answer.prices[1].accelerator, answer.prices[1].accelerators) == ("H100-PCIe", 1)


def test_what_is_no_price_is_named_and_never_zero(answer):
    assert len(answer.prices) == 2
    assert dict(answer.left_out) == {
        "accelerator 'Oddity' is not in the catalog": 1,
        "instances without an accelerator": 1,
    }
    assert ["gpu_1x_broken" in answer.problems[0], "gpu_1x_zero" in answer.problems[1]] == [True, True]


def test_the_key_goes_to_the_vendor_and_nowhere_else(answer, vendor):
    ((path, headers),) = vendor.asked
    assert (path, headers["Authorization"]) == ("/api/v1/instance-types", "Bearer secret-key")
    assert "secret-key" not in repr(answer)


@pytest.mark.parametrize(
    "body", [b"{", b"[]", b'{"error": {}}', b'{"data": []}'], ids=["torn", "a list", "an error", "a list inside"]
)
def test_another_document_is_refused(vendor, make_reply, names, body):
    vendor.replies["/instance-types"] = make_reply(body=body)
    with pytest.raises(PriceSourceError, match="Lambda's API: the answer"):
        lambda_prices(key="k", names=names, today=TODAY, api_url=vendor.url)
