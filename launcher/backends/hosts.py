"""The file `hosts.yaml` of the workspace: machines that are reached by SSH, without Kubernetes or a cloud."""

from __future__ import annotations

import re
from typing import Literal, Self

from pydantic import Field, model_validator

from planner.model.base import Count, Frozen, Id, NonNegative, Text

SECRET = re.compile(r"SECRET|TOKEN|PASSWORD|PASSWD|CREDENTIAL|(^|_)KEY(_|$)|(^|_)PRIVATE(_|$)", re.IGNORECASE)


class Host(Frozen):
    """One machine. What stands in `~/.ssh/config` need not be repeated here."""

    address: Text
    """A name that ssh knows, or an address."""
    inner_address: Text | None = None
    """As the other nodes reach it, where that differs."""
    user: Id | None = None
    port: Count | None = None
    key: Text | None = None
    """Path of the private key; the key itself stays where it is."""
    ssh_options: dict[Id, Text] = Field(default_factory=dict)
    folder: Text = "~/planner"
    """Where the benchmark and its results lie on the host."""
    python: Text | None = None
    """An interpreter there that has torch; otherwise an environment is made in the folder."""
    accelerator: Id | None = None
    """The catalog's id, for the record and the plan; the run itself finds out what there is."""
    accelerators: Count | None = None
    usd_per_hour: NonNegative | None = None
    """What an hour of it is worth to you, where a cap or a comparison should count it."""
    env: dict[Id, str] = Field(default_factory=dict)
    """Variables of the job there, e.g. NCCL_SOCKET_IFNAME."""

    @model_validator(mode="after")
    def _no_secrets(self) -> Self:
        for name in self.env:
            if SECRET.search(name):
                raise ValueError(f"env: {name} looks like a secret, and it would be written to a file on the host")
            if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
                raise ValueError(f"env: '{name}' is no name of a variable")
        if not re.fullmatch(r"(~/|/)[A-Za-z0-9._/@+-]*", self.folder):
            raise ValueError(f"folder: '{self.folder}' must begin with / or ~/ and hold no spaces")
        return self


class HostsFile(Frozen):
    """Every host by its name."""

    schema_version: Literal[1]
    hosts: dict[Id, Host]
