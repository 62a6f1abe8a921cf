"""Makes `catalogs/evidence/calibration.json` from the tables beside it: `make calibrate`."""

from __future__ import annotations

import sys
from datetime import date
from pathlib import Path

from planner.use_cases.evidence import calibrate, write_calibration


def main() -> None:
    """Fit, and write; with --check, compare to six digits with what is there."""
    made = calibrate(today=date.today())
    if "--check" in sys.argv:
        from planner.use_cases.evidence import differences

        found = differences(made)
        print("\n".join(found) or "calibration.json is what these tables give, to six digits")
        sys.exit(1 if found else 0)
    print(f"written {write_calibration(made, Path(__file__).parents[1])}: {made.rows} rows")


if __name__ == "__main__":
    main()
