"""Lists the pages of the app. It reads and plans; it spends nothing and needs no credential.

If the server's secrets.toml has a table `[auth]`, visitors log in with Streamlit's own login (OpenID Connect).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from html import escape

import streamlit as st
from streamlit.errors import StreamlitSecretNotFoundError

from planner.adapters.user_text import secrets_noted
from planner.present.page.templating import style
from planner.present.page.words import LANGUAGES, Words
from planner.ui.address_guard import public_origins, refusal
from planner.ui.answer.parts import html
from planner.ui.ask import page as ask_page
from planner.ui.campaign import page as campaign_page
from planner.ui.evidence import page as evidence_page
from planner.ui.own import page as own_page
from planner.ui.prices import page as prices_page
from planner.ui.state import CHOICE, LANGUAGE, chosen_words

SECRETS_NOTED = "secrets"
"""Key of the visit's warnings about secrets."""


def main() -> None:
    """Show the page of the address."""
    st.set_page_config(page_title="Training planner", layout="wide", initial_sidebar_state="collapsed")
    _stop_for_another_page()
    words = chosen_words()
    stop_until_logged_in(words)
    st.html(f"<style>{style('page.css', 'app.css')}</style>")
    pages = [
        st.Page(ask_page.render, title=words("Ask"), default=True),
        st.Page(ask_page.render, title=words("Ask"), url_path="ask", visibility="hidden"),  # a default has no path
        st.Page(campaign_page.render, title=words("Campaign"), url_path="campaign"),
        st.Page(own_page.render, title=words("Own or rent"), url_path="own-or-rent"),
        st.Page(evidence_page.render, title=words("Evidence"), url_path="evidence"),
        st.Page(prices_page.render, title=words("Prices"), url_path="prices"),
    ]
    page = st.navigation(pages, position="top")
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.markdown(f"#### {words('Training planner')}")
        st.session_state.setdefault(CHOICE, words.language)
        if len(LANGUAGES) > 1:
            st.segmented_control(
                words("Language"), list(LANGUAGES), key=CHOICE, format_func=LANGUAGES.__getitem__, required=True,
                label_visibility="collapsed", width="content",
            )  # fmt: skip
    if words.language != "en" and st.query_params.get(LANGUAGE) != words.language:
        st.query_params[LANGUAGE] = words.language
    with _secrets_shown(words):
        page.run()


def _stop_for_another_page() -> None:
    """Refuse a session of another address, because this file may run without the address guard."""
    headers = st.context.headers
    scheme = "https" if st.get_option("server.sslCertFile") else "http"
    hosts, origins, port = headers.get_all("Host"), headers.get_all("Origin"), int(st.get_option("server.port"))
    if hosts and (why := refusal(hosts, origins, scheme=scheme, port=port, public=public_origins())):
        st.error(why)
        st.stop()


@contextmanager
def _secrets_shown(words: Words) -> Iterator[None]:
    """Show the warnings about secrets of this visit above a page.

    A text is cleaned once, when it enters, and later runs of the page find no secret. So the visit keeps the warnings.
    """
    place = st.container()
    kept: list[str] = st.session_state.setdefault(SECRETS_NOTED, [])
    with secrets_noted() as found:
        try:
            yield
        finally:
            kept.extend(sentence for sentence in found if sentence not in kept)
    with place:
        for sentence in kept:
            html(f'<div class="problem" role="alert"><p>{words("Warning")}: {escape(sentence)}</p></div>')


if __name__ == "__main__":
    main()


def stop_until_logged_in(words: Words) -> None:
    """Show only a login button until the visitor is logged in. Do nothing if the server has no login."""
    if not _asked_for():
        return
    if st.user.get("is_logged_in"):
        return
    st.markdown(f"#### {words('Training planner')}")
    st.button(words("Log in"), on_click=st.login, type="primary")
    st.stop()


def _asked_for() -> bool:
    try:
        return "auth" in st.secrets
    except StreamlitSecretNotFoundError:
        return False
