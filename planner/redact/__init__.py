"""Secrets in text, and their removal: what others need is `clean`, `clean_data`, `has_secret` and HIDDEN."""

from planner.redact.cleaning import HIDDEN, clean, clean_data, has_secret

__all__ = ["HIDDEN", "clean", "clean_data", "has_secret"]
