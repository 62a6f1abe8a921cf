"""Secrets as tools print them: in tables, prompts, blocks, several lines, and with one end cut off."""

# ruff: noqa: E501
from __future__ import annotations

import random
import string

import pytest

from planner.redact import HIDDEN, clean


def drawn(seed: int, length: int, characters: str = string.ascii_letters + string.digits) -> str:
    return "".join(random.Random(seed).choices(characters, k=length))


HEX = drawn(1, 40, "0123456789abcdef")
WORD = drawn(2, 40)
KEY_LINES = [drawn(seed, 64, string.ascii_letters + string.digits + "+/") for seed in range(10, 18)]
PEM = "\n".join(["-----BEGIN RSA PRIVATE KEY-----", *KEY_LINES, drawn(3, 20) + "==", "-----END RSA PRIVATE KEY-----"])
TEXTS = {
    "wandb asks in colour": f"\x1b[34m\x1b[1mwandb\x1b[0m: Paste an API key from your profile and hit enter: \x1b[0m{HEX}",
    "wandb asks, answered below": f"wandb: Paste an API key from your profile and hit enter:\n{HEX}",
    "wandb.login": f"wandb.login(key='{HEX}')",
    "AWS table": f"------\n|  AccessKeyId  |  x  |\n|  SecretAccessKey |  {WORD}  |\n-----",
    "AWS text": f"SecretAccessKey   {WORD}",
    "AWS prompt": f"AWS Access Key ID [None]: x\nAWS Secret Access Key [None]: {WORD}",
    "session token behind a tab": f"CREDENTIALS\tx\tAWS_SESSION_TOKEN\t{WORD}",
    "YAML block": f"hub:\n  token: |\n    {WORD}\n  other: 1",
    "YAML folded block": f"password: >-\n  {drawn(4, 12)}9a\nx: 1",
    "kubeconfig": f"    client-key-data: {WORD}{WORD}",
    "bytes": f"token = b'{WORD}'",
    "Kaggle": f'{{"username":"me","key":"{drawn(5, 32, "0123456789abcdef")}"}}',
    "MySQL": f"mysqldump --single-transaction -u root -p{drawn(6, 14)} runs",
    "bearer below": f"Authorization: Bearer\n  {WORD}",
    "bearer two below": f"> Authorization:\n>   Bearer {WORD}",
    "three lines of .netrc": f"machine api.example\n  login me\n  password {WORD}",
    "docker login": f"docker login -u me -p {WORD} registry.example",
    "SQL": f"CREATE USER me IDENTIFIED BY '{drawn(7, 12)}'",
    "environment of a process": f"declare -x HF_TOKEN=\"{WORD}\"",
    "Python's repr": f"environ({{'HF_TOKEN': '{WORD}', 'HOME': '/root'}})",
    "XML": f"<SecretAccessKey>{WORD}</SecretAccessKey>",
}  # fmt: skip


@pytest.mark.parametrize("case", TEXTS)
def test_what_tools_print(case):
    cleaned = clean(TEXTS[case])
    assert HIDDEN in cleaned
    for secret in (HEX, WORD, drawn(4, 12), drawn(5, 32, "0123456789abcdef"), drawn(6, 14), drawn(7, 12)):
        assert secret not in cleaned
    assert clean(cleaned) == cleaned


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (PEM, ""),
        ("\n".join(PEM.splitlines()[3:]), ""),
        ("\n".join(PEM.splitlines()[:-3]), ""),
        (PEM.replace("\n", "\\n"), ""),
        ("\n".join(f"(worker1, rank=1) {line}" for line in PEM.splitlines()[2:]), "(worker1, rank=1)"),
        (PEM.replace("-----BEGIN RSA PRIVATE ", ""), ""),
        (PEM.replace("RSA PRIVATE KEY-----\n", "RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES,00\n\n", 1), ""),
        (f"PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 8\n{chr(10).join(KEY_LINES)}\nPrivate-MAC: 0a", "PuTTY"),
    ],
    ids=["whole", "begin cut off", "end cut off", "in one line", "behind a log's words", "half a begin", "encrypted", "PuTTY"],
)  # fmt: skip
def test_a_private_key(text, left):
    cleaned = clean(f"before\n{text}\nafter")
    assert cleaned.startswith("before\n")
    assert left in cleaned
    for line in KEY_LINES:
        for at in range(0, len(line) - 12):
            assert line[at : at + 12] not in cleaned
