"""Streamlit's own login: only the server's secrets switch it on, and then nothing is shown before it."""

from __future__ import annotations

import pytest

pytest.importorskip("streamlit")

import streamlit as st
from streamlit.testing.v1 import AppTest

AUTH = {"redirect_uri": "https://plans.example.org/oauth2callback", "cookie_secret": "x", "client_id": "planner"}


def page() -> None:
    import streamlit as st

    from planner.present.page.words import Words
    from planner.ui.app import stop_until_logged_in

    stop_until_logged_in(Words())
    st.text("the answer")


def shown(secrets: dict[str, object] | None) -> AppTest:
    app = AppTest.from_function(page, default_timeout=30)
    if secrets is not None:
        for name, value in secrets.items():
            app.secrets[name] = value
    app.run()
    assert not app.exception
    return app


@pytest.mark.parametrize("secrets", [None, {"something": "else"}])
def test_without_auth_in_the_secrets_nobody_is_asked(secrets, monkeypatch) -> None:
    app = shown(secrets)
    assert [text.value for text in app.text] == ["the answer"]
    assert not app.button


def test_who_is_not_logged_in_sees_a_button_alone() -> None:
    app = shown({"auth": AUTH})
    assert [button.label for button in app.button] == ["Log in"]
    assert not app.text


def test_who_is_logged_in_sees_the_page(monkeypatch) -> None:
    monkeypatch.setattr(st, "user", {"is_logged_in": True})
    app = shown({"auth": AUTH})
    assert [text.value for text in app.text] == ["the answer"]
