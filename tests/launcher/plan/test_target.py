import pytest

from planner.errors import InputError
from planner.launcher.plan.target import REACHED_BY, SKY_ACCELERATORS, LaunchProvider, Target, parse_target
from tests.bundled import bundled_catalog

TYPES = ("aws/p5e.48xlarge", "aws/p5en.48xlarge", "aws/p4d.24xlarge", "lambda/gpu_8x_h100_sxm5")


@pytest.mark.parametrize(
    ("text", "provider", "name", "cloud", "sky"),
    [
        pytest.param("aws/p5e.48xlarge", LaunchProvider.AWS, "p5e.48xlarge", True, True, id="aws"),
        pytest.param("lambda/gpu_8x_h100_sxm5", LaunchProvider.LAMBDA, "gpu_8x_h100_sxm5", True, True, id="lambda"),
        pytest.param("k8s/my-context", LaunchProvider.K8S, "my-context", False, True, id="kubernetes"),
        pytest.param(
            "k8s/user@cluster/x", LaunchProvider.K8S, "user@cluster/x", False, True, id="context with a slash"
        ),
        pytest.param("ssh/pool", LaunchProvider.SSH_POOL, "pool", False, True, id="ssh pool"),
        pytest.param("slurm/hpc", LaunchProvider.SLURM, "hpc", False, True, id="slurm"),
        pytest.param("host/a", LaunchProvider.HOST, "a", False, False, id="host"),
        pytest.param("local", LaunchProvider.LOCAL, "local", False, False, id="local"),
    ],
)
def test_a_target_is_read_and_written_the_same(text, provider, name, cloud, sky):
    target = parse_target(text, instance_types=TYPES, hosts=("a", "b"))
    assert (target.provider, target.name, target.is_cloud, target.through_sky) == (provider, name, cloud, sky)
    assert target.id == text


def test_every_provider_says_by_what_it_is_reached():
    assert set(REACHED_BY) == set(LaunchProvider)


def test_a_provider_that_is_not_registered_is_never_taken_for_one_of_sky(monkeypatch):
    monkeypatch.delitem(REACHED_BY, LaunchProvider.SLURM)
    with pytest.raises(KeyError, match="slurm"):
        _ = Target(provider=LaunchProvider.SLURM, name="hpc").through_sky


def test_two_hosts_are_one_run_over_two_nodes():
    target = parse_target("host/a+b", instance_types=TYPES, hosts=("a", "b"))
    assert (target.name, target.more_hosts, target.nodes, target.id) == ("a", ("b",), 2, "host/a+b")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param("aws/p5e.48xlage", "Did you mean .*p5e.48xlarge", id="misspelt type names the nearest"),
        pytest.param("aws/H200:8", "no aws instance type 'H200:8'", id="an accelerator is no instance type"),
        pytest.param("lambda/p5e.48xlarge", "no lambda instance type", id="of another cloud"),
        pytest.param("p5e.48xlarge", "Did you mean aws/p5e.48xlarge", id="without a provider"),
        pytest.param("host/c", "no host 'c'", id="unknown host"),
        pytest.param("host/a+a", "named twice", id="a host twice"),
        pytest.param("k8s/", "no target", id="empty name"),
        pytest.param("k8s/a b", "is not a Kubernetes context", id="space"),
        pytest.param("local/x", "no target", id="local has no name"),
        pytest.param("", "no target", id="nothing"),
    ],
)
def test_a_wrong_target_says_what_would_be_right(text, problem):
    with pytest.raises(InputError, match=problem):
        parse_target(text, instance_types=TYPES, hosts=("a", "b"))


def test_sky_names_belong_to_accelerators_of_the_catalog():
    assert SKY_ACCELERATORS.keys() <= bundled_catalog().accelerators.keys()
