"""Secrets of this machine are hidden wherever a library repeats it, without any context."""

from __future__ import annotations

import base64
import json
import os
import random
import string

import pytest

from planner.redact import HIDDEN, clean
from planner.redact.credential_files import FILE_LIMIT_BYTES, secrets_in_file
from planner.redact.own_secrets import own_secrets


def drawn(seed: int, length: int = 32) -> str:
    return "".join(random.Random(seed).choices(string.ascii_letters + string.digits, k=length))


ONE, TWO = drawn(1), drawn(2)
WORD = "plain-words-only-here"
"""A secret that no rule would find by its form."""
FILES = {
    "aws": (".aws/credentials", f"[default]\naws_access_key_id = AKIA0000\naws_secret_access_key = {WORD}\n"),
    "aws session": (".aws/credentials", f"[default]\naws_session_token={WORD}\n"),
    "aws sso": (".aws/sso/cache/0a1b.json", json.dumps({"accessToken": WORD, "region": "us-east-1"})),
    "aws sso client": (".aws/sso/cache/0a1b.json", json.dumps({"clientSecret": WORD})),
    "aws assumed role": (".aws/cli/cache/1.json", json.dumps({"Credentials": {"SecretAccessKey": WORD}})),
    "gh": (".config/gh/hosts.yml", f"github.com:\n    user: me\n    oauth_token: {WORD}\n    git_protocol: https\n"),
    "kaggle": (".kaggle/kaggle.json", json.dumps({"username": "me", "key": WORD})),
    "kaggle token": (".kaggle/access_token", f"{WORD}\n"),
    "ngc": (".ngc/config", f"[CURRENT]\napikey = {WORD}\nformat_type = ascii\norg = lab\n"),
    "gcloud": (
        ".config/gcloud/application_default_credentials.json",
        json.dumps({"client_id": "1.apps", "refresh_token": WORD, "type": "authorized_user"}),
    ),
    "gcloud account": (
        ".config/gcloud/legacy_credentials/me@lab.example/adc.json",
        json.dumps({"private_key": f"-----BEGIN PRIVATE KEY-----\n{WORD}\n-----END PRIVATE KEY-----\n"}),
    ),
    "streamlit": (".streamlit/secrets.toml", f'greeting = "{WORD}"\n[db]\nhost = "localhost"\n'),
    "npm": (".npmrc", f"registry=https://r.example/\n//r.example/:_authToken={WORD}\n"),
    "postgres": (".pgpass", f"db.example:5432:runs:me:{WORD}\n"),
    "pypi": (".pypirc", f"[pypi]\nusername = __token__\npassword = {WORD}\n"),
    "netrc": (".netrc", f"machine api.example\n  login me\n  password {WORD}\n"),
    "netrc in one line": (".netrc", f"machine api.example login me password {WORD}\n"),
    "docker": (".docker/config.json", json.dumps({"auths": {"r.example": {"auth": WORD}}})),
    "docker identity": (".docker/config.json", json.dumps({"auths": {"r": {"identitytoken": WORD}}})),
    "docker password": (
        ".docker/config.json",
        json.dumps({"auths": {"r": {"auth": base64.b64encode(f"me:{WORD}".encode()).decode()}}}),
    ),
    "hugging face": (".cache/huggingface/token", WORD),
    "hugging face, several": (".cache/huggingface/stored_tokens", f"[mine]\nhf_token = {WORD}\n"),
    "wandb": (".config/wandb/settings", f"[default]\nentity = lab\napi_key = {WORD}\n"),
    "lambda": (".lambda_cloud/lambda_keys", f"api_key = {WORD}\n"),
    "vast": (".config/vastai/vast_api_key", f"{WORD}\n"),
    "runpod": (".runpod/config.toml", f'[default]\napi_key = "{WORD}"\n'),
    "git": (".git-credentials", f"https://me:{WORD}@git.example\n"),
    "kubernetes": (".kube/config", f"users:\n- name: me\n  user:\n    token: {WORD}\n"),
    "kubernetes key": (".kube/config", f"users:\n- user:\n    client-key-data: {WORD}\n"),
    "pip": (".config/pip/pip.conf", f"[global]\nindex-url = https://me:{WORD}@index.example/simple\n"),
    "azure": (".azure/msal_token_cache.json", json.dumps({"RefreshToken": {"a": {"secret": WORD}}})),
    "terraform": (".terraform.d/credentials.tfrc.json", json.dumps({"credentials": {"h": {"token": WORD}}})),
    "mysql": (".my.cnf", f"[client]\nuser = me\npassword = {WORD}\n"),
    "cut off": (".docker/config.json", '{"auths": {"r": {"identitytoken": "' + WORD + '"'),
}
NAMES = (
    "AWS_SECRET_ACCESS_KEY", "HF_TOKEN", "WANDB_API_KEY", "DB_PASSWORD", "MYSQL_PWD", "GH_PAT", "OPENAI_KEY",
    "SERVICE_AUTH", "SSH_PASSPHRASE", "lambda_api_key", "STORAGE_CONNECTION_STRING", "SESSION_JWT", "CLIENT_SECRET",
    "NGCAPIKEY", "SMTP_PASS", "GOOGLE_CREDENTIALS", "SIGNING_KEY", "CI_JOB_TOKEN", "REGISTRY_TOKENS",
)  # fmt: skip
NO_SECRETS = {
    "PYTHON_SHA256": "0123456789abcdef" * 4,
    "GIT_COMMIT": "0123456789abcdef01234567aa",
    "PLANNER_RUN": "20261123-140818-0a1b2c3d4e",
    "SLURM_JOB_ID": "a1b2c3d4e5f6a7b8c9d0e1f2",
    "HOSTNAME": "trainer-7d9f8b6c5d-x2x4z9a",
    "MODEL": "meta-llama/Llama-3.1-8B-Instruct",
    "CUDA_VISIBLE_DEVICES": "GPU-0a1b2c3d-1a2b-3c4d-5e6f-0a1b2c3d4e5f",
    "LANGUAGE": "en_US.UTF-8:en_GB.UTF-8",
    "KUBERNETES_PORT": "tcp://10.96.0.1:443",
}


@pytest.fixture
def home(monkeypatch, tmp_path):
    for name in list(os.environ):
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(home, name, text):
    place = home / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")
    return place


@pytest.mark.parametrize("case", FILES)
def test_a_token_in_the_file_of_a_tool_is_hidden(home, case):
    name, text = FILES[case]
    put(home, name, text)
    assert clean(f"refused {WORD} by x") == f"refused {HIDDEN} by x"


@pytest.mark.parametrize("name", NAMES)
def test_a_variable_whose_name_says_so_is_hidden(home, monkeypatch, name):
    monkeypatch.setenv(name, WORD)
    assert clean(f"refused {WORD}.") == f"refused {HIDDEN}."


def test_a_variable_with_a_drawn_value_is_hidden_whatever_its_name(home, monkeypatch):
    monkeypatch.setenv("LAB_ACCESS", ONE)
    assert clean(f"refused {ONE}.") == f"refused {HIDDEN}."


@pytest.mark.parametrize("name", NO_SECRETS)
def test_an_ordinary_variable_stays(home, monkeypatch, name):
    monkeypatch.setenv(name, NO_SECRETS[name])
    assert own_secrets() == ()


@pytest.mark.parametrize(
    ("value", "secret"),
    [
        (f"https://hooks.example/services/{ONE}", ONE),
        (f"postgresql://me:{WORD}@db.example/runs", WORD),
        (f"https://me:{WORD}%2B1@index.example/simple", f"{WORD}+1"),
        (json.dumps({"type": "service_account", "private_key_id": TWO}), TWO),
        (f"-----BEGIN PRIVATE KEY-----\n{ONE}\n{TWO}\n-----END PRIVATE KEY-----", TWO),
    ],
    ids=["webhook", "database", "written for a URL", "account as JSON", "lines of a key"],
)
def test_the_secret_inside_a_variable_is_hidden_alone(home, monkeypatch, value, secret):
    monkeypatch.setenv("LAB_WEBHOOK", value)
    assert clean(f"x {secret} y") == f"x {HIDDEN} y"


@pytest.mark.parametrize(
    "written",
    [
        base64.b64encode(f"me:{WORD}".encode()).decode(),
        "".join(f"\\u{ord(character):04x}" for character in WORD),
        f"\x1b[1m{WORD[:5]}\x1b[0m{WORD[5:]}",
        json.dumps(json.dumps({"a": WORD})),
    ],
    ids=["base64 with a user", "escapes", "colour inside", "JSON in JSON"],
)
def test_an_own_secret_is_hidden_in_every_encoding(home, monkeypatch, written):
    monkeypatch.setenv("HF_TOKEN", WORD)
    said = clean(f"x {written} y")
    assert HIDDEN in said
    assert WORD not in said
    assert written not in said


def test_the_word_of_these_tests_is_found_by_no_rule(home):
    assert clean(f"refused {WORD} by x") == f"refused {WORD} by x"


def test_variables_name_files_and_folders(home, monkeypatch):
    put(home, "elsewhere/pg", f"h:1:d:u:{WORD}\n")
    put(home, "docker/config.json", json.dumps({"auths": {"r": {"identitytoken": "other-plain-words"}}}))
    monkeypatch.setenv("PGPASSFILE", str(home / "elsewhere" / "pg"))
    monkeypatch.setenv("DOCKER_CONFIG", str(home / "docker"))
    assert clean(f"{WORD} other-plain-words") == f"{HIDDEN} {HIDDEN}"


def test_the_secrets_of_an_app_stand_in_the_working_folder_too(home, monkeypatch):
    put(home, "app/.streamlit/secrets.toml", f'anything = "{WORD}"\n')
    monkeypatch.chdir(home / "app")
    assert clean(WORD) == HIDDEN


def test_files_that_cannot_be_read_hold_nothing(home):
    (home / ".netrc").mkdir()
    (home / ".aws").mkdir()
    (home / ".aws" / "credentials").symlink_to(home / ".aws" / "credentials")
    os.mkfifo(home / ".npmrc")  # reading it would wait for a writer
    (home / ".pgpass").write_bytes(b"\xff\xfe\x00" * 100)
    put(home, ".docker/config.json", "[" * 100_000)
    assert own_secrets() == ()


def test_a_large_file_is_read_up_to_its_limit(home):
    first = put(home, ".netrc", f"machine h login me password {WORD}\n" + "x" * FILE_LIMIT_BYTES)
    assert WORD in secrets_in_file(first)
    late = put(home, ".netrc", "x\n" * FILE_LIMIT_BYTES + f"\nmachine h login me password {WORD}\n")
    assert secrets_in_file(late) == []


def test_nothing_is_printed(home, capfd, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", WORD)
    clean(f"a {WORD}")
    assert capfd.readouterr() == ("", "")
