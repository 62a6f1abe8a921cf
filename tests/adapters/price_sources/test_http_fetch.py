"""Whatever a server answers, or does not, becomes a document or one plain sentence."""

from __future__ import annotations

import gzip
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
        pytest.param({"status": 302, "headers": {"Location": "/list"}}, "cannot be reached: .*redirects", id="a loop"),
        pytest.param({"status": 302, "headers": {"Location": "file:///a"}}, "cannot be reached: .*file", id="a file"),
        pytest.param({"body": b"plain", "headers": {"Content-Encoding": "gzip"}}, "cannot be reached: ", id="no gzip"),
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


def test_a_packed_answer_is_measured_unpacked(vendor, make_reply):
    body = gzip.compress(b"a" * 2 * MEGABYTE)
    vendor.replies["/list"] = make_reply(body=body, headers={"Content-Encoding": "gzip"})
    assert len(body) < MEGABYTE
    with pytest.raises(PriceSourceError, match=r"longer than 1 MB"):
        fetch(f"{vendor.url}/list", what="The list", limit_bytes=MEGABYTE)
    assert fetch(f"{vendor.url}/list", what="The list").data == b"a" * 2 * MEGABYTE


def test_a_redirect_to_another_host_is_followed_without_the_key(vendor, make_reply):
    vendor.replies["/old"] = make_reply(status=301, headers={"Location": f"{vendor.url}/new"})
    vendor.replies["/new"] = make_reply(body=b"a,b\n")
    here = vendor.url.replace("127.0.0.1", "localhost")
    assert fetch(f"{here}/old", what="The list", headers={"Authorization": "Bearer secret"}).data == b"a,b\n"
    assert [(path, "Authorization" in headers) for path, headers in vendor.asked] == [("/old", True), ("/new", False)]


@pytest.mark.parametrize("key", ["secret\nkey", "secret-\u00e9"], ids=["a new line", "an accent"])
def test_a_key_that_no_header_can_hold_is_not_repeated(vendor, key):
    with pytest.raises(PriceSourceError, match="the key holds a character") as caught:
        fetch(f"{vendor.url}/list", what="The list", headers={"Authorization": f"Bearer {key}"})
    assert "secret" not in str(caught.value)
    assert vendor.asked == []


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
    with pytest.raises(PriceSourceError, match="is not a web address"):
        fetch(tmp_path.as_uri(), what="The list")


def test_a_document_comes_with_its_day(vendor, make_reply):
    headers = {"Last-Modified": "Fri, 20 Nov 2026 09:00:00 GMT"}
    vendor.replies["/list"] = make_reply(body=b"a,b\n", headers=headers)
    document = fetch(f"{vendor.url}/list", what="The list")
    assert (document.data, document.last_modified) == (b"a,b\n", date(2026, 11, 20))
