"""Whatever a server answers, or does not, becomes a document or one plain sentence."""

from __future__ import annotations

import socket
from datetime import date

import pytest

from planner.adapters.http_fetch import fetch
from planner.errors import PriceSourceError

MEGABYTE = 1_000_000


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        pytest.param({"status": 403, "body": b"no"}, "answered 403: access is refused", id="403"),
        pytest.param({"status": 401}, "answered 401: the key is missing or wrong", id="401"),
        pytest.param({"status": 429}, "answered 429: too many requests", id="429"),
        pytest.param({"status": 503}, "answered 503: the server failed", id="503"),
        pytest.param({"body": b"\n<!DOCTYPE html><p>Log in"}, "a web page instead of prices", id="HTML"),
        pytest.param({"body": b"x", "headers": {"Content-Type": "text/html"}}, "a web page", id="says it is HTML"),
        pytest.param({"body": b"half", "announce": 9}, "ended after 4 of 9 bytes", id="cut short"),
    ],
)
def test_a_bad_answer_is_one_sentence(vendor, make_reply, cells, words):
    vendor.replies["/list"] = make_reply(**cells)
    with pytest.raises(PriceSourceError, match=f"^The list: .*{words}") as caught:
        fetch(f"{vendor.url}/list", what="The list")
    assert caught.value.fix
    assert caught.value.exit_code == 4


def test_an_endless_answer_is_cut_and_never_held_whole(vendor, make_reply):
    vendor.replies["/list"] = make_reply(body=b"a" * 65_536, repeat=True)
    with pytest.raises(PriceSourceError, match=r"longer than 1 MB and was cut off"):
        fetch(f"{vendor.url}/list", what="The list", limit_bytes=MEGABYTE)
    assert vendor.sent < 30 * MEGABYTE, "the reader hung up; the rest is what the two sockets buffer"


def test_a_server_that_never_answers_is_given_up():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(PriceSourceError, match=r"did not answer within 0.1 s"):
            fetch(f"http://127.0.0.1:{port}/list", what="The list", timeout_s=0.1)


def test_a_closed_port_is_named():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(PriceSourceError, match=r"The list: cannot be reached: .*refused"):
        fetch(f"http://127.0.0.1:{port}/list", what="The list")


def test_a_file_address_is_refused(tmp_path):
    with pytest.raises(PriceSourceError, match="is no web address"):
        fetch(tmp_path.as_uri(), what="The list")


def test_a_document_comes_with_its_day(vendor, make_reply):
    headers = {"Last-Modified": "Fri, 20 Nov 2026 09:00:00 GMT"}
    vendor.replies["/list"] = make_reply(body=b"a,b\n", headers=headers)
    found = fetch(f"{vendor.url}/list", what="The list")
    assert (found.data, found.last_modified) == (b"a,b\n", date(2026, 11, 20))
