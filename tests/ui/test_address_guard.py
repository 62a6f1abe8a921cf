"""The app answers its own page under its own address, and no page that led a browser to it."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.errors import InputError
from planner.ui.address_guard import AddressGuard, origin_of, public_origins, refusal
from planner.ui.launch import OPTIONS, PAGES, command
from scripts.served_app import ROOT, served
from tests.ui.conftest import by_planner

PORT = 8501
PROXY = ("https://plans.example.org", "http://gateway:8080")
GOOD_HOSTS = ("127.0.0.1:8501", "localhost:8501", "LocalHost:8501", "[::1]:8501")
BAD_HOSTS = {
    "a name that leads here": ["evil.example:8501"],
    "the same without a port": ["evil.example"],
    "another port": ["127.0.0.1:8502"],
    "no port": ["127.0.0.1"],
    "a longer name": ["localhost:8501.evil.example"],
    "a name that ends so": ["evil-localhost:8501"],
    "a user before it": ["localhost:8501@evil.example"],
    "another address of this machine": ["0.0.0.0:8501"],
    "a dot after it": ["localhost.:8501"],
    "a space": ["localhost:8501 "],
    "none": [],
    "empty": [""],
    "two": ["localhost:8501", "localhost:8501"],
}
BAD_ORIGINS = {
    "another site": ["https://evil.example"],
    "a name that leads here": ["http://evil.example:8501"],
    "another local port": ["http://localhost:8888"],
    "no port": ["http://localhost"],
    "another scheme": ["https://localhost:8501"],
    "another name of this machine": ["http://127.0.0.1:8501"],
    "a sandbox": ["null"],
    "a path": ["http://localhost:8501/"],
    "empty": [""],
    "two": ["http://localhost:8501", "http://localhost:8501"],
}


@pytest.mark.parametrize("host", GOOD_HOSTS)
def test_its_own_page_is_answered(host):
    assert refusal([host], [], scheme="http", port=PORT) is None
    assert refusal([host], [f"http://{host}"], scheme="http", port=PORT) is None


@pytest.mark.parametrize("hosts", BAD_HOSTS.values(), ids=BAD_HOSTS)
def test_a_foreign_host_is_refused(hosts):
    assert "Host is not" in refusal(hosts, [], scheme="http", port=PORT)
    assert refusal(hosts, [f"http://{host}" for host in hosts], scheme="http", port=PORT)


@pytest.mark.parametrize("origins", BAD_ORIGINS.values(), ids=BAD_ORIGINS)
def test_a_foreign_origin_is_refused(origins):
    assert "Origin is not" in refusal(["localhost:8501"], origins, scheme="http", port=PORT)


@pytest.mark.parametrize(
    ("scheme", "port", "host", "answered"),
    [
        pytest.param("http", 80, "localhost", True, id="the scheme's own port is left out"),
        pytest.param("http", 80, "localhost:80", True, id="or written"),
        pytest.param("http", 443, "localhost", False, id="another scheme's is not"),
        pytest.param("https", 443, "127.0.0.1", True, id="https"),
        pytest.param("https", 8501, "127.0.0.1:8501", True, id="https on a port"),
    ],
)
def test_ports_of_schemes(scheme, port, host, answered):
    assert (refusal([host], [], scheme=scheme, port=port) is None) == answered


@pytest.mark.parametrize(
    ("host", "origin", "answered"),
    [
        pytest.param("plans.example.org", "https://plans.example.org", True, id="the proxy's name"),
        pytest.param("gateway:8080", "http://gateway:8080", True, id="a second one"),
        pytest.param("127.0.0.1:8501", "https://plans.example.org", True, id="a proxy that writes its own host"),
        pytest.param("127.0.0.1:8501", "http://127.0.0.1:8501", True, id="past the proxy"),
        pytest.param("plans.example.org", "http://plans.example.org", False, id="another scheme"),
        pytest.param("plans.example.org", "https://evil.example", False, id="another site"),
        pytest.param("plans.example.org:8501", None, False, id="another port"),
        pytest.param("x.plans.example.org", None, False, id="a name below"),
    ],
)
def test_behind_a_proxy(host, origin, answered):
    origins = [] if origin is None else [origin]
    assert (refusal([host], origins, scheme="http", port=PORT, public=PROXY) is None) == answered


@given(st.text(st.characters(codec="latin-1")), st.text(st.characters(codec="latin-1")))
def test_nothing_else_is_answered(host, origin):
    own = {name.lower() for name in GOOD_HOSTS}
    assert (refusal([host], [], scheme="http", port=PORT) is None) == (host.lower() in own)
    answered = refusal(["localhost:8501"], [origin], scheme="http", port=PORT) is None
    assert answered == (origin.lower() == "http://localhost:8501")


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://plans.example.org", "https://plans.example.org"),
        ("https://Plans.example.org:443/", "https://plans.example.org"),
        ("http://gateway:8080", "http://gateway:8080"),
        ("http://[fe80::1]:8080", "http://[fe80::1]:8080"),
    ],
)
def test_an_address_is_written_as_a_browser_writes_it(url, origin):
    assert origin_of(url) == origin


@pytest.mark.parametrize(
    "url",
    [
        *("", "plans.example.org", "ftp://x", "https://", "https://x/plans", "https://me@x", "https://x:99999"),
        *("https://*", "https://x y", "http://[::1", "https://x?y", "https://é.org"),
    ],
)
def test_what_is_no_address_is_refused(planner_ui, url):
    with pytest.raises(InputError, match="not an address under which"):
        origin_of(url)
    assert planner_ui("--public-url", url) == 2


@pytest.fixture
def planner_ui(monkeypatch):
    """Call `planner ui` without starting the server."""
    from planner.cli.main import run

    monkeypatch.setattr("os.execv", lambda *_: None)
    monkeypatch.setenv("PLANNER_UI_PUBLIC_URL", "")
    return lambda *arguments: run(["ui", *arguments])


def test_the_option_reaches_the_server_in_its_environment(planner_ui):
    assert planner_ui("--public-url", "https://Plans.example.org:443/", "--public-url", "http://gateway:8080") == 0
    assert public_origins() == PROXY


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        pytest.param(("--listen", "0.0.0.0"), 2, id="the name for other machines is not known"),
        pytest.param(("--listen", "0.0.0.0", "--public-url", "https://plans.example.org"), 0, id="with that name"),
        pytest.param(("--listen", "plans.example.org", "--public-url", "https://plans.example.org"), 2, id="no IP"),
    ],
)
def test_other_machines_are_let_in_by_an_explicit_word(planner_ui, arguments, code):
    assert planner_ui(*arguments) == code


def test_a_wrong_address_in_the_environment_is_refused_before_the_start(planner_ui, monkeypatch):
    monkeypatch.setenv("PLANNER_UI_PUBLIC_URL", "plans.example.org")
    assert planner_ui() == 2


@pytest.mark.parametrize(("kind", "refused"), [("http", "http.response.start"), ("websocket", "websocket.close")])
def test_what_is_refused_never_reaches_the_app(kind, refused):
    """A lifespan has neither host nor origin, and always does."""
    reached, sent = [], []

    async def app(scope, receive, send):
        reached.append(scope["type"])

    async def send(message):
        sent.append(message)

    guard = AddressGuard(app)
    scope = {"type": kind, "scheme": "ws", "server": ("127.0.0.1", PORT), "headers": [(b"host", b"evil.example")]}
    asyncio.run(guard(scope, None, send))
    assert (reached, sent[0]["type"]) == ([], refused)
    asyncio.run(guard(scope | {"headers": [(b"host", b"localhost:8501")]}, None, send))
    asyncio.run(guard({"type": "lifespan"}, None, send))
    assert reached == [kind, "lifespan"]


def asked(port: int, request: str, **headers: str) -> int:
    """Send a request as written, and return the status."""
    lines = [request, *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items()), "", ""]
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall("\r\n".join(lines).encode())
        head = connection.makefile("rb").readline()
    return int(head.split()[1])


def opened(port: int, **headers: str) -> int:
    """Request a WebSocket, and return the status."""
    handshake = {
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec_WebSocket_Version": "13",
        "Sec_WebSocket_Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }
    return asked(port, "GET /_stcore/stream HTTP/1.1", **handshake, **headers)


UPLOAD = "PUT /_stcore/upload_file/session/file HTTP/1.1"
PAGE = "GET / HTTP/1.1"


@pytest.mark.slow
def test_the_running_app_answers_its_own_page(port):
    for name in ("127.0.0.1", "localhost"):
        host = f"{name}:{port}"
        assert asked(port, PAGE, Host=host) == 200
        assert opened(port, Host=host, Origin=f"http://{host}") == 101
        assert opened(port, Host=host) == 101
        assert asked(port, UPLOAD, Host=host, Origin=f"http://{host}", Content_Length="0") not in (200, 204)
        assert asked(port, "OPTIONS /_stcore/upload_file/s/f HTTP/1.1", Host=host, Origin=f"http://{host}") == 204


@pytest.mark.parametrize("path", ["/", "/decide", "/_stcore/health", "/_stcore/host-config", "/media/x", "/static/x"])
def test_the_running_app_refuses_a_foreign_host_everywhere(port, path):
    for host in (f"evil.example:{port}", "evil.example", "127.0.0.1", f"127.0.0.1:{port + 1}"):
        assert asked(port, f"GET {path} HTTP/1.1", Host=host) == 403
    assert asked(port, f"GET {path} HTTP/1.0") == 403
    assert asked(port, f"GET http://evil.example{path} HTTP/1.1", Host="evil.example") == 403


def test_the_running_app_refuses_a_foreign_origin(port):
    host = f"localhost:{port}"
    for origin in ("http://evil.example", f"http://localhost:{port - 1}", f"http://evil.example:{port}", "null"):
        assert opened(port, Host=host, Origin=origin) == 403
        assert asked(port, UPLOAD, Host=host, Origin=origin, Content_Length="0") == 403
        assert asked(port, "POST / HTTP/1.1", Host=host, Origin=origin, Content_Length="0") == 403
    assert opened(port, Host=f"evil.example:{port}", Origin=f"http://evil.example:{port}") == 403
    assert opened(port, Host=f"evil.example:{port}") == 403


@pytest.mark.slow
def test_the_address_of_a_proxy_is_answered_where_it_was_named(tmp_path):
    with served(lambda port: [*by_planner(port), "--public-url", "https://plans.example.org"], tmp_path) as port:
        assert opened(port, Host="plans.example.org", Origin="https://plans.example.org") == 101
        assert opened(port, Host="plans.example.org", Origin="https://evil.example") == 403
        assert asked(port, PAGE, Host="evil.example") == 403


class TestThePagesAlone:
    """`streamlit run planner/ui/app.py` has no guard before it: the page itself shows nothing to a foreign session."""

    @pytest.mark.parametrize(
        ("headers", "shown"),
        [
            pytest.param({"Host": ["localhost:8501"], "Origin": ["http://localhost:8501"]}, True, id="its own"),
            pytest.param({"Host": ["evil.example:8501"], "Origin": ["http://evil.example:8501"]}, False, id="host"),
            pytest.param({"Host": ["localhost:8501"], "Origin": ["http://localhost:8888"]}, False, id="origin"),
        ],
    )
    def test_a_session_is_stopped_before_anything_is_shown(self, monkeypatch, headers, shown):
        import streamlit as st
        from streamlit.runtime.context import StreamlitHeaders
        from streamlit.testing.v1 import AppTest

        sent = StreamlitHeaders([(name, value) for name, values in headers.items() for value in values])
        monkeypatch.setattr(type(st.context), "headers", sent)
        monkeypatch.setattr("planner.ui.ask.page.render", lambda: st.title("the page"))
        page = AppTest.from_file(str(PAGES), default_timeout=60).run()
        assert bool(page.error) != shown
        assert ("the page" in [title.value for title in page.title]) == shown


def test_without_options_it_listens_on_this_machine_alone():
    assert OPTIONS["server.address"] == "127.0.0.1"
    assert command()[4] == str(ROOT / "streamlit_app.py")
    assert Path(PAGES).is_file()


def to_others(port: int) -> list[str]:
    return [*by_planner(port), "--listen", "0.0.0.0", "--public-url", "https://plans.example.org"]


@pytest.mark.slow
def test_who_listens_to_others_answers_the_public_address_alone(tmp_path):
    with served(to_others, tmp_path) as port:
        assert asked(port, PAGE, Host="plans.example.org") == 200
        assert opened(port, Host="plans.example.org", Origin="https://plans.example.org") == 101
        assert asked(port, "GET /_stcore/health HTTP/1.1", Host=f"127.0.0.1:{port}") == 200
        for host in ("evil.example", f"0.0.0.0:{port}", f"plans.example.org:{port}"):
            assert asked(port, PAGE, Host=host) == 403
        assert opened(port, Host="plans.example.org", Origin="https://evil.example") == 403
