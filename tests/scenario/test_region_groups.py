"""Groups of regions: by each cloud's own names, and Europe is not the Union."""

from __future__ import annotations

import pytest

from planner.errors import NotFoundError
from planner.scenario.region_groups import check_places, group_of, is_in


@pytest.mark.parametrize(
    ("region", "group"),
    [
        ("eu-west-1", "eu"), ("eu-north-1", "eu"), ("eu-west-2", None), ("eu-central-2", None), ("us-gov-west-1", "us"),
        ("us-east-2", "us"), ("ap-northeast-2", "apac"), ("ca-central-1", None), ("europe-west4", "eu"),
        ("europe-west2", None), ("europe-west6", None), ("us-central1", "us"), ("us-east5", "us"),
        ("asia-northeast1", "apac"), ("australia-southeast1", "apac"), ("northamerica-northeast1", None),
        ("westeurope", "eu"), ("uksouth", None), ("switzerlandnorth", None), ("eastus", "us"), ("koreacentral", "apac"),
        ("eu-north1", "eu"), ("eu-iceland1-a", "eu"), ("eu-frankfurt-1", "eu"), ("eu-zurich-1", None),
        ("uk-london-1", None), ("europe-central-1", "eu"), ("EU-RO-1", "eu"), ("EUR-NO-1", "eu"), ("EUR-GB-1", None),
        ("FIN-03", "eu"), ("ICE-01", "eu"), ("NORWAY-1", "eu"), ("CANADA-1", None), ("US-1", "us"), ("US-TX-3", "us"),
        ("CA-MTL-1", None), ("AP-JP-1", "apac"), ("OC-AU-1", "apac"), ("fr-par-2", "eu"), ("GRA11", "eu"),
        ("BHS5", None), ("ap-tokyo-1", "apac"), ("us-ashburn-1", "us"),
        ("any", None), (None, None), ("eu", None), ("north-america", None),
    ],
)  # fmt: skip
def test_the_group_of_a_region(region: str | None, group: str | None) -> None:
    assert group_of(region) == group


def test_a_place_nobody_knows_is_in_no_group_and_in_no_list_of_groups() -> None:
    assert not is_in(None, ("eu", "us"))
    assert not is_in("any", ("eu",))
    assert is_in("eu-west-1", ("us", "eu"))
    assert is_in("our-site", ("our-site",))


@pytest.mark.parametrize("name", ["us-eats-1", "europe", "eu_west_1", "us-east-1a", "EU"])
def test_what_is_no_region_is_refused(name: str) -> None:
    with pytest.raises(NotFoundError, match=rf"limits.*no region '{name}'"):
        check_places((name,), {"us-east-1"}, where="limits.allowed_regions")


@pytest.mark.parametrize("name", ["eu-south-2", "me-central1", "uksouth", "apac", "known-here"])
def test_regions_without_a_price_may_be_named(name: str) -> None:
    check_places((name,), {"known-here"}, where="limits.allowed_regions")
