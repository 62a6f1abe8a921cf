"""Finds and removes secrets in text. Other packages use `clean`, `clean_data`, `has_secret` and HIDDEN."""

from planner.redact.cleaning import HIDDEN, clean, clean_data, has_secret

__all__ = ["HIDDEN", "clean", "clean_data", "has_secret"]
