"""Finds the repository or site that a measurement's `source` names, and whether scores hold it out."""

from __future__ import annotations

import hashlib
import re

PAPER = re.compile(r"\barxiv(?:\.org)?[ :./]*(?:abs/|pdf/)?(\d{4}\.\d{4,5})", re.IGNORECASE)
MODEL_HUB = re.compile(
    r"(?:https?://)?(?:hf|hugging ?face)(?:\.co)?[ /:]+(?:(?:model|dataset)s?[ /]+)?([\w.-]+/[\w.-]+)", re.IGNORECASE
)
REPOSITORY = re.compile(r"(?:https?://)?(?:www\.)?(?:github\.com/)?([\w-][\w.-]*)/([\w.-]+)")
"""`owner/name` at the start of a source. What follows names a page, thread or table of the repository."""
DOMAIN = re.compile(r"(?:https?://)?(?:www\.)?([\w-]+(?:\.[\w-]+)*\.(?:com|org|ai|io|net|dev|edu))\b", re.IGNORECASE)
VERSION = re.compile(r"[-_ ]v?\d+(?:\.\d+)+$")
"""Version in a repository's name. Results of every round of a benchmark are one source."""
PAGE_SEPARATOR = re.compile(r"[,:#]| (?:issues?|pr|pull request) \d", re.IGNORECASE)
"""Signs after which a source names a page or thread."""
PAGE_WORDS = frozenset({"readme", "notes", "report", "docs", "documentation", "blog", "paper", "the", "guide"})
"""Words that name a page of a source, not the source."""


def site_of(source: str) -> str:
    """Return the repository or site that the text of a source names.

    It is `arxiv:2205.05198`, `owner/name`, `huggingface.co/owner/name`, or a domain. Any other text is returned in
    lower case, without the words for a page or thread. So `Owner/name issue 7` and `github.com/owner/name` are one
    source.
    """
    named = source.strip()
    if paper := PAPER.search(named):
        return f"arxiv:{paper[1]}"
    if not named.casefold().startswith("huggingface/") and (model := MODEL_HUB.match(named)):
        return f"huggingface.co/{model[1].casefold()}"
    domain = DOMAIN.match(named)
    address = named.casefold().startswith("http") or (domain is not None and "/" in named)
    if domain and address and domain[1].casefold() not in ("github.com", "gist.github.com"):
        return domain[1].casefold()
    if repository := REPOSITORY.match(named):
        return f"{repository[1]}/{VERSION.sub('', repository[2])}".casefold()
    return domain[1].casefold() if domain else _own_words(named)


def _own_words(text: str) -> str:
    head = PAGE_SEPARATOR.split(re.sub(r"\([^)]*\)", " ", text.casefold()))[0]
    words = re.findall(r"[^\W_]+(?:[.+-][^\W_]+)*", head)
    kept = [word for word in words if word not in PAGE_WORDS] or words
    return "-".join(kept) or text.casefold()


def owner_of(site: str) -> str:
    """Return the owner of a repository or site. All sources of one owner are held out together."""
    return site.split("/", maxsplit=1)[0].strip().casefold()


def is_set_aside(site: str) -> bool:
    """Return whether scores hold a source out: if the second hexadecimal digit of its owner's SHA-256 is even."""
    return int(hashlib.sha256(owner_of(site).encode()).hexdigest()[1], 16) % 2 == 0
