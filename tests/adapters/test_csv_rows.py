"""Catalog tables: which columns a file must have, and which it may leave out."""

from __future__ import annotations

import pytest

from planner.adapters.csv_rows import read_rows
from planner.errors import InputError
from planner.model.hardware.machines import Node


def test_a_table_without_columns_that_have_defaults_is_read(tmp_path):
    """Header from before hosts were listed."""
    path = tmp_path / "nodes.csv"
    path.write_text(
        "id,name,accelerator,accelerators,link,network_gbit_per_s,rated_kw,source,as_of\n"
        "ours,Our node,H100-SXM,8,nvswitch,3200,10.2,us,2026-11-20\n"
    )
    [node] = read_rows(Node, path)
    assert (node.accelerators, node.host_memory_gib) == (8, None)


@pytest.mark.parametrize(
    "header",
    [
        pytest.param(
            "id,name,accelerator,accelerators,link,rated_kw,network_gbit_per_s,source,as_of", id="out of order"
        ),
        pytest.param("id,name,accelerator,link,source,as_of", id="without one that is needed"),
        pytest.param("id,name,accelerator,accelerators,link,colour,source,as_of", id="with an unknown one"),
    ],
)
def test_a_table_with_other_columns_is_refused(tmp_path, header):
    path = tmp_path / "nodes.csv"
    path.write_text(f"{header}\n")
    with pytest.raises(InputError, match="the columns are not those of Node"):
        read_rows(Node, path)
