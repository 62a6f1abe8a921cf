"""The process that holds SkyPilot, when it answers, refuses, dies or hangs; and the catalog with our own price."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from planner.errors import InputError, NodeError
from planner.launcher.backends.sky import process as process_module
from planner.launcher.backends.sky.catalog import CATALOG, own_catalog
from planner.launcher.backends.sky.collect import copy_results
from planner.launcher.backends.sky.process import SkyProcess, SkyRefusalError
from planner.launcher.plan.target import LaunchProvider, Target

STANDIN = """
import json, os, subprocess, sys, time
answers = os.fdopen(int(sys.argv[1]), "w")
for line in sys.stdin:
    question = json.loads(line)
    number = question.pop("id")
    if question["do"] == "die":
        os._exit(9)
    if question["do"] == "die beside a child":
        child = subprocess.Popen(["sleep", "30"], pass_fds=(answers.fileno(),), start_new_session=True)
        with open(question["pid_file"], "w") as file:
            file.write(str(child.pid))
        os._exit(9)
    if question["do"] == "hang":
        time.sleep(600)
    if question["do"] == "raw":
        answers.write(question["said"] + ("" if question["cut"] else "\\n"))
        answers.flush()
        if question["cut"]:
            os._exit(9)
        continue
    if question["do"] == "print":
        os.system("echo '{\\"ok\\": \\"from a child\\"}'")
        print(json.dumps({"id": number, "ok": "printed"}), flush=True)
    if question["do"] == "refuse":
        answer = {"error": {"type": question["kind"], "message": question["said"]}}
    else:
        answer = {"ok": [os.getpid(), os.environ.get("SKY_RUNTIME_DIR"), question]}
    answers.write(json.dumps({"id": number, **answer}) + "\\n")
    answers.flush()
"""
P5E = Target(provider=LaunchProvider.AWS, name="p5e.48xlarge", region="us-east-2", reservation="cr-1")


@pytest.fixture
def process(tmp_path, monkeypatch):
    """Return a SkyProcess whose other side answers as the test asks it to."""
    (tmp_path / "standin_worker.py").write_text(STANDIN, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(process_module, "WORKER", "standin_worker")
    made = SkyProcess({"SKY_RUNTIME_DIR": "/a/place"}, log=tmp_path / "deep" / "sky.log")
    yield made
    made.close()


def test_questions_share_one_process_with_the_environment_asked_for(process):
    first, place, question = process.ask("echo", cluster="pl-x")
    second, _, _ = process.ask("echo")
    assert first == second
    assert place == "/a/place"
    assert question == {"do": "echo", "cluster": "pl-x"}


def test_a_process_that_dies_is_an_error_and_the_next_question_starts_another(process):
    first, _, _ = process.ask("echo")
    with pytest.raises(NodeError, match=r"ended without a whole answer \(die\)\. Its own words are in .*sky\.log"):
        process.ask("die")
    second, _, _ = process.ask("echo")
    assert second != first


def test_a_process_that_hangs_is_given_up(process):
    with pytest.raises(NodeError, match=r"SkyPilot did not answer within 0\.5 s \(hang\)"):
        process.ask("hang", timeout_s=0.5)
    assert process.ask("echo")


@pytest.mark.slow
def test_a_process_that_dies_while_its_child_holds_the_pipe_is_not_waited_for(process, tmp_path):
    """The pipe ends with its last holder: reading it to its end would return only after the child is gone."""
    kept = tmp_path / "child"
    with pytest.raises(NodeError, match="ended without a whole answer"):
        process.ask("die beside a child", pid_file=str(kept), timeout_s=50.0)
    assert process.ask("echo")
    os.kill(int(kept.read_text(encoding="utf-8")), signal.SIGKILL)


def test_output_of_a_library_is_no_answer(process, tmp_path):
    """Neither what Python prints nor what a child process writes to its standard output."""
    assert process.ask("print")[2] == {"do": "print"}
    process.close()  # which waits for the end of the log
    log = (tmp_path / "deep" / "sky.log").read_text(encoding="utf-8")
    assert "printed" in log
    assert "from a child" in log


@pytest.mark.parametrize("cut", [False, True], ids=["whole line", "cut off"])
@pytest.mark.parametrize(
    "said",
    ["", "no JSON", "[1]", '{"id": 99, "ok": "of another question"}', '{"id": 1}', '{"id": 1, "ok": [1, 2', "\u20ac"],
)
def test_an_incomplete_answer_is_an_error_and_the_next_question_is_answered(process, said, cut):
    with pytest.raises(NodeError, match="SkyPilot ended without a whole answer"):
        process.ask("raw", said=said, cut=cut)
    assert process.ask("echo")[2] == {"do": "echo"}


SUBMITS_SLOWLY = """
import sys, threading
from planner.launcher.backends.sky.worker import main as worker
def submit():
    print("submitting", file=sys.stderr, flush=True)
    threading.Event().wait(60)
worker.ANSWERS["submit"] = submit
sys.argv[1:] = ["2"]
worker.main()
"""


def test_without_its_client_skypilot_submits_nothing_more():
    """A client that is killed closes the pipe; a submission that went on would come after the next one's proof."""
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", SUBMITS_SLOWLY], stdin=pipe, stderr=pipe, text=True) as worker:
        worker.stdin.write('{"id": 1, "do": "submit"}\n')
        worker.stdin.flush()
        assert worker.stderr.readline() == "submitting\n"
        worker.stdin.close()
        assert worker.wait(timeout=20) == 0


READS_ITS_INPUT = """
import os, subprocess, sys
from planner.launcher.backends.sky.worker import main as worker
def read():
    return [subprocess.run(["cat"], stdout=subprocess.PIPE, check=True).stdout.decode(), "gr\\udc80\\u00fc"]
worker.ANSWERS["read"] = read
worker.ANSWERS["echo"] = lambda: "second"
worker.main()
"""


def test_a_program_under_skypilot_reads_no_question():
    """ssh and kubectl read their input: with ours they would swallow the next question."""
    reading, writing = os.pipe()
    command = [sys.executable, "-c", READS_ITS_INPUT, str(writing)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, pass_fds=(writing,)) as worker:
        os.close(writing)
        worker.stdin.write(b'{"id": 1, "do": "read"}\n{"id": 2, "do": "echo"}\n')
        worker.stdin.flush()
        with os.fdopen(reading, encoding="utf-8") as answers:
            assert json.loads(answers.readline()) == {"id": 1, "ok": ["", "gr?\u00fc"]}
            assert json.loads(answers.readline()) == {"id": 2, "ok": "second"}
            worker.stdin.close()


GOES_DOWN = """
import json, sys
import sky
from sky import exceptions
from planner.launcher.backends.sky.worker import status as look
look._record = lambda cluster, refresh: {"status": "UP"}
sky.api_status = lambda **_: []
sky.queue = lambda *_, **__: "a request"
def get(request):
    raise getattr(exceptions, sys.argv[1])("pl-x")
sky.get = get
print(json.dumps(look.look("pl-x", False)))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "cluster"),
    [
        pytest.param("ClusterDoesNotExist", None, id="gone"),
        pytest.param("ClusterNotUpError", {"status": "UP"}, id="about to"),
    ],
)
def test_a_cluster_may_go_down_between_two_questions(kind, cluster):
    """SkyPilot lists it, and does not find it when asked for its job: an answer, and no fault."""
    said = subprocess.run([sys.executable, "-c", GOES_DOWN, kind], capture_output=True, text=True, check=True).stdout
    assert json.loads(said.splitlines()[-1]) == {"launch": None, "cluster": cluster, "job": None}


NO_ANSWER = """
import json, sys
from types import SimpleNamespace
import sky
from sky import exceptions, jobs
from sky.utils import status_lib
from planner.launcher.backends.sky.worker import managed
status, address = sys.argv[1:]
jobs.queue_v2 = jobs.cancel = lambda **_: "a request"
def get(request):
    known = status_lib.ClusterStatus(status) if status else None
    raise exceptions.ClusterNotUpError("no", cluster_status=known, handle=SimpleNamespace(head_ip=address or None))
sky.get = get
try:
    print(json.dumps(managed.managed_jobs("pl-x")))
except exceptions.ClusterNotUpError:
    print(json.dumps("raised"))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("status", "address", "jobs"),
    [
        pytest.param("", "", [], id="no controller"),
        pytest.param("STOPPED", "10.0.0.1", [], id="stopped"),
        pytest.param("INIT", "", [], id="about to come"),
        pytest.param("INIT", "10.0.0.1", "raised", id="there, and not reached"),
        pytest.param("UP", "10.0.0.1", "raised", id="up, and not reached"),
    ],
)
def test_a_controller_that_is_not_reached_is_not_without_jobs(status, address, jobs):
    """It would start again what is ended at the cloud meanwhile, after the proof that nothing is left."""
    command = [sys.executable, "-c", NO_ANSWER, status, address]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert json.loads(said.splitlines()[-1]) == jobs


@pytest.mark.parametrize(
    ("kind", "said", "expected"),
    [
        pytest.param("X", "error (ExpiredToken) when", "the AWS credentials have expired. Sign in", id="keys"),
        pytest.param("X", "UnauthorizedOperation: you are not", "AWS forbids it. Ask for the rights in", id="rights"),
        pytest.param("ResourcesUnavailableError", "none\n left.", "no such machine: none left. Try", id="capacity"),
        pytest.param("NoCloudAccessError", "off.", "may not use this provider: off. See: sky check", id="provider"),
        pytest.param("KeyError", "'x'", "SkyPilot failed (KeyError): 'x'.", id="anything else"),
    ],
)
def test_a_refusal_says_why_and_what_to_do(process, kind, said, expected):
    with pytest.raises(SkyRefusalError) as caught:
        process.ask("refuse", kind=kind, said=said)
    assert expected in str(caught.value)
    assert caught.value.sky_type == kind
    assert caught.value.exit_code == 4


@contextlib.contextmanager
def listening(port: str, place: Path) -> Iterator[None]:
    """Run what looks like the server of a place."""
    program = (
        "import socket, sys; s = socket.create_server(('127.0.0.1', int(sys.argv[1].partition('=')[2]))); "
        "print(flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", program, f"--port={port}"]
    environment = {**os.environ, "SKY_RUNTIME_DIR": str(place)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as server:
        assert server.stdout is not None
        server.stdout.readline()
        try:
            yield
        finally:
            server.kill()


class TestOwnCatalog:
    ROWS = (
        "p5e.48xlarge,H200,8,,14.03,us-east-2,us-east-2a",
        "p5e.48xlarge,H200,8,,17.75,us-west-2,us-west-2a",
        "p4d.24xlarge,A100,8,21.96,6.53,us-east-1,us-east-1a",
    )

    @pytest.fixture
    def home(self, tmp_path) -> Path:
        vms = tmp_path / "home" / CATALOG / "aws" / "vms.csv"
        vms.parent.mkdir(parents=True)
        heads = "InstanceType,AcceleratorName,AcceleratorCount,Price,SpotPrice,Region,AvailabilityZone"
        vms.write_text("\n".join([heads, *self.ROWS]) + "\n", encoding="utf-8")
        (vms.parents[1] / ".meta" / "aws").mkdir(parents=True)
        (vms.parents[1] / ".meta" / "aws" / "vms.csv.md5").write_text("x", encoding="utf-8")
        return tmp_path / "home"

    def prices(self, place: Path) -> dict[tuple[str, str], str]:
        with (place / CATALOG / "aws" / "vms.csv").open(encoding="utf-8", newline="") as file:
            return {(row["InstanceType"], row["Region"]): row["Price"] for row in csv.DictReader(file)}

    def test_only_the_asked_type_and_region_get_our_price(self, home, tmp_path):
        original = (home / CATALOG / "aws" / "vms.csv").read_bytes()
        extra = own_catalog(P5E, usd_per_node_hour=39.80, sky_home=home, place=tmp_path / "own")
        assert self.prices(tmp_path / "own") == {
            ("p5e.48xlarge", "us-east-2"): "39.800000",
            ("p5e.48xlarge", "us-west-2"): "",
            ("p4d.24xlarge", "us-east-1"): "21.96",
        }
        assert extra["SKY_RUNTIME_DIR"] == str(tmp_path / "own")
        assert 21600 <= int(extra["SKYPILOT_API_SERVER_LOCAL_PORT"]) < 22500
        assert (home / CATALOG / "aws" / "vms.csv").read_bytes() == original
        assert not (tmp_path / "own" / CATALOG / ".meta").exists(), "with check sums it would be downloaded again"

    def test_a_place_keeps_its_port_until_somebody_else_listens_there(self, home, tmp_path):
        def port() -> int:
            extra = own_catalog(P5E, usd_per_node_hour=39.80, sky_home=home, place=tmp_path / "own")
            return int(extra["SKYPILOT_API_SERVER_LOCAL_PORT"])

        first = port()
        assert port() == first
        with socket.socket() as foreign:
            foreign.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            foreign.bind(("127.0.0.1", first))
            foreign.listen()
            second = port()
        assert second != first
        assert port() == second, "a client that still has the second server running must not be left by the next"

    def test_the_server_of_a_place_keeps_its_port(self, home, tmp_path):
        """Told from a foreign server by the place in its environment."""
        place = tmp_path / "own"
        port = own_catalog(P5E, usd_per_node_hour=1.0, sky_home=home, place=place)["SKYPILOT_API_SERVER_LOCAL_PORT"]
        with listening(port, place):
            again = own_catalog(P5E, usd_per_node_hour=1.0, sky_home=home, place=place)
        assert again["SKYPILOT_API_SERVER_LOCAL_PORT"] == port

    def test_without_a_region_every_region_gets_it_and_a_new_price_replaces_the_old(self, home, tmp_path):
        anywhere = P5E.model_copy(update={"region": None})
        first = own_catalog(anywhere, usd_per_node_hour=1.0, sky_home=home, place=tmp_path / "own")
        assert own_catalog(anywhere, usd_per_node_hour=2.0, sky_home=home, place=tmp_path / "own") == first
        priced = {price for (kind, _), price in self.prices(tmp_path / "own").items() if kind == "p5e.48xlarge"}
        assert priced == {"2.000000"}

    @pytest.mark.parametrize(
        ("change", "said"),
        [({"name": "p9.metal"}, "has no p9.metal in us-east-2"), ({"region": "mars-1"}, "no p5e.48xlarge in mars-1")],
    )
    def test_an_unknown_machine_is_refused(self, home, tmp_path, change, said):
        with pytest.raises(InputError, match=said):
            own_catalog(P5E.model_copy(update=change), usd_per_node_hour=1.0, sky_home=home, place=tmp_path / "own")

    def test_without_any_catalog_it_says_how_to_get_one(self, tmp_path):
        with pytest.raises(InputError, match=r"no catalog for AWS yet\. Let SkyPilot fetch it once"):
            own_catalog(P5E, usd_per_node_hour=1.0, sky_home=tmp_path, place=tmp_path / "own")


def test_a_node_that_cannot_be_reached_is_a_reason_and_no_crash(tmp_path):
    config = tmp_path / "config"
    config.write_text("Host node\n  HostName 127.0.0.1\n  Port 9\n", encoding="utf-8")  # discard: no server listens
    problem = copy_results("node", "r1", tmp_path / "into", config=config)
    assert problem is not None
    assert "rsync ended with code" in problem
