"""Values at which readers stumble."""

from __future__ import annotations

from typing import Any

SPECIAL = [
    "", "0", "-1", "1", "2", "-0", "0.0000001", "1e-320", "0.5", "1.5", "1e9", "1e12", "1000000000000", "1e15",
    "1e18", "1000000000000000000", "1e30", "1e300", "1e308", "1e400", "-1e400", "9" * 30, "9" * 400, "9" * 5000,
    "1_000", "0x10", "0o17", "1:30:00", "\uff11\uff12", "\u0663", "\u00bd", ".nan", "nan", "NaN", ".inf", "inf",
    "-.inf", "Infinity", "-Infinity", "null", "~", "true", "no", "[]", "{}", "[[]]", "[1, 2]", "{a: 1}", "''", '""',
    "0001-01-01", "9999-12-31", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00+14:00", "2026-02-30", "2026-11-21", "x",
    "x" * 300, "x" * 200_000, "\0", "\x1b[2J", "\x07", "\u2028", "\ufeff", "🙂", "é" * 50, "*a", "&a x", "<<",
    "!!int ten", "!!binary aGk=", "!!set {a, b}", "!!timestamp 1", "? a", "- a", "=", "%s", "{0}",
    "../../../etc/passwd", "/", ".", "..", "/dev/zero", "C:\\x", "a/b", "s3://bucket/prefix", "none", "auto",
    "latest", "USD", "EUR", "3,06", "$3", "'", '"', '"\\ud800"', "#", "|", ">", "@", "`", "on_demand", "spot",
    "H100", "CPU", "2147483648", "4294967296", "9223372036854775808", "18446744073709551616", "1e19", "-5e-324",
    "100000",
]  # fmt: skip
"""What stands in the place of a word or a cell."""
VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 2, 7, 10**6, 10**12, 10**18, 10**30, 10**400, 0.5, -0.5, 1e-300, 1e9, 1e18, 1e300,
    float("inf"), float("-inf"), float("nan"), "", "x", "x" * 1000, "0001-01-01", "9999-12-31", "9999-12-31T23:59:59Z",
    "\0", "\x1b[31m", "🙂", [], {}, [1, 2], [None], {"a": 1}, [[]], "auto", "none", "nan",
    list(range(50)), [1] * 2000, {"value": 1, "low": 0, "high": 2, "unit": "h", "basis": "assumed", "source": "x"},
]  # fmt: skip
"""What stands in the place of a value."""
