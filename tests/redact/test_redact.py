"""Secrets in text are hidden by their form and by what this process holds; ordinary text stays as it is."""

from __future__ import annotations

import base64

import pytest

from planner.errors import NodeError
from planner.redact import HIDDEN, clean, clean_data, has_secret

SECRET = "Zx9-canary+8/7q"
WITH_SECRETS = {
    "password in a URL": "https://me:{}@host/x",
    "token as the user of a URL": "https://ghp_0123456789abcdefghij@host/x",
    "a slash in the password": "s3://me:{}@bucket/prefix",
    "registry": "docker:me:{}@registry.example/image",
    "query": "https://host/x?X-Amz-Signature={}&other=1",
    "sas": "https://host/x?sv=1&sig={}",
    "header": "Authorization: Bearer {}",
    "own header": "X-Api-Key: {}",
    "variable": "AWS_SECRET_ACCESS_KEY={}",
    "quoted variable": "WANDB_API_KEY='{}'",
    "camel case": "apiToken={}",
    "JSON": '{{"password": "{}"}}',
    "JSON in JSON": '{{\\"client_secret\\": \\"{}\\"}}',
    "option": "tool --password {} --region x",
    "sshpass": "sshpass -p {} ssh -W %h:%p jump",
    "sshpass without a space": "sshpass -p{} ssh jump",
    "proxy": "ncat --proxy-auth me:{} %h %p",
    "curl": "curl -u me:{} https://host",
    "netrc": "machine host login me password {}",
    "YAML": "token: {}",
    "libpq": "PGPASSWORD={}",
    "openssl": "openssl -passin pass:{}",
}
TOKENS = [
    "AKIAIOSFODNN7EXAMPLE",
    "ASIAIOSFODNN7EXAMPLE",
    "hf_AbCdEf0123456789",
    "ghp_0123456789abcdefghij",
    "github_pat_0123456789abcdefghij_x",
    "glpat-0123456789abcdefghij",
    "sk-proj-0123456789abcdefghij",
    "xoxb-0123456789-abc",
    "secret_planner_0123456789abcdef.xyz",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
    "AIza0123456789abcdefghij0123456789abcde",
]
ORDINARY = [
    "tokens_per_sample: must be at least 1 (found 0).",
    "4,096 tokens/s after 12 steps; the token budget: 4096",
    "max_tokens=4096, token=4096, compile=true",
    "docker:host:5000/image@sha256:0123abcd",
    "docker://host:5000/image@sha256:0123abcd",
    "plan.yaml:12: key: is missing.",
    "s3://bucket/prefix",
    "git@github.com:me/repo.git",
    "ssh -o BatchMode=yes -o StrictHostKeyChecking=yes -p 22 -i /home/me/.ssh/id_ed25519 me@host true",
    "the password is wrong; Give --api-key, or sign in",
    "hf_transformers and secret_name_of_a_thing",
    "PLANNER-DONE run=20261123-140818-0a1b2c rank=0 exit=0",
    "commit 0123456789012345678901234567890123456789",
]


@pytest.mark.parametrize("form", WITH_SECRETS, ids=list(WITH_SECRETS))
def test_a_secret_is_hidden_by_what_stands_around_it(form):
    text = f"the provider said: {WITH_SECRETS[form].format(SECRET)}"
    said = clean(text)
    assert SECRET not in said
    assert "0123456789abcdefghij" not in said
    assert said.startswith("the provider said: ")
    assert HIDDEN in said
    assert clean(said) == said


@pytest.mark.parametrize("token", TOKENS)
def test_a_token_is_hidden_by_how_it_begins(token):
    assert clean(f"refused: {token}.").startswith(f"refused: {HIDDEN}")
    assert token not in clean(f'{{"detail": "{token}"}}')


def test_a_private_key_is_hidden_whole_and_where_its_end_is_missing():
    key = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\nAAAA==\n-----END OPENSSH PRIVATE KEY-----\nafter"
    assert clean(key) == f"{HIDDEN}\nafter"
    assert clean(key.replace("\n", "\\n")) == f"{HIDDEN}\\nafter"
    assert "b3BlbnNzaC1rZXk" not in clean(key.split("-----END", maxsplit=1)[0])


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_stays(text):
    assert clean(text) == text
    assert not has_secret(text)


def test_what_the_environment_and_the_files_of_credentials_hold_is_hidden_in_any_text(monkeypatch, tmp_path):
    values = {"LAMBDA_API_KEY": "plain-lambda-word", "HF_TOKEN": "plain hf word"}
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_SESSION_TOKEN", "short")  # stands in ordinary text by chance
    monkeypatch.setenv("SSL_KEY", str(tmp_path))  # a path is not a secret
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws" / "credentials").write_text("[default]\naws_secret_access_key = from-the-aws-file\n")
    (tmp_path / ".netrc").write_text("machine h login me password from-netrc\n")
    (tmp_path / ".cache" / "huggingface").mkdir(parents=True)
    (tmp_path / ".cache" / "huggingface" / "token").write_text("from-the-hub\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    for value in (*values.values(), "from-the-aws-file", "from-netrc", "from-the-hub"):
        assert clean(f"key {value} refused") == f"key {HIDDEN} refused"
        assert clean(base64.b64encode(value.encode()).decode()) == HIDDEN
    assert clean("plain%20hf%20word") == HIDDEN
    assert clean(f"a short word in {tmp_path}") == f"a short word in {tmp_path}"


def test_an_error_is_clean_from_its_beginning():
    error = NodeError("the provider refused key AKIAIOSFODNN7EXAMPLE.", fix=f"Try: sshpass -p {SECRET} ssh host")
    assert "AKIA" not in str(error) + str(error.document()) + error.args[0]
    assert SECRET not in str(error)


def test_data_is_cleaned_in_every_depth_and_keeps_its_kinds():
    data = {"a": [{"AKIAIOSFODNN7EXAMPLE": ("hf_AbCdEf0123456789", 1, None, 2.5)}], "b": "plain"}
    assert clean_data(data) == {"a": [{HIDDEN: (HIDDEN, 1, None, 2.5)}], "b": "plain"}
