"""The workspace is layered on the bundled catalogs, and never mixes ids up."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from planner.adapters.catalog import load_catalog
from planner.errors import InputError
from planner.model.plan.plan import Plan
from planner.scenario.candidate import expand

SITE = """
schema_version: 1
id: {id}
name: A box of ours
node: {node}
nodes: 3
source: our inventory
as_of: 2026-11-21
"""
NODE_HEADER = "id,name,accelerator,accelerators,link,network_gbit_per_s,rated_kw,source,as_of\n"


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_a_box_of_our_own_has_a_node_and_a_site(tmp_path: Path) -> None:
    write(
        tmp_path / "hardware" / "nodes.csv",
        NODE_HEADER + "our-box,Our box,RTX-A6000,6,pcie,,2.4,inventory,2026-11-21\n",
    )
    write(tmp_path / "sites" / "our-box.yaml", SITE.format(id="our-box", node="our-box"))
    catalog = load_catalog(tmp_path)
    assert catalog.nodes["our-box"].rated_kw == 2.4
    assert catalog.sites["our-box"].nodes == 3
    assert "dgx-station-v100" in catalog.sites


def test_our_site_replaces_the_bundled_one(tmp_path: Path) -> None:
    write(tmp_path / "sites" / "mine.yaml", SITE.format(id="dgx-station-v100", node="dgx-station-v100"))
    assert load_catalog(tmp_path).sites["dgx-station-v100"].nodes == 3
    assert load_catalog().sites["dgx-station-v100"].nodes == 1


def test_two_sites_with_one_id_in_one_folder_are_refused(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write(tmp_path / "sites" / f"{name}.yaml", SITE.format(id="twice", node="pc-rtx4090"))
    with pytest.raises(InputError, match="two sites have the id 'twice'"):
        load_catalog(tmp_path)


def test_our_price_is_taken_even_where_the_list_is_newer(tmp_path: Path) -> None:
    header = "provider,instance_type,region,price_kind,usd_per_hour,source,as_of"
    ours = "aws,p4d.24xlarge,us-east-1,on_demand,11.0,our contract,2026-01-01"
    write(tmp_path / "prices" / "ours.csv", f"{header}\n{ours}\n")
    plan = Plan.model_validate(
        {
            "schema_version": 1,
            "name": "p4d",
            "workload": {"ref": "gpt-305m"},
            "work": {"tokens": 1e9},
            "options": [{"offer": "aws/p4d.24xlarge", "region": "us-east-1"}],
        }
    )
    (candidate,) = expand(plan, load_catalog(tmp_path))
    assert candidate.price is not None
    assert candidate.price.usd_per_hour == 11.0


def test_a_wrong_cell_names_file_line_column_and_fix(tmp_path: Path) -> None:
    write(
        tmp_path / "hardware" / "nodes.csv", NODE_HEADER + "our-box,Our box,RTX-A6000,six,pcie,,,inventory,2026-11-21\n"
    )
    with pytest.raises(InputError, match=r"nodes\.csv:2: accelerators: .*\(found 'six'\)") as caught:
        load_catalog(tmp_path)
    assert "plain digits" in caught.value.fix


def test_an_empty_workspace_changes_nothing(tmp_path: Path) -> None:
    assert load_catalog(tmp_path) == load_catalog()


@pytest.mark.parametrize(
    "name",
    ["defaults.yaml", "settings.yaml", "services.csv", "providers.csv", "storage.csv", "convergence.csv",
     "hardware/nodes.csv", "hardware/accelerators.csv"],
)  # fmt: skip
@pytest.mark.parametrize(
    ("make", "told"),
    [
        pytest.param(Path.mkdir, "is a folder, not a file", id="a folder"),
        pytest.param(os.mkfifo, "is not an ordinary file", id="a pipe"),
        pytest.param(lambda path: path.symlink_to(path.name), "cannot be read", id="a link to itself"),
        pytest.param(lambda path: path.symlink_to("elsewhere"), "there is no such file", id="a link to nothing"),
    ],
)
def test_what_bears_the_name_of_a_file_and_is_none_is_refused(tmp_path, name, make, told):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    make(path)
    with pytest.raises(InputError, match=told) as caught:
        load_catalog(tmp_path)
    assert str(path) in caught.value.message
