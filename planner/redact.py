"""Secrets in text: found by their form, and by the values that this process itself holds, and hidden.

Forms: URLs with a user or password, query parameters and `NAME=value` whose name says it, headers, options of
commands, private keys, and the tokens of providers that begin in a known way. Every pattern begins at a fixed word or
at the edge of one and is bounded, so that a long text takes time in proportion to its length.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from planner.own_secrets import own_secrets

HIDDEN = "[hidden]"

_PASSWORD = r"pass(?:word|wd|phrase|code)?|pwd"
_OTHER = (
    r"secret|token|credentials?|signature|sig|auth|jwt|cookie|session[_-]?id|x-amz-[a-z-]*(?:token|credential|signature)"
    r"|awsaccesskeyid|(?:api|access|secret|private|account|auth|master|license|signing|encryption|shared)[_-]?key(?:[_-]?id)?"
    r"|[a-z0-9]+_key"
)
_WORDS = ("pass", "pwd", "secret", "token", "cred", "sig", "auth", "jwt", "cookie", "session", "key")
_TOKENS = (
    r"(?:AKIA|ASIA|AIDA|AROA|AGPA|ANPA|ANVA|ABIA|ACCA)[A-Za-z0-9][A-Za-z0-9_-]{11,80}",
    r"hf_(?=[a-z]{0,100}[A-Z0-9])[A-Za-z0-9]{10,100}",
    r"gh[pousr]_[A-Za-z0-9]{16,255}",
    r"github_pat_\w{20,255}",
    r"glpat-[\w-]{16,100}",
    r"secret_(?=[\w.-]{0,200}\d)[\w.-]{12,200}",
    r"(?:sk|rk|pk)[-_](?=[\w-]{0,200}\d)[\w-]{16,200}",
    r"xox[a-z]-[\w-]{10,200}",
    r"xapp-[\w-]{10,200}",
    r"npm_[A-Za-z0-9]{30,100}",
    r"pypi-[\w-]{30,300}",
    r"AIza[\w-]{30,60}",
    r"ya29\.[\w.-]{20,300}",
    r"do[op]_v1_[0-9a-f]{40,80}",
    r"eyJ[\w-]{8,8000}\.[\w-]{4,8000}(?:\.[\w-]{0,2000})?",
    r"SG\.[\w-]{16,40}\.[\w-]{16,80}",
    r"rpa_[A-Za-z0-9]{20,80}",
    r"tskey-[\w-]{10,100}",
    r"hv[sb]\.[\w-]{20,300}",
    r"AGE-SECRET-KEY-1[A-Z0-9]{20,100}",
)

_RULES: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (
        ("private key",),
        r"-----BEGIN[A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,20}-----"
        r"(?:(?:[^\"'-]|-(?!-)){0,20000}-----END[A-Z0-9 ]{0,60}-----|[A-Za-z0-9+/=\s\\]{0,20000})",
        HIDDEN,
    ),
    (  # https://user:password@host; a password may hold a slash, a port before a path is none
        ("://",),
        r"(://)(?:[^\s/@'\"<>?#]{0,100}:[^\s/'\"<>]{0,200}|[^\s/:@'\"<>]{0,100}:(?!\d{1,5}/)[^\s'\"@]{1,200})@(?!sha256:)",
        rf"\1{HIDDEN}@",
    ),
    (("://",), r"(://)(?=[^\s/:@]{0,200}\d)[^\s/:@'\"<>?#]{16,200}@", rf"\1{HIDDEN}@"),  # a token in the user's place
    (
        ("@",),
        r"(?<![\w.+-])((?!mailto:)[\w.+-]{1,60}:)(?!//|\d{1,5}/)[^\s@'\"]{3,200}@(?!sha256:)(?=[A-Za-z0-9\[])",
        rf"\1{HIDDEN}@",
    ),
    (
        ("authorization", "x-", "cookie"),
        r"(?i)(?<![\w-])((?:proxy-)?authorization|x-[a-z-]{0,30}(?:key|token|auth)|(?:set-)?cookie)"
        r"(\"?'?\s{0,3}[:=]\s{0,3}\"?'?)[^\r\n\"']{1,4000}",
        rf"\1\2{HIDDEN}",
    ),
    (("bearer", "basic"), r"(?i)\b(bearer|basic)\s{1,3}(?=[\w.~+/=-]{0,100}[\d=])[\w.~+/=-]{8,4000}", rf"\1 {HIDDEN}"),
    (  # --password X, --api-key=X
        _WORDS,
        rf"(?i)(?<![\w-])(--?(?:[a-z]{{1,20}}-){{0,3}}(?:{_PASSWORD}|{_OTHER}))(?:\s{{1,3}}|=)(?!-)[^\s'\"]{{1,500}}",
        rf"\1 {HIDDEN}",
    ),
    (("sshpass",), r"(?i)\b(sshpass\s{1,3}(?:-[a-z]{1,4}\s{1,3}){0,3}-p\s{0,3})(?!\s)\S{1,200}", rf"\1{HIDDEN}"),
    (
        ("-u", "-proxy-auth"),
        r"(?i)(?<![\w-])(--?(?:u|user|proxy-user|proxy-auth)(?:\s{1,3}|=)[^\s:'\"]{1,60}:)[^\s'\"]{1,200}",
        rf"\1{HIDDEN}",
    ),
    (("pass",), r"(?i)\b(pass(?:in|out)?\s{1,3}pass:)\S{1,200}", rf"\1{HIDDEN}"),
    (
        ("machine",),
        r"(?i)\b(machine\s{1,3}\S{1,100}\s{1,3}(?:login\s{1,3}\S{1,100}\s{1,3})?password\s{1,3})\S{1,200}",
        rf"\1{HIDDEN}",
    ),
    (  # NAME=value and "name": "value"
        ("pass", "pwd"),
        rf"(?i)(?<![\w.-])([\w.-]{{0,60}}?(?:{_PASSWORD})[\"']?\s{{0,3}}=\s{{0,3}})"
        r"(\\?[\"'])?(?(2)[^\"'\\\r\n]{1,2000}|[^\s\"'&;,<>)\\]{1,2000})",
        rf"\1\2{HIDDEN}",
    ),
    (
        _WORDS,
        rf"(?i)(?<![\w.-])([\w.-]{{0,60}}?(?:{_OTHER})[\"']?\s{{0,3}}=\s{{0,3}})"
        r"(\\?[\"'])?(?!\d{1,7}(?!\w))(?!true|false|none|null)(?(2)[^\"'\\\r\n]{6,4000}|[^\s\"'&;,<>)\\]{6,4000})",
        rf"\1\2{HIDDEN}",
    ),
    (
        _WORDS,
        rf"(?i)([\"'][\w.-]{{0,60}}?(?:{_PASSWORD}|{_OTHER})\\?[\"']\s{{0,3}}:\s{{0,3}}\\?[\"'])[^\"'\\\r\n]{{4,4000}}",
        rf"\1{HIDDEN}",
    ),
    (  # name: value, where the value is no word of a sentence
        _WORDS,
        rf"(?i)(?<![\w.-])([\w.-]{{0,60}}?(?:{_PASSWORD}|{_OTHER})\s?:\s{{1,3}})"
        r"(?=[^\s\"'&;,]{0,200}[0-9])(?=[^\s\"'&;,]{0,200}[A-Za-z])[^\s\"'&;,<>]{6,4000}",
        rf"\1{HIDDEN}",
    ),
    (
        ("wandb", "weights", "api"),
        r"(?i)((?:wandb|weights|api[ _-]?key)[^\n0-9a-f]{0,3}[^\n]{0,60}?)(?<![0-9a-z])[0-9a-f]{40}(?![0-9a-z])",
        rf"\1{HIDDEN}",
    ),
    ((), rf"(?<![A-Za-z0-9])(?:{'|'.join(_TOKENS)})", HIDDEN),
)
"""Of each: words without which it finds nothing, the pattern, what takes its place. The longer thing comes first."""


def clean(text: str) -> str:
    """Return the text with HIDDEN in the place of every secret; the same object where there is none."""
    for value in own_secrets():
        if value in text:
            text = text.replace(value, HIDDEN)
    lower = text.lower()
    for words, pattern, replacement in _compiled():
        if not words or any(word in lower for word in words):
            text = pattern.sub(replacement, text)
    return text


@cache
def _compiled() -> tuple[tuple[tuple[str, ...], re.Pattern[str], str], ...]:
    """Compiled when first needed: most commands meet no foreign text."""
    return tuple((words, re.compile(pattern), replacement) for words, pattern, replacement in _RULES)


def has_secret(text: str) -> bool:
    """Return whether something in the text would be hidden."""
    return clean(text) != text


def clean_data(value: Any) -> Any:
    """Return plain data (JSON) with every text in it cleaned, keys too."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(key) if isinstance(key, str) else key: clean_data(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(clean_data(one) for one in value)
    return value
