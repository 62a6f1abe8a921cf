"""Secrets known by their context: in a URL, a header, the options of a tool, a file of credentials."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from planner.redact.randomness import is_mixed
from planner.redact.views import View

_RULES: tuple[tuple[tuple[str, ...], str, int], ...] = (
    # https://user:password@host; a password may hold a slash, a port before a path is none
    (
        ("://",),
        r"://(?:[^\s/:@'\"<>?#]{0,100}:[^\s/'\"<>]{0,200}|[^\s/:@'\"<>]{0,100}:(?!\d{1,5}/)[^\s'\"@]{1,200})@(?!sha256:)",
        3,
    ),
    # a token in the user's place
    (("://",), r"://(?=[^\s/:@]{0,200}\d)[^\s/:@'\"<>?#]{16,200}@", 3),
    # a token of Airtable, whose beginning is that of many words
    (("pat",), r"\bpat(?P<secret>[A-Za-z0-9]{14}\.[0-9a-f]{20,64})", 0),
    # Authorization: Bearer ..., X-Api-Key: ...
    (
        ("authorization", "x-", "cookie"),
        r"(?<![\w-])(?:(?:proxy-)?authorization|x-[a-z-]{0,30}(?:key|token|auth)|(?:set-)?cookie)"
        r"(?:[\"'`]{0,2}\s{0,40}[:=|]|[\"'`]\s{0,40},)\s{0,40}(?:[bfru]{0,2}[\"'`]){0,2}(?P<secret>[^\r\n\"'`]{1,4000})",
        0,
    ),
    (
        ("bearer", "basic", "apikey"),
        r"\b(?:bearer|basic|apikey)[:=]?[\s|\u2502]{1,60}[\"'`]?"
        r"(?P<secret>(?=[\w.~+/=-]{0,100}[\d=])[\w.~+/=-]{16,4000})",
        0,
    ),
    (("bearer",), r"\bbearer[:=]?\s{1,40}(?P<secret>(?=[\w.~+/=-]{0,100}[\d=])[\w.~+/=-]{8,4000})", 0),
    (("sshpass",), r"\bsshpass\s{1,3}(?:-[a-z]{1,4}\s{1,3}){0,3}-p\s{0,3}(?P<secret>\S{1,200})", 0),
    # curl -u me:password, ncat --proxy-auth me:password
    (
        ("-u", "-proxy-auth"),
        r"(?<![\w-])-{1,2}(?:u|user|proxy-user|proxy-auth)(?:\s{1,3}|=)[\"']?[^\s:'\"]{1,60}:(?!//)(?P<secret>[^\s'\"]{1,200})",
        0,
    ),
    (
        ("--user", "--proxy-"),
        r"--(?:user|proxy-user|proxy-auth)(?:\s{1,3}|=)[\"']?[^\s:'\"]{1,60}:(?!//)(?P<secret>[^\s'\"]{1,200})",
        0,
    ),
    # mysql -u root -pWORD, docker login -p WORD, redis-cli -a WORD
    (
        ("mysql", "mariadb", "mongo"),
        r"\b(?:mysql|mariadb|mongo)[\w-]{0,20}\s[^\n|;]{0,200}?(?<=\s)-p\s?(?P<secret>[^\s\"']{3,200}|\"[^\"\n]{1,200}|'[^'\n]{1,200})",
        0,
    ),
    (
        (" login",),
        r" login\s[^\n|;]{0,200}?(?<=\s)(?:-p|--password)[\s=]\s?"
        r"(?P<secret>[^\s\"']{3,200}|\"[^\"\n]{1,200}|'[^'\n]{1,200})",
        0,
    ),
    (("redis-cli",), r"redis-cli\s[^\n|;]{0,200}?(?<=\s)(?:-a|--pass)\s{1,3}(?P<secret>\S{1,200})", 0),
    (("identified by",), r"identified\s{1,3}by\s{1,3}(?:password\s{1,3})?[\"'](?P<secret>[^\"'\n]{1,200})", 0),
    (("pass:",), r"(?<![\w-])pass:(?P<secret>\S{1,200})", 0),
    # .netrc, on one line or on three
    (
        ("machine", "default"),
        r"\b(?:machine\s{1,8}\S{1,100}|default)\s{1,8}(?:login\s{1,8}\S{1,100}\s{1,8})?"
        r"(?:account\s{1,8}\S{1,100}\s{1,8})?password\s{1,8}(?P<secret>\S{1,300})",
        0,
    ),
    # .pgpass: host:port:database:user:password
    ((":5432:",), r":5432:[^\s:]{1,60}:[^\s:]{1,60}:(?P<secret>[^\s]{1,200})", 0),
    # kaggle.json, and other files with a bare "key"
    (('"key"', "'key'"), r"[\"']key[\"']\s{0,3}:\s{0,3}[\"'](?P<secret>(?=[\w+/=-]{0,100}\d)[\w+/=-]{16,4000})", 0),
    # wandb: 40 hexadecimal digits behind its name or a question for a key
    (
        ("wandb", "weights & biases", "weights and biases", "api key", "api_key", "api-key", "apikey"),
        r"[^\n]{0,80}?(?<![0-9a-z/@])(?<!commit )(?<!revision )(?<!sha )(?P<secret>[0-9a-f]{40})(?![0-9a-z])",
        0,
    ),
    (
        ("api key", "api_key", "api-key", "hit enter"),
        r"[^\n]{0,120}\n[ \t]{0,40}(?:[\w.:/ ]{0,30}: ?)?(?P<secret>(?<![0-9a-z])[0-9a-f]{40}(?![0-9a-z]))",
        0,
    ),
    # aws configure: AWS Access Key ID [None]:, then the secret one
    (
        ("secret access key", "secretaccesskey", "secretkey", "sessiontoken", "session token"),
        r"(?:secret ?access ?key|secretkey|session ?token)[\s\"'`=:|\u2502\u2503,\\]{0,10}(?:\[[^\]\n]{0,40}\])?"
        r"[\s\"'`=:>|\u2502\u2503,\\-]{1,60}(?P<secret>[A-Za-z0-9+/=]{16,4000})",
        0,
    ),
    # access tokens of Facebook: application|secret
    (("|", "%7c"), r"(?:\||%7c)(?P<secret>[\w-]{12,40})(?![\w-])", -17),
)
"""Rules: lower-case words where it may begin, the pattern from there, and the offset of the span.

The span is the group `secret`, or from the offset behind the beginning to one before the end. The patterns are bounded
and tried only at their words, so that the time is proportional to the length of the text.
"""
_FACEBOOK = re.compile(r"(?<!\d)\d{15,16}$")
_LOOK_BACK = 300
"""Characters before an `@` or `...` that are examined. Their patterns read backwards, in one pass."""
_RUN_BEFORE = re.compile(r"[^\s@'\"]{0,300}")
_USER = re.compile(r"(?:.*?[^\w.+-])?(?!mailto:)[\w.+-]{1,60}:(?!//|\d{1,5}/)(?P<secret>.{3,200})", re.DOTALL)
_CUT_OFF = re.compile(r"(?P<secret>[^\s@'\":/]{8,200})(?::[\w.+-]{0,60}(?![\w.+-])|//:)")
_SUM = re.compile(r"(?:sha\d{1,3}|md5|digest|commit|rev|blake\w{0,3}):$", re.IGNORECASE)
"""Text before a check sum, which docker and git also truncate."""
_HOST = re.compile(r"(?!sha256:)(?:\[|(?:[A-Za-z]|\d{1,3}\.\d)[A-Za-z0-9.-]{0,250}(?![A-Za-z0-9._-]))")


def secrets_in_context(view: View) -> Iterator[tuple[int, int]]:
    """Yield the positions of secrets that are known by their context."""
    for words, pattern, offset in _compiled():
        for word in words:
            at = view.lower.find(word)
            while at >= 0:
                span = _span(view, pattern, at, offset)
                if span is not None:
                    yield span
                at = view.lower.find(word, at + len(word))
    yield from _before_hosts(view)
    yield from _cut_off(view)


def _span(view: View, pattern: re.Pattern[str], at: int, offset: int) -> tuple[int, int] | None:
    found = pattern.match(view.text, at)
    if found is None:
        return None
    if offset > 0:
        return at + offset, found.end() - 1
    if offset < 0:
        front = _FACEBOOK.search(view.text, max(0, at + offset), at)
        return (front.start(), found.end()) if front else None
    return found.span("secret")


def _before_hosts(view: View) -> Iterator[tuple[int, int]]:
    """Yield passwords in `user:password@host` without a scheme: of registries, brokers, rsync."""
    at = view.text.find("@")
    while at >= 0:
        if _HOST.match(view.text, at + 1):
            run = _RUN_BEFORE.match(view.text[max(0, at - _LOOK_BACK) : at][::-1])
            start = at - (run.end() if run else 0)
            colon = view.text.find(":", start, at)
            found = _USER.fullmatch(view.text, start, at) if colon >= 0 else None
            if found is not None:
                yield found.span("secret")
        at = view.text.find("@", at + 1)


def _cut_off(view: View) -> Iterator[tuple[int, int]]:
    """Yield the text after `user:` or `://` up to `...`: a log cut the host off."""
    at = view.text.find("...")
    while at >= 0:
        found = _CUT_OFF.match(view.text[max(0, at - _LOOK_BACK) : at][::-1])
        if found is not None and is_mixed(found["secret"]):
            start = at - found.end("secret")
            if not _SUM.search(view.text[max(0, start - 20) : start]):
                yield start, at
        at = view.text.find("...", at + 3)


@cache
def _compiled() -> tuple[tuple[tuple[str, ...], re.Pattern[str], int], ...]:
    """Compile on first use: most commands meet no foreign text."""
    return tuple((words, re.compile(pattern, re.IGNORECASE), offset) for words, pattern, offset in _RULES)
