"""Groups of regions, by the names that clouds give them: `eu`, `us`, `apac`. Pure.

`eu` means the European Union and the European Economic Area, for data that must not leave it. London and Zurich are in
Europe, but not in this group. Source: the region tables of the AWS, Google Cloud and Azure documentation, 2026; for
other clouds the names in gpuhunt's and SkyPilot's lists.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from planner.errors import NotFoundError

GROUPS = ("eu", "us", "apac")
_WHERE = r"(north|south|east|west|central|northeast|northwest|southeast|southwest)"
_OF_AWS = re.compile(rf"(?P<area>us|eu|ap|ca|sa|me|af|il|mx)(-gov)?-{_WHERE}-\d")
_OF_GOOGLE = re.compile(rf"(?P<area>us|europe|asia|australia|northamerica|southamerica|me|africa)-{_WHERE}\d+")
_OF_AZURE = {
    "us": ("eastus", "eastus2", "centralus", "northcentralus", "southcentralus", "westcentralus", "westus", "westus2",
           "westus3"),
    "eu": ("northeurope", "westeurope", "francecentral", "francesouth", "germanywestcentral", "germanynorth",
           "italynorth", "norwayeast", "norwaywest", "polandcentral", "spaincentral", "swedencentral"),
    "apac": ("australiacentral", "australiaeast", "australiasoutheast", "centralindia", "eastasia", "indonesiacentral",
             "japaneast", "japanwest", "koreacentral", "koreasouth", "malaysiawest", "newzealandnorth", "southeastasia",
             "southindia", "westindia"),
    "": ("brazilsouth", "canadacentral", "canadaeast", "israelcentral", "mexicocentral", "qatarcentral",
         "southafricanorth", "switzerlandnorth", "switzerlandwest", "uaenorth", "uksouth", "ukwest"),
}  # fmt: skip
_OF_OTHERS = re.compile(r"(?P<area>us|eu|ap|europe|asia|australia)-[a-z]+-?\d+(-?[a-z])?")
"""Regions of Nebius (eu-north1), Crusoe (eu-iceland1-a), Oracle (eu-frankfurt-1), Lambda (europe-central-1)."""
_OF_SITES = {
    "us": re.compile(r"US-([A-Z]{2}-)?\d+"),
    "eu": re.compile(
        r"FIN-\d+|ICE-\d+|NORWAY-\d+|(EU|EUR)-(AT|BE|BG|CZ|DE|DK|EE|ES|FI|FR|GR|HR|HU|IE|IS|IT|LT|LV|NL|NO|PL|PT|RO|SE|SI|SK)"
        r"-\d+|(fr-par|nl-ams|pl-waw)-\d+|(GRA|SBG|RBX|WAW|DE)\d*"
    ),
    "apac": re.compile(r"(AP|SEA|OC)-[A-Z]{2}-\d+"),
}
"""Regions by country:

RunPod (EU-RO-1), Verda (FIN-03), Hyperstack (NORWAY-1), Scaleway (fr-par-2), OVHcloud (GRA11).
"""
_AREAS = {"us": "us", "eu": "eu", "europe": "eu", "ap": "apac", "asia": "apac", "australia": "apac"}
_OUTSIDE_THE_UNION = ("eu-west-2", "eu-central-2", "europe-west2", "europe-west6", "eu-zurich-1")
"""Regions in London and Zurich."""


def group_of(region: str | None) -> str | None:
    """Return the group of a region; None if it is in no group or unknown."""
    if region is None or region in _OUTSIDE_THE_UNION:
        return None
    azure = next((group for group, names in _OF_AZURE.items() if region in names), None)
    if azure is not None:
        return azure or None
    site = next((group for group, names in _OF_SITES.items() if names.fullmatch(region)), None)
    if site is not None:
        return site
    named = _OF_AWS.fullmatch(region) or _OF_GOOGLE.fullmatch(region) or _OF_OTHERS.fullmatch(region)
    return None if named is None else _AREAS.get(named["area"])


def is_in(region: str | None, places: Collection[str]) -> bool:
    """Return whether a region is one of these places, or in one of the groups among them."""
    return region in places or group_of(region) in places


def check_places(places: Collection[str], known: Collection[str], *, where: str) -> None:
    """Refuse a name that is no region, site or group: a misspelt one would silently allow nothing."""
    for place in places:
        if place in known or place in GROUPS or _is_region(place):
            continue
        fix = "Write a region as its cloud names it, the id of a site, or eu, us, apac."
        raise NotFoundError("region", place, {*known, *GROUPS, *sum(_OF_AZURE.values(), ())}, where=where, fix=fix)


def _is_region(name: str) -> bool:
    azure = any(name in names for names in _OF_AZURE.values())
    return azure or bool(_OF_AWS.fullmatch(name) or _OF_GOOGLE.fullmatch(name))
