"""No machine gets credentials that it does not need."""

from __future__ import annotations

import pytest

from planner.launcher.backends.sky.launch_config import identities
from planner.launcher.plan.target import LaunchProvider, Target
from tests.launcher.launches import launch_of


@pytest.mark.parametrize(
    ("provider", "store", "aws"),
    [
        pytest.param(LaunchProvider.AWS, None, "SERVICE_ACCOUNT", id="AWS gives its machines a role"),
        pytest.param(LaunchProvider.AWS, "s3://runs", "SERVICE_ACCOUNT", id="with which they push"),
        pytest.param(LaunchProvider.LAMBDA, None, "NO_UPLOAD", id="Lambda needs no key of AWS"),
        pytest.param(LaunchProvider.LAMBDA, "s3://runs", None, id="but to push"),
        pytest.param(LaunchProvider.K8S, None, "NO_UPLOAD", id="nor do pods"),
    ],
)
def test_keys_of_aws(provider, store, aws):
    launch = launch_of(Target(provider=provider, name="x")).model_copy(update={"store": store})
    found = dict(setting.split(".remote_identity=") for setting in identities(launch))
    assert found.get("aws") == aws
    assert found["gcp"] == found["azure"] == "NO_UPLOAD"
    assert ("kubernetes" in found) is (provider is not LaunchProvider.K8S)
