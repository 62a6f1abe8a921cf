"""Units of time: each constant once. A year is the mean year of 365.25 days, save where a seller states another.

AWS sells a year of 365 days and a month of 730 hours (8,760 / 12): `AWS_HOURS_PER_YEAR` here, and
`AWS_HOURS_PER_MONTH` in `launcher/plan/guard.py` (the launcher imports no arithmetic of the planner).
"""

from __future__ import annotations

SECONDS_PER_HOUR = 3600.0
HOURS_PER_DAY = 24.0
MONTHS_PER_YEAR = 12.0
DAYS_PER_YEAR = 365.25
"""Days of the mean Julian year."""
DAYS_PER_MONTH = DAYS_PER_YEAR / MONTHS_PER_YEAR
"""Days of the mean month: 30.4375."""
HOURS_PER_YEAR = DAYS_PER_YEAR * HOURS_PER_DAY
"""Hours of the mean year: 8,766."""
HOURS_PER_MONTH = HOURS_PER_YEAR / MONTHS_PER_YEAR
"""Hours of the mean month: 730.5."""
AWS_HOURS_PER_YEAR = 8760.0
"""Hours of a year of 365 days.

Source: `durationSeconds` of a 1-year offering is 31,536,000 in the AWS Savings Plans API.
"""
