"""`planner launch|task|launches` and `planner runs add --target`, without an account, a network or SkyPilot."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

import pytest
import yaml

from planner.use_cases.launching import launch_target as launch_target_module
from tests.cli.conftest import CliAnswer

ROOT = Path(__file__).parents[3]
P5E, P4D = "aws/p5e.48xlarge", "aws/p4d.24xlarge"
ANCILLARY = (256 * 0.08 + 500 * 0.005 + 93 * 0.04) * 2 / 730 + 0.005
"""USD an hour: SkyPilot's disk at twice us-east-1's prices, and one public address."""
OWN_PRICE = """\
provider,instance_type,region,price_kind,usd_per_hour,currency,source,as_of,fetched_at,confidence
aws,p4d.24xlarge,us-east-1,on_demand,24.0,USD,a test,2026-11-20,2026-11-20,list
"""


def refused(answer: CliAnswer, code: int) -> str:
    """Return the message of an error document; nothing else is on stdout."""
    assert answer.code == code, answer.err
    return str(answer.document["error"]["message"] + " " + answer.document["error"]["fix"])


@pytest.fixture
def home(tmp_path, monkeypatch):
    folder = tmp_path / "home"
    (folder / "prices").mkdir(parents=True)
    (folder / "prices" / "aws.csv").write_text(OWN_PRICE, encoding="utf-8")
    monkeypatch.setenv("PLANNER_HOME", str(folder))
    return folder


def test_a_dry_run_shows_the_worst_case_by_hand(planner, home):
    """24 USD/h x (25 + 35 + 10) min / 60 = 28 USD, and disk and address at 0.07815 USD/h (ANCILLARY) for 70 min."""
    answer = planner("launch", "gpt-305m", "--on", P4D, "--max-minutes", "25", "--dry-run", "--json")
    assert answer.code == 0, answer.err
    document = answer.document
    assert document["worst_case_usd"] == pytest.approx(28.0 + ANCILLARY * 70 / 60)
    (launch,) = document["launches"]
    assert launch["bill"]["rate"]["source"].endswith("a test")
    assert launch["bill"]["rate"]["as_of"] == "2026-11-20"
    assert launch["bill"]["caps"] == {"max_minutes": 25.0, "provisioning_minutes": 35.0, "idle_minutes": 10.0}
    assert launch["task"]["resources"]["instance_type"] == "p4d.24xlarge"
    assert launch["task"]["resources"]["autostop"] == {"idle_minutes": 10, "down": True, "wait_for": "jobs"}
    assert launch["task"]["envs"]["PLANNER_MAX_MINUTES"] == "25"
    assert not (home / "ledger.sqlite").exists()


def test_p5e_has_no_on_demand_price_and_says_what_to_give(planner):
    message = refused(planner("launch", "gpt-305m", "--on", P5E, "--dry-run", "--json"), 3)
    assert "no on-demand price for p5e" in message
    assert "--capacity-block" in message
    assert "--usd-per-hour" in message
    assert "--spot" in message


def test_a_capacity_block_with_its_rate_is_planned_and_its_id_reaches_sky_alone_by_configuration(planner):
    options = ("--capacity-block", "cr-0abc", "--usd-per-hour", "30", "--region", "us-east-2", "--max-minutes", "15")
    answer = planner("launch", "gpt-305m", "--on", P5E, *options, "--json")
    (launch,) = answer.document["launches"]
    assert launch["bill"]["worst_case_usd"] == pytest.approx(30 + ANCILLARY)
    assert (launch["bill"]["price_kind"], launch["target"]["reservation"]) == ("capacity_block", "cr-0abc")
    assert launch["task"]["resources"]["infra"] == "aws/us-east-2"


def test_spot_counts_the_highest_price_in_the_worst_case(planner):
    """39.80 USD/h is the upper end of the catalog's row; an hour in all."""
    answer = planner("launch", "gpt-305m", "--on", P5E, "--spot", "--max-minutes", "15", "--json")
    (launch,) = answer.document["launches"]
    assert launch["bill"]["rate"]["highest_usd_per_node_hour"] == 39.8
    assert answer.document["worst_case_usd"] == pytest.approx(39.8 + ANCILLARY)
    assert launch["task"]["resources"]["use_spot"] is True


def test_one_cap_holds_for_all_targets_together(planner, home):
    command = ("launch", "gpt-305m", "--on", P4D, "--max-minutes", "25", "--max-usd", "30")
    assert planner(*command).code == 0
    message = refused(planner(*command, "--on", "lambda/gpu_1x_h100_sxm5", "--json"), 3)
    assert "--max-usd 30: the worst case is 33.10 USD" in message  # 28.09 and 4.29 x 70 / 60


@pytest.mark.parametrize(
    ("arguments", "code", "problem"),
    [
        pytest.param(("--on", P4D, "--max-usd", "1"), 3, "--max-usd 1: the worst case", id="over the cap"),
        pytest.param(("--on", P4D, "--deadline", "2020-01-01"), 3, "has passed", id="deadline passed"),
        pytest.param(("--on", P4D, "--deadline", "soon"), 2, "is not a time", id="no time"),
        pytest.param(("--on", "aws/p4d.24xlage"), 2, "Did you mean", id="misspelt"),
        pytest.param(("--on", "aws/H200:8"), 2, "no aws instance type", id="an accelerator is no target"),
        pytest.param(("--on", P4D, "--on", P4D), 2, "names a target twice", id="twice"),
        pytest.param(("--on", P4D, "--spot", "--reservation", "cr-1"), 2, "bought in one way", id="two ways"),
        pytest.param(("--on", P4D, "--region", "mars-1"), 3, "no on_demand price", id="no price there"),
        pytest.param(("--on", P4D, "--gpus", "H100:8"), 2, "has 8x A100-40GB-SXM", id="other accelerators"),
        pytest.param(("--on", P4D, "--gpus", "16"), 2, "has 8", id="more than there are"),
        pytest.param(("--on", P4D, "--max-minutes", "0"), 2, "must be over 0", id="no minutes"),
        pytest.param(("--on", P4D, "--max-usd", "-1"), 2, "must be 0 or more", id="negative cap"),
        pytest.param(("--on", P4D, "--max-usd", "1e300"), 2, "at most 1e+18", id="more than there is"),
        pytest.param(("--on", P4D, "--nodes", "9" * 20), 2, "over 10,000", id="more nodes than anybody has"),
        pytest.param(("--on", P4D, "--repeats", "9" * 20), 2, "over 1,000", id="repeats without end"),
        pytest.param(("--on", P4D, "--gpus", "\u00b2"), 2, "is not a count", id="a raised two"),
        pytest.param(("--on", P4D, "--gpus", "9" * 30), 2, "is not a count", id="a count without end"),
        pytest.param(("--on", P4D, "--dry-run", "--yes"), 2, "contradict", id="dry run and yes"),
        pytest.param(("--on", "lambda/gpu_8x_h100_sxm5", "--spot"), 2, "has no spot", id="lambda spot"),
        pytest.param(("--on", "lambda/gpu_8x_h100_sxm5", "--image", "x"), 2, "another image", id="lambda image"),
        pytest.param(("--on", "local", "--managed"), 2, "not run by SkyPilot", id="local managed"),
        pytest.param(("--on", "local", "--nodes", "2"), 2, "is 1 node", id="two local nodes"),
        pytest.param(("--on", "k8s/c", "--gpus", "8"), 2, "needs the accelerator's name", id="unnamed accelerator"),
        pytest.param(("--on", "k8s/c", "--gpus", "H100:8", "--max-usd", "9"), 3, "no price is known", id="k8s, capped"),
        pytest.param(("--on", "host/a"), 2, "no host 'a'", id="no hosts.yaml"),
        pytest.param(("--on", P4D, "--store", "gs://x"), 2, "is no S3 address", id="another store"),
        pytest.param(("--on", P4D, "--usd-per-hour", "0"), 2, "sends an invoice", id="a cloud for nothing"),
        pytest.param(
            ("--on", P4D, "--on", "local", "--usd-per-hour", "9"),
            2,
            "2 targets are named",
            id="one price for two",
        ),
        pytest.param(("--on", P5E, "--on", P4D, "--capacity-block", "cr-1"), 2, "2 targets", id="one block, two types"),
        pytest.param(
            ("--on", P5E, "--capacity-block", "cr-1", "--managed"), 2, "might lie outside", id="managed in a block"
        ),
        pytest.param(
            ("--on", P5E, "--reservation", "cr-1", "--usd-per-hour", "9"),
            2,
            "--region",
            id="where it lies",
        ),
        pytest.param(("--on", P4D, "--mode", "tuned", "--micro-batch", "4"), 2, "Give one of them", id="tuned, named"),
        pytest.param(("--on", P4D, "--mode", "tuned", "--nodes", "2"), 2, "searched for on one node", id="tuned, two"),
        pytest.param(("--on", "local", "--mode", "tuned"), 2, "--gpus N", id="tuned, no count"),
        pytest.param(
            ("--on", P4D, "--global-batch", "12"), 2, "is not a multiple of micro-batch 4 x 8", id="global batch"
        ),
        pytest.param(("--on", P4D, "--data", "tokens"), 2, "from / on", id="a path of ours"),
        pytest.param(("--on", P4D, "--layers", "99"), 2, "16", id="more layers than there are"),
        pytest.param(("--on", P4D, "--network-tier", "good"), 2, "neither standard nor best", id="tier"),
        pytest.param(("--on", P4D, "--strategy", "ddp", "--nodes", "0"), 2, "must be 1 or more", id="no nodes"),
    ],
)
def test_what_cannot_be_launched_says_why(planner, arguments, code, problem):
    answer = planner("launch", "gpt-305m", *arguments, "--json")
    assert problem in refused(answer, code)
    assert "Traceback" not in answer.err


def test_the_budget_of_the_workspace_holds(planner, home):
    (home / "budget.yaml").write_text("schema_version: 1\ntotal_usd: 20\n", encoding="utf-8")
    message = refused(planner("launch", "gpt-305m", "--on", P4D, "--max-minutes", "25", "--json"), 3)
    assert "budget of 20.00 USD has 20.00 USD left, and the worst case is 28.10 USD" in message, "28.0903 rounded up"


def test_without_skypilot_a_launch_says_what_to_install_and_writes_nothing(planner, home, monkeypatch):
    monkeypatch.setattr(launch_target_module, "find_spec", lambda _: None)
    message = refused(planner("launch", "gpt-305m", "--on", P4D, "--yes", "--json"), 2)
    assert "pip install 'training-planner[launch]'" in message
    assert json.loads(planner("launches", "list", "--json").out)["launches"] == []
    assert planner("launch", "gpt-305m", "--on", P4D).code == 0


TASKS = {
    "aws-p5e-spot": (P5E, "--spot", "--region", "us-east-2", "--network-tier", "best"),
    "aws-p4d": (P4D, "--region", "us-east-1"),
    "lambda-8x-h100": ("lambda/gpu_8x_h100_sxm5",),
    "lambda-8x-a100-80gb": ("lambda/gpu_8x_a100_80gb_sxm4",),
    "k8s": ("k8s/my-context", "--gpus", "H100-SXM:8"),
    "ssh-pool": ("ssh/my-pool", "--gpus", "A100-40GB-SXM:8"),
    "slurm": ("slurm/my-cluster", "--gpus", "H100-SXM:8", "--nodes", "2"),
}


@pytest.mark.parametrize("name", TASKS)
def test_the_committed_tasks_are_current(planner, name, monkeypatch, request):
    """Rewrite them with --update-golden."""
    monkeypatch.chdir(ROOT)
    answer = planner("task", "gpt-305m", "--on", *TASKS[name])
    path = ROOT / "launcher" / "tasks" / f"{name}.yaml"
    if request.config.getoption("--update-golden"):
        path.write_text(answer.out, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == answer.out
    task = yaml.safe_load(answer.out)
    assert "any_of" not in str(task)
    assert task["file_mounts"] == {"~/planner/workloads": "./workloads"}
    assert json.loads(task["envs"]["PLANNER_SPEC"])["workload"] == "gpt-305m"


def test_no_other_file_lies_among_the_tasks():
    assert {path.stem for path in (ROOT / "launcher" / "tasks").glob("*")} == TASKS.keys()


def test_what_is_not_run_by_skypilot_has_no_task(planner):
    assert "has no task file" in planner("task", "gpt-305m", "--on", "local").err


def test_a_result_brought_home_by_hand_knows_its_target_and_price(planner, tmp_path, result, home):
    path = tmp_path / "result.json"
    path.write_text(json.dumps(result()), encoding="utf-8")
    added = planner("runs", "add", path, "--target", "aws/p5en.48xlarge", "--usd-per-hour", "60")
    assert added.code == 0, added.err
    record = planner("runs", "show", "latest").document
    assert record["hardware"]["node"] == "aws/p5en.48xlarge"
    assert (record["launch"]["price"]["value"], record["launch"]["target"]) == (60.0, "aws/p5en.48xlarge")


def test_a_result_of_another_accelerator_than_the_target_s_is_refused(planner, tmp_path, result):
    path = tmp_path / "result.json"
    path.write_text(json.dumps(result()), encoding="utf-8")
    answer = planner("runs", "add", path, "--target", P4D)
    assert answer.code == 2
    assert "was measured on H200-SXM, and aws/p4d.24xlarge has A100-40GB-SXM" in answer.err
    assert "--usd-per-hour: says nothing" in planner("runs", "add", path, "--usd-per-hour", "3").err


def test_a_host_counts_what_its_file_says_and_has_no_task(planner, home):
    """6 USD/h x (25 + 35 + 10) min / 60 = 7 USD; two hosts are two nodes."""
    hosts = "schema_version: 1\nhosts:\n  a: {address: 10.0.0.1, usd_per_hour: 6}\n  b: {address: 10.0.0.2}\n"
    (home / "hosts.yaml").write_text(hosts, encoding="utf-8")
    command = ("launch", "cpu-smoke", "--max-minutes", "25", "--json", "--on")
    assert planner(*command, "host/a").document["worst_case_usd"] == pytest.approx(7.0)
    (both,) = planner(*command, "host/a+b").document["launches"]
    assert both["bill"]["worst_case_usd"] == pytest.approx(14.0)
    assert both["bill"]["rate"]["source"].endswith("b: no price, taken as the dearest")
    assert "--max-usd 6: the worst case is 7.00 USD" in refused(planner(*command, "host/a", "--max-usd", "6"), 3)
    assert planner(*command, "host/b").document["worst_case_usd"] is None
    assert "Did you mean" in refused(planner(*command, "host/ab"), 2)


def test_a_wrong_hosts_file_names_the_key(planner, home):
    (home / "hosts.yaml").write_text("schema_version: 1\nhosts:\n  a: {adress: x}\n", encoding="utf-8")
    assert "hosts.a.adress" in refused(planner("launch", "cpu-smoke", "--on", "host/a", "--json"), 2)


def test_a_rate_that_no_node_costs_is_a_slip(planner, home):
    (home / "hosts.yaml").write_text("schema_version: 1\nhosts:\n  a: {address: x, usd_per_hour: 1.0e+18}\n")
    said = "1e+18 USD per node-hour is over 1,000,000"
    assert said in refused(planner("launch", "cpu-smoke", "--on", "host/a", "--json"), 2)
    given = planner("launch", "gpt-305m", "--on", P4D, "--usd-per-hour", "1e18", "--json")
    assert "USD per node-hour is over 1,000,000" in refused(given, 2)


def test_two_hosts_cost_what_each_of_them_does(planner, home):
    """(6 + 3) USD/h x (25 + 35 + 10) min / 60 = 10.50 USD."""
    hosts = "schema_version: 1\nhosts:\n  a: {address: x, usd_per_hour: 6}\n  b: {address: y, usd_per_hour: 3}\n"
    (home / "hosts.yaml").write_text(hosts, encoding="utf-8")
    for pair in ("host/a+b", "host/b+a"):
        document = planner("launch", "cpu-smoke", "--max-minutes", "25", "--json", "--on", pair).document
        assert document["worst_case_usd"] == pytest.approx(10.5)


def notes(answer: CliAnswer) -> str:
    (launch,) = answer.document["launches"]
    return " | ".join(launch["notes"])


def test_a_block_of_what_is_sold_on_demand_too_counts_the_dearer_price(planner, home):
    """SkyPilot starts on demand what finds no place in the block: 24 USD/h by this catalog, over the block's 12."""
    block = ("--capacity-block", "cr-1", "--usd-per-hour", "12", "--region", "us-east-1", "--max-minutes", "15")
    answer = planner("launch", "gpt-305m", "--on", P4D, *block, "--json")
    (launch,) = answer.document["launches"]
    assert (launch["bill"]["rate"]["usd_per_node_hour"], launch["bill"]["worst_case_usd"]) == (
        12.0,
        pytest.approx(24.0 + ANCILLARY),
    )
    assert "counts the on-demand price" in notes(answer)


def test_a_price_below_the_catalog_s_is_taken_and_said(planner, home):
    answer = planner("launch", "gpt-305m", "--on", P4D, "--usd-per-hour", "10", "--max-minutes", "15", "--json")
    assert answer.document["worst_case_usd"] == pytest.approx(10.0 + ANCILLARY)
    assert "the catalog asks 24 USD per node-hour" in notes(answer)
    (launch,) = answer.document["launches"]
    assert launch["target"]["region"] == "us-east-1"  # the price is of one region, so the machine is too


def test_a_price_far_below_the_published_one_needs_a_word_whoever_stated_it(planner, home):
    """The bundled list asks 21.96 USD in us-east-1: a third is 7.32."""
    command = ("launch", "gpt-305m", "--on", P4D, "--region", "us-east-1", "--json")
    assert planner(*command, "--usd-per-hour", "7.33").code == 0
    assert "--accept-price" in refused(planner(*command, "--usd-per-hour", "7.31"), 3)
    assert planner(*command, "--usd-per-hour", "7.31", "--accept-price").code == 0

    (home / "prices" / "aws.csv").write_text(OWN_PRICE.replace("24.0", "2.4"), encoding="utf-8")
    assert "2.4 USD per node-hour is under a third of the catalog's 21.9" in refused(planner(*command), 3)
    assert planner(*command, "--accept-price").code == 0


def test_a_price_without_any_on_its_terms_is_compared_with_the_others(planner):
    """p5e has no on-demand price in the list; spot there asks at least 14.03 USD, so 0.5 is far below all of them."""
    command = ("launch", "gpt-305m", "--on", P5E, "--usd-per-hour", "0.5", "--json")
    assert "under a third" in refused(planner(*command), 3)


@pytest.mark.parametrize("target", ["k8s/c", "ssh/pool", "slurm/hpc"])
def test_what_may_be_rented_needs_a_price_or_a_word_and_counts_against_the_budget(planner, home, target):
    """At 6 USD/h for 25 + 35 + 10 minutes: 7 USD."""
    command = ("launch", "gpt-305m", "--on", target, "--gpus", "H100-SXM:8", "--max-minutes", "25", "--json")
    assert "add --accept-price" in refused(planner(*command), 3)
    assert planner(*command, "--accept-price").document["worst_case_usd"] is None
    assert planner(*command, "--usd-per-hour", "6").document["worst_case_usd"] == pytest.approx(7.0)
    (home / "budget.yaml").write_text("schema_version: 1\ntotal_usd: 6.99\n", encoding="utf-8")
    assert "has 6.99 USD left" in refused(planner(*command, "--usd-per-hour", "6"), 3)


def test_a_spot_price_of_one_s_own_may_still_rise(planner):
    answer = planner(
        "launch", "gpt-305m", "--on", P5E, "--spot", "--usd-per-hour", "9", "--max-minutes", "15", "--json"
    )
    (launch,) = answer.document["launches"]
    assert launch["bill"]["rate"]["highest_usd_per_node_hour"] == 39.8


def test_an_old_price_and_results_that_go_with_the_machine_are_said(planner, home):
    path = home / "prices" / "aws.csv"
    path.write_text(path.read_text(encoding="utf-8").replace("2026-11-20", "2020-01-01"), encoding="utf-8")
    said = notes(planner("launch", "gpt-305m", "--on", P4D, "--json"))
    assert "days old" in said
    assert "takes itself down 10 minutes after the job" in said
    assert "takes itself down" not in notes(planner("launch", "gpt-305m", "--on", P4D, "--store", "s3://b/p", "--json"))


def test_a_managed_job_pays_its_controller_and_ends_in_time_through_every_restart(planner, tmp_path):
    """The job's part that keeps to the time is run: late, it does nothing; with 30 s left, it gets those."""
    answer = planner("launch", "gpt-305m", "--on", P5E, "--spot", "--managed", "--store", "s3://b/p", "--json")
    (launch,) = answer.document["launches"]
    assert "SkyPilot's controller of managed jobs" in [cost["what"] for cost in launch["bill"]["beside"]]
    assert "PLANNER_UNTIL" not in planner("task", "gpt-305m", "--on", P5E, "--spot").out
    envs, run = launch["task"]["envs"], launch["task"]["run"]
    caps = launch["bill"]["caps"]
    assert float(envs["PLANNER_UNTIL"]) - time.time() == pytest.approx(60 * sum(caps.values()), abs=60)

    (tmp_path / "workloads").mkdir()
    (tmp_path / "workloads" / "run.sh").write_text("echo started with $PLANNER_MAX_MINUTES\n", encoding="utf-8")
    here = {"PATH": os.environ["PATH"], "PLANNER_NODE_DIR": str(tmp_path), "SKYPILOT_NODE_RANK": "0"}

    def restarted(seconds_left: int) -> tuple[int, str]:
        until = {"PLANNER_UNTIL": str(int(time.time()) + seconds_left)}
        done = subprocess.run(
            ["bash", "-c", run], env={**envs, **here, **until}, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout

    assert restarted(-1) == (1, "Its time was over before this start.\n")
    code, said = restarted(30)
    assert code == 0
    assert 0.3 < float(said.split()[2]) <= 0.5
    assert restarted(10**6)[1].startswith(f"started with {envs['PLANNER_MAX_MINUTES']}\n")


def test_a_launch_takes_the_options_of_a_benchmark(planner, home):
    options = ("--layers", "4", "--seq-len", "256", "--data", "/srv/tokens", "--compile", "--method", "lora")
    answer = planner("launch", "gpt-305m", "--on", P4D, *options, "--lora-rank", "8", "--calibrate", "--json")
    assert answer.code == 0, answer.err
    (launch,) = answer.document["launches"]
    spec = json.loads(launch["task"]["envs"]["PLANNER_SPEC"])
    assert (spec["architecture"]["layers"], spec["seq_len"], spec["compile"], spec["calibrate"]) == (4, 256, True, True)
    assert spec["data"] == {"path": "/srv/tokens", "dtype": "uint16"}
    assert (spec["method"], spec["lora"]["rank"]) == ("lora", 8)


def probes(answer: CliAnswer) -> tuple[str | None, float]:
    (launch,) = answer.document["launches"]
    return launch["task"]["envs"].get("PLANNER_PROBES"), launch["bill"]["caps"]["max_minutes"]


def test_what_a_node_tries_beside_the_benchmark_and_the_time_that_it_gets(planner, home):
    """One start: 5 + 1.5 x (300 + 120) / 60 = 15.5 min; two probes add 3, six add 9. 512 samples / 8 devices."""
    command = ("launch", "gpt-305m", "--on", P4D, "--json")
    assert probes(planner(*command)) == ("double", 19.0)
    asked, minutes = probes(planner(*command, "--mode", "tuned", "--global-batch", "512"))
    assert asked.startswith("search --start ")
    assert asked.endswith(" --share 64")
    assert minutes == 25.0
    assert probes(planner(*command, "--micro-batch", "auto"))[0].startswith("search --start ")
    assert probes(planner(*command, "--quick"))[0] is None
    assert probes(planner(*command, "--nodes", "2")) == (None, 16.0)
