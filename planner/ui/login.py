"""Asks visitors to log in (Streamlit's OpenID Connect) if the server's secrets.toml has a table `[auth]`."""

from __future__ import annotations

import streamlit as st
from streamlit.errors import StreamlitSecretNotFoundError

from planner.present.page.words import Words


def stop_until_logged_in(words: Words) -> None:
    """Show only a login button until the visitor is logged in. Do nothing if the server has no login."""
    if not _has_login():
        return
    if st.user.get("is_logged_in"):
        return
    st.markdown(f"#### {words('Training planner')}")
    st.button(words("Log in"), on_click=st.login, type="primary")
    st.stop()


def _has_login() -> bool:
    try:
        return "auth" in st.secrets
    except StreamlitSecretNotFoundError:
        return False
