"""setup.sh on a bare node: real environments and a real pip, which finds small wheels here, not large ones there."""

from __future__ import annotations

import os
import subprocess
import zipfile
from pathlib import Path

import pytest

SETUP = Path(__file__).parents[2] / "workloads" / "setup.sh"
PINNED = {"torch": "2.10.0", "numpy": "2.2.6", "nvidia-ml-py": "13.580.82"}
SMI = """\
#!/bin/sh
printf '%s\n' {capabilities}
"""
PYTHON = """\
#!/bin/sh
# Makes an environment whose interpreter writes down what it is asked to install.
[ "$2" = venv ] || exit {old}
mkdir -p "$3/bin"
printf '#!/bin/sh\necho "$@" >>"%s"\n' "$ASKED" >"$3/bin/python"
chmod +x "$3/bin/python"
"""
UV = """\
#!/bin/sh
for last; do :; done
mkdir -p "$last/bin"
printf '#!/bin/sh\necho uv made me\n' >"$last/bin/python"
chmod +x "$last/bin/python"
"""


def wheel(folder: Path, name: str, version: str) -> None:
    """Make a wheel that installs a module which knows its version."""
    module = name.replace("-", "_")
    info = f"{module}-{version}.dist-info"
    files = {
        f"{module}/__init__.py": f"__version__ = {version!r}\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: a test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / f"{module}-{version}-py3-none-any.whl", "w") as made:
        for path, text in files.items():
            made.writestr(path, text)


def program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


def set_up(node: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run setup.sh as a login on a node would, with what stands in `bin` first on its PATH."""
    environment = {
        "HOME": str(node),
        "PATH": f"{node}/bin:{os.environ['PATH']}",
        "ASKED": str(node / "asked"),
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(node / "wheels"),
    }
    return subprocess.run(
        ["/bin/bash", str(SETUP)], env=environment | more, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_a_bare_node_gets_an_environment_once_and_again_when_more_is_asked_for(tmp_path):
    """One node, one life: installed, left alone, a wheel that is missing, the same again when it is there."""
    for name, version in PINNED.items():
        wheel(tmp_path / "wheels", name, version)
    first = set_up(tmp_path)
    assert first.returncode == 0, first.stderr
    python = (tmp_path / "planner" / "python").read_text(encoding="utf-8").strip()
    said = subprocess.run([python, "-c", "import torch; print(torch.__version__)"], capture_output=True, check=True)
    assert said.stdout.decode().strip() == PINNED["torch"]
    assert python == str(tmp_path / "planner" / "venv" / "bin" / "python")
    again = set_up(tmp_path, PIP_FIND_LINKS="/nowhere")
    assert again.returncode == 0, "nothing is installed twice"
    failed = set_up(tmp_path, PLANNER_DEEPSPEED="1")
    assert failed.returncode != 0
    assert "deepspeed==0.19.8" in failed.stderr
    wheel(tmp_path / "wheels", "deepspeed", "0.19.8")
    assert set_up(tmp_path, PLANNER_DEEPSPEED="1").returncode == 0, "what failed is tried again"
    subprocess.run([python, "-c", "import deepspeed"], check=True)


@pytest.mark.parametrize(
    ("capabilities", "torch"),
    [
        pytest.param("", "2.10.0", id="no card"),
        pytest.param("9.0 9.0", "2.10.0", id="H100"),
        pytest.param("7.0", "2.10.0", id="V100"),
        pytest.param("6.0", "2.7.1", id="P100"),
        pytest.param("8.0 6.1", "2.7.1", id="the oldest of several cards decides"),
        pytest.param("10.0", "2.10.0", id="B200: ten is more than six"),
    ],
)
def test_the_card_decides_which_torch(tmp_path, capabilities, torch):
    """Values of PyTorch's support matrix: the wheels of 2.10 begin at sm_70."""
    program(tmp_path / "bin" / "python3", PYTHON.format(old=0))
    program(tmp_path / "bin" / "nvidia-smi", SMI.format(capabilities=capabilities))
    assert set_up(tmp_path).returncode == 0
    assert f" torch=={torch} numpy==" in (tmp_path / "asked").read_text(encoding="utf-8")


def test_a_python_that_is_too_old_is_passed_over_for_uv(tmp_path):
    program(tmp_path / "bin" / "python3", PYTHON.format(old=1))
    program(tmp_path / ".local" / "bin" / "uv", UV)
    done = set_up(tmp_path, PATH=f"{tmp_path}/bin:/usr/bin:/bin")
    assert done.returncode == 0, done.stderr
    assert "uv made me" in done.stdout


def test_a_node_without_either_says_what_to_install(tmp_path):
    program(tmp_path / "bin" / "python3", PYTHON.format(old=1))
    done = set_up(tmp_path, PATH=f"{tmp_path}/bin:/usr/bin:/bin")
    assert done.returncode == 1
    assert "and no uv: apt-get install python3-venv" in done.stderr
    assert not (tmp_path / "planner" / "python").exists()


def test_an_interpreter_without_torch_is_refused_by_its_name(tmp_path):
    program(tmp_path / "bare", "#!/bin/sh\nexit 1\n")
    done = set_up(tmp_path, PLANNER_PYTHON=str(tmp_path / "bare"))
    assert done.returncode == 1
    assert f"PLANNER_PYTHON={tmp_path}/bare cannot import torch." in done.stderr
