"""`planner doctor` says what is there, and never a secret."""

from __future__ import annotations

import pytest


class TestDoctor:
    SECRETS = (
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "LAMBDA_API_KEY",
        "KUBECONFIG",
        "AWS_PROFILE",
    )

    @pytest.fixture(autouse=True)
    def _secrets(self, monkeypatch, tmp_path):
        for name in self.SECRETS:
            monkeypatch.setenv(name, f"hunter2-{name}")
        home = tmp_path / "home"
        (home / ".aws").mkdir(parents=True)
        (home / ".aws" / "credentials").write_text("[default]\naws_secret_access_key = hunter2-file\n", "utf-8")
        monkeypatch.setenv("HOME", str(home))

    @pytest.mark.parametrize("arguments", [["doctor", "--json"], ["doctor"]])
    def test_no_secret_is_printed(self, planner, arguments):
        answer = planner(*arguments)
        assert answer.code == 0
        assert "hunter2" not in answer.out + answer.err

    def test_it_says_which_credentials_are_there(self, planner):
        document = planner("doctor", "--json").document
        assert next(iter(document)) == "schema_version"
        assert document["credentials"]["aws"] is True
        assert document["credentials"]["lambda"] is True
        assert document["installed"]["pydantic"]

    def test_it_says_which_are_not(self, planner, monkeypatch, tmp_path):
        for name in self.SECRETS:
            monkeypatch.delenv(name)
        monkeypatch.setenv("HOME", str(tmp_path / "empty"))
        assert not any(planner("doctor", "--json").document["credentials"].values())
