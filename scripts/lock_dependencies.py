"""Write the locks: every package of the image and of CI with its version and the hashes of its files. Run: make lock.

`pip install --require-hashes -r locks/ci.txt` installs exactly these files.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOCKS = ROOT / "locks"
PYTHON = "3.11"
INDEX = "https://pypi.org/simple"
IMAGE_EXTRAS = ("app",)
CI_EXTRAS = ("app", "bench", "mcp", "prices", "launch", "dev")
"""Extras of CI: all except `configs`, whose transformers has an environment of its own."""
IMAGE_ALSO = ("boto3", "streamlit[auth]", "hatchling")
"""Further packages of the image, for runs on S3, logins, and building the planner's wheel."""
LOCKED = {
    "image": (tuple(f"--extra={extra}" for extra in IMAGE_EXTRAS), IMAGE_ALSO),
    "ci": (tuple(f"--extra={extra}" for extra in CI_EXTRAS), ("hatchling", "editables")),
}
"""Dependencies of each lock: those from pyproject.toml, and further ones."""
HEADER = (
    "# Written by make lock from pyproject.toml and constraints.txt. pip install --require-hashes -r locks/{}.txt\n"
)
ENTRY = re.compile(r"^(?P<name>[a-z0-9][a-z0-9._-]*)==(?P<version>[^\s;\\]+)(?: ; (?P<marker>[^\\\n]+?))? \\$", re.M)


def main() -> int:
    """Write every lock."""
    uv = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
    if uv is None:
        print("uv is needed, which finds versions and hashes: make lock installs it", file=sys.stderr)
        return 2
    for name, (chosen, also) in LOCKED.items():
        command = [
            *(uv, "pip", "compile", "pyproject.toml", "-", *chosen, "--constraint=constraints.txt"),
            *(f"--python-version={PYTHON}", "--universal", "--generate-hashes", f"--default-index={INDEX}"),
            *("--no-header", "--no-annotate", "--no-emit-index-url", "--no-config", "--quiet"),
        ]
        given = "\n".join(also)
        done = subprocess.run(command, cwd=ROOT, input=given, stdout=subprocess.PIPE, text=True, check=True)
        path = LOCKS / f"{name}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text(HEADER.format(name) + done.stdout, encoding="utf-8")
        print(f"{path.relative_to(ROOT)}: {len(versions(name))} packages")
    return 0


def versions(name: str) -> dict[str, str]:
    """Return the version of every package of a lock, by its normalized name."""
    text = (LOCKS / f"{name}.txt").read_text(encoding="utf-8")
    return {found["name"]: found["version"] for found in ENTRY.finditer(text)}


if __name__ == "__main__":
    sys.exit(main())
