"""Origin of a measurement: the repository or site in a source's words, and which of them are held out."""

from __future__ import annotations

import hashlib
import re

PAPER = re.compile(r"\barxiv(?:\.org)?[ :./]*(?:abs/|pdf/)?(\d{4}\.\d{4,5})", re.IGNORECASE)
MODEL_HUB = re.compile(
    r"(?:https?://)?(?:hf|hugging ?face)(?:\.co)?[ /:]+(?:(?:model|dataset)s?[ /]+)?([\w.-]+/[\w.-]+)", re.IGNORECASE
)
REPOSITORY = re.compile(r"(?:https?://)?(?:www\.)?(?:github\.com/)?([\w-][\w.-]*)/([\w.-]+)")
"""`owner/name` at the start: what follows says which page, thread or table of it."""
DOMAIN = re.compile(r"(?:https?://)?(?:www\.)?([\w-]+(?:\.[\w-]+)*\.(?:com|org|ai|io|net|dev|edu))\b", re.IGNORECASE)
VERSION = re.compile(r"[-_ ]v?\d+(?:\.\d+)+$")
"""Version in a repository's name. Results of every round of a benchmark are one source."""
PLACE = re.compile(r"[,:#]| (?:issues?|pr|pull request) \d", re.IGNORECASE)
PAGES = frozenset({"readme", "notes", "report", "docs", "documentation", "blog", "paper", "the", "guide"})
"""Words for a page of a source, not for the source."""


def site_of(source: str) -> str:
    """Return the repository or site that a source's words name.

    That is `arxiv:2205.05198`, `owner/name`, `huggingface.co/owner/name`, or a domain; otherwise its own words in lower
    case, without those for a page or thread. So `Owner/name issue 7` and `github.com/owner/name` are one source.
    """
    said = source.strip()
    if paper := PAPER.search(said):
        return f"arxiv:{paper[1]}"
    if not said.casefold().startswith("huggingface/") and (model := MODEL_HUB.match(said)):
        return f"huggingface.co/{model[1].casefold()}"
    domain = DOMAIN.match(said)
    address = said.casefold().startswith("http") or (domain is not None and "/" in said)
    if domain and address and domain[1].casefold() not in ("github.com", "gist.github.com"):
        return domain[1].casefold()
    if repository := REPOSITORY.match(said):
        return f"{repository[1]}/{VERSION.sub('', repository[2])}".casefold()
    return domain[1].casefold() if domain else _own_words(said)


def _own_words(said: str) -> str:
    head = PLACE.split(re.sub(r"\([^)]*\)", " ", said.casefold()))[0]
    words = re.findall(r"[^\W_]+(?:[.+-][^\W_]+)*", head)
    kept = [word for word in words if word not in PAGES] or words
    return "-".join(kept) or said.casefold()


def owner_of(site: str) -> str:
    """Return the owner of a repository or site. All of one owner's are held out together."""
    return site.split("/", maxsplit=1)[0].strip().casefold()


def is_set_aside(site: str) -> bool:
    """Return whether a source is held out for scores: the second hexadecimal digit of SHA-256 of its owner is even."""
    return int(hashlib.sha256(owner_of(site).encode()).hexdigest()[1], 16) % 2 == 0
