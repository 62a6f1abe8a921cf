"""Secrets planted wherever a person, a provider or a node may have them: none reaches a file, a machine or a screen."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.launcher.conftest import good_result
from tests.launcher.faults.acts import sky
from tests.launcher.faults.world import H100_AT_LAMBDA, P4D, WorldOfFaults

ENVIRONMENT = (
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "HF_TOKEN",
    "WANDB_API_KEY",
    "GITHUB_TOKEN",
    "OPENAI_API_KEY",
    "MY_DB_PASSWORD",
)
FILES = {
    ".aws/credentials": "[other]\naws_access_key_id = AKIAOTHER000000000\naws_secret_access_key = {}\n",
    ".lambda_cloud/lambda_keys": "api_key = {}\n",
    ".netrc": "machine host login me password {}\n",
    ".git-credentials": "https://me:{}@github.com\n",
    ".cache/huggingface/token": "{}\n",
    ".kube/config": "users: [{{name: a, user: {{token: {}}}}}]\n",
    ".docker/config.json": '{{"auths": {{"r": {{"auth": "{}"}}}}}}\n',
    ".aws/config": "[profile b]\naws_secret_access_key = {}\n",
    ".git/config": '[remote "origin"]\nurl = https://me:{}@host.example/repository.git\n',
    ".sky/config.yaml": "aws:\n  post_provision_runcmd: ['echo {}']\n",
    "elsewhere/keys": "[c]\naws_secret_access_key = {}\n",
}
ADDRESSES = {"HTTPS_PROXY": "http://me:{}@proxy.example:3128", "PIP_INDEX_URL": "https://me:{}@index.example/simple"}
SAID = {
    "the provider's refusal": ("api_status", "AuthFailure: secret_key={} is not valid"),
    "SkyPilot's error at down": ("down", "https://me:{}@host/path was refused"),
}
PEM = "a private key that SkyPilot prints"
NODE = ("the job's log", "the result's error", "the result's environment", "a library's output")
RUNNING = "the log of a job that runs"
REFUSED = {
    "--image": "docker:me:{}@registry.example/image",
    "--store": "s3://me:{}@bucket/prefix",
    "--data": "https://host/data?X-Amz-Signature={}",
}
HOSTS = {
    "env": "hosts: {{a: {{address: h, env: {{NCCL_AUTH_TOKEN: '{}'}}}}}}",
    "ssh_options": "hosts: {{a: {{address: h, ssh_options: {{ProxyCommand: 'sshpass -p {} ssh jump'}}}}}}",
    "address": "hosts: {{a: {{address: 'me:{}@h'}}}}",
    "a key that none has": "hosts: {{a: {{address: h, password: '{}'}}}}",
    "a comment": "hosts: {{a: {{address: h, port: x}}}}  # password: {}",
    "a comment where the file breaks": "hosts: {{a: [}}}}  # password: {}",
}
BARE = (*ADDRESSES, ".aws/config", "elsewhere/keys", ".git-credentials")
"""Secrets that SkyPilot repeats without a word that tells what they are."""
PLACES = (*ENVIRONMENT, *FILES, *ADDRESSES, *SAID, *NODE, *REFUSED, *HOSTS, PEM, RUNNING)
SECRETS = {place: f"cAnary{number:02d}-9/8+7x{number * 7919}" for number, place in enumerate(PLACES)}


def test_there_are_24_at_least():
    assert len(SECRETS) >= 24


def plant(world: WorldOfFaults) -> None:
    """Put each secret where its owner would."""
    for name in ENVIRONMENT:
        world.environment[name] = SECRETS[name]
    for name, text in FILES.items():
        path = world.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.format(SECRETS[name]), encoding="utf-8")
    for name, text in ADDRESSES.items():
        world.environment[name] = text.format(quote(SECRETS[name], safe=""))
    world.environment["AWS_SHARED_CREDENTIALS_FILE"] = str(world.folder / "elsewhere" / "keys")
    world.lambda_key = SECRETS[".lambda_cloud/lambda_keys"]
    environment = {**good_result()["environment"], "HF_TOKEN": SECRETS["the result's environment"]}
    problem = f"cannot read https://me:{SECRETS[NODE[1]]}@host/data"
    world.result = json.dumps(good_result(error=problem, environment=environment)).encode()


@pytest.mark.slow
def test_none_is_found(world: WorldOfFaults):
    plant(world)
    shown = []
    for place, (question, words) in SAID.items():
        sky(question, error=("ValueError", words.format(SECRETS[place])), times=1)(world)
    repeated = " and ".join(SECRETS[place] for place in BARE)
    sky("status", error=("ValueError", f"cannot use {repeated}"), times=1)(world)
    token = f"export WANDB_API_KEY={SECRETS[NODE[0]]}"
    sky("queue", worker={"print": f"HF_TOKEN={SECRETS[NODE[3]]}"}, times=1)(world)
    sky("tail_logs", answer=f"{token}\nPLANNER-DONE run=x rank=0 exit=0\n")(world)
    shown += [world.launch(), world.launch("--json", on=H100_AT_LAMBDA)]
    shown += [world.launch(option, text.format(SECRETS[option])) for option, text in REFUSED.items()]
    for place, text in HOSTS.items():
        (world.home / "hosts.yaml").write_text(f"schema_version: 1\n{text.format(SECRETS[place])}\n", encoding="utf-8")
        shown.append(world.cli("launch", "gpt-305m", "--on", "host/a", "--yes", "--max-usd", "1"))
    (world.home / "hosts.yaml").unlink()
    ids = [entry.launch.run_id for entry in world.entries()]
    assert len(ids) == 2
    commands = [["list", "--json"], ["bill", "--json"], *(["show", run_id, "--json"] for run_id in ids), ["reap"]]
    shown += [world.cli("launches", *command) for command in commands]
    shown += [world.cli("launches", "logs", run_id) for run_id in ids]
    shown.append(world.cli("launch", "gpt-305m", *P4D, "--dry-run", "--json"))
    shown.append(world.cli("evidence", "list", "--json"))
    texts = {f"command {number}": f"{answer.out}{answer.err}".encode() for number, answer in enumerate(shown)}
    texts |= {str(path.relative_to(world.home)): path.read_bytes() for path in files(world.home)}
    texts["SkyPilot's task"] = json.dumps([world.sky.requests, *(vars(machine) for machine in world.machines)]).encode()
    assert leaks(texts) == []
    assert any(name.endswith("job.log") for name in texts)


@pytest.mark.slow
def test_none_is_found_while_it_runs(world: WorldOfFaults):
    key = SECRETS[PEM].replace("-", "")
    lines = f"-----BEGIN RSA PRIVATE KEY-----\nMIIEowIB\n{key}\n-----END RSA PRIVATE KEY-----\nafter the key"
    sky("queue", worker={"print": lines}, times=1)(world)
    sky("tail_logs", answer=f"export WANDB_API_KEY={SECRETS[RUNNING]}\na step\n")(world)
    world.launch(at="RUNNING")
    logs = world.cli("launches", "logs", world.entry().launch.run_id)
    sky_log = next(path.read_text() for path in files(world.home) if path.name == "sky.log")
    assert "a step" in logs.out
    assert "after the key" in sky_log
    assert leaks({"logs": f"{logs.out}{logs.err}".encode(), "sky.log": sky_log.encode()}) == []
    assert key not in sky_log


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def leaks(texts: dict[str, bytes]) -> list[str]:
    """Return the places of a secret: as it is, encoded for a URL or in base64, or cut short."""
    forms = {
        (place, form)
        for place, secret in SECRETS.items()
        for form in (
            secret.encode(),
            base64.b64encode(secret.encode()),
            secret[:14].encode(),
            quote(secret, safe="").encode(),
        )
    }
    return [f"{place} in {name}" for name, text in texts.items() for place, form in sorted(forms) if form in text]
