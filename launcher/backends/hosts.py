"""File `hosts.yaml` of the workspace: machines that are reached by SSH, without Kubernetes or a cloud."""

from __future__ import annotations

import re
from typing import Literal, Self

from pydantic import Field, model_validator

from planner.model.base import Count, Frozen, Id, NonNegative, Text
from planner.redact import has_secret
from planner.redact.own_secrets import SECRET_NAME

NODE_VARIABLES = re.compile(
    r"(?!PLANNER_(?:PUSH_TO|RUN_ID|SPEC|NODE_DIR|RESULTS_DIR)$)(?:PLANNER|NCCL|RCCL|GLOO|UCX|UCC|FI|RDMAV|IBV|MLX5|OMPI|PSM2|SHARP|OMP|GOMP|KMP|MKL|OPENBLAS|BLIS|NUMEXPR"
    r"|TORCH|PYTORCH|TORCHINDUCTOR|TORCHDYNAMO|TORCHELASTIC|TRITON|CUDA|CUDNN|CUBLAS|NVTE|NVIDIA|HIP|HSA|ROCR|ROCM"
    r"|MIOPEN|GPU|DS|DEEPSPEED|MALLOC|PYTHON|UV|PIP)_[A-Z0-9_]{1,80}"
    r"|PATH|LD_LIBRARY_PATH|LD_PRELOAD|TMPDIR|LANG|LC_ALL|TZ|CC|CXX|HF_HOME|HF_HUB_OFFLINE|XDG_CACHE_HOME"
    r"|AWS_(?:DEFAULT_)?REGION"
    r"|PYTHON[A-Z]{1,40}|(?:HTTP|HTTPS|NO|ALL)_PROXY|(?:http|https|no|all)_proxy"
)
"""Names of variables that may go to a node: those that the benchmark's libraries read, and none that grants access."""
ALLOWED_NAMES = "PLANNER_*, NCCL_*, GLOO_*, UCX_*, FI_*, OMP_*, MKL_*, TORCH_*, PYTORCH_*, CUDA_*, and a few more"


class Host(Frozen):
    """One machine. Settings in `~/.ssh/config` need not be repeated here."""

    address: Text
    """Name that ssh knows, or an address."""
    inner_address: Text | None = None
    """Address for the other nodes, if it differs."""
    user: Id | None = None
    port: Count | None = None
    key: Text | None = None
    """Path of the private key. The key itself stays where it is."""
    ssh_options: dict[Id, Text] = Field(default_factory=dict)
    folder: Text = "~/planner"
    """Folder of the benchmark and its results on the host."""
    python: Text | None = None
    """Interpreter on the host that has torch; without one, an environment is made in the folder."""
    accelerator: Id | None = None
    """Accelerator id in the catalog, for the record and the plan. The run itself detects the hardware."""
    accelerators: Count | None = None
    usd_per_hour: NonNegative | None = None
    """Value of an hour on this host to you, counted in caps and comparisons."""
    env: dict[Id, str] = Field(default_factory=dict)
    """Variables of the job on the host, e.g. NCCL_SOCKET_IFNAME. Only names in NODE_VARIABLES are allowed."""

    @model_validator(mode="after")
    def _no_secrets(self) -> Self:
        for name, value in self.env.items():
            if SECRET_NAME.search(name) or has_secret(value):
                raise ValueError(
                    f"env: {name} looks like a secret, and it would be written to a file on the host; "
                    "leave it out, and let the host have its own"
                )
            if not NODE_VARIABLES.fullmatch(name):
                raise ValueError(
                    f"env: '{name}' is not among the variables that go to a node ({ALLOWED_NAMES}; "
                    "docs/launching.md); set it on the host itself"
                )
        for name, value in self.ssh_options.items():
            if has_secret(f"{name}={value}") or has_secret(value):
                raise ValueError(
                    f"ssh_options: {name} holds a secret; put it into ~/.ssh/config with a key or an agent, and "
                    "leave it out here"
                )
        for name in ("address", "inner_address", "key", "folder", "python"):
            if has_secret(getattr(self, name) or ""):
                raise ValueError(f"{name}: holds a secret; log in with a key, and name its file under `key`")
        if not re.fullmatch(r"(~/|/)[A-Za-z0-9._/@+-]*", self.folder):
            raise ValueError(f"folder: '{self.folder}' must begin with / or ~/ and hold no spaces")
        return self


class HostsFile(Frozen):
    """Every host by its name."""

    schema_version: Literal[1]
    hosts: dict[Id, Host]
