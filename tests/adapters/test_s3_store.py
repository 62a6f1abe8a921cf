"""The run store on S3: conditional writes, paging, several writers, and refusals in plain words."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import boto3
import pytest

from planner.adapters.catalog import read_run
from planner.adapters.settings import S3Store
from planner.adapters.workspace import catalogs_dir
from planner.cli.main import run
from planner.errors import InputError, NodeError, StoreError
from planner.model.evidence.run import RunRecord

ROOT = Path(__file__).parents[2]
SOURCE = catalogs_dir() / "runs" / "seed-000-dgx-station-v100.json"
WRITER = """
import sys
from pathlib import Path
from planner.adapters.catalog import read_run
from planner.adapters.settings import S3Store
from planner.errors import StoreError

address, source, name, ids = sys.argv[1], Path(sys.argv[2]), sys.argv[3], sys.argv[4:]
record, store = read_run(source), S3Store(address)
store.read_all()  # the connection stands
print("ready", flush=True)
sys.stdin.readline()
for run_id in ids:
    try:
        store.add(record.model_copy(update={"id": run_id, "note": name}))
        print("stored", flush=True)
    except StoreError as error:
        print("refused", error, flush=True)
"""


def named(run_id: str, note: str | None = None) -> RunRecord:
    return read_run(SOURCE).model_copy(update={"id": run_id, "note": note})


def test_a_record_comes_back_as_it_was(bucket):
    store = bucket("comes-back")
    assert store.add(named("one/two", "한글")) == "s3://comes-back/team/runs/one_two.json"
    assert S3Store(store.where).read_all() == [named("one/two", "한글")]


@pytest.mark.parametrize("prefix", ["", "a", "a/b/"], ids=["whole bucket", "one level", "a slash at the end"])
def test_each_prefix_is_a_store_of_its_own(bucket, prefix):
    store = bucket(f"prefix-{len(prefix)}", prefix)
    deeper = S3Store(f"{store.where}/deeper")
    store.add(named("mine"))
    deeper.add(named("theirs"))
    assert [record.id for record in store.read_all()] == ["mine"]
    assert [record.id for record in deeper.read_all()] == ["theirs"]


def test_the_same_record_again_changes_nothing(bucket):
    store = bucket("same-again")
    assert store.add(named("one")) == store.add(named("one"))
    store.check(named("one"))
    assert len(store.read_all()) == 1


def test_another_record_with_a_taken_id_is_refused(bucket):
    store = bucket("taken")
    store.add(named("one", "mine"))
    for refused in (store.add, store.check):
        with pytest.raises(StoreError, match=r"s3://taken/team/runs/one\.json: another run already has the id 'one'"):
            refused(named("one", "theirs"))
    assert [record.note for record in store.read_all()] == ["mine"]


def test_a_longer_name_is_not_the_same_name(bucket):
    store = bucket("longer")
    store.add(named("one.json-old", "theirs"))
    store.check(named("one", "mine"))


def test_more_records_than_a_page_holds_are_all_read(bucket):
    store = bucket("pages")
    client, body = boto3.client("s3"), read_run(SOURCE).model_dump_json()
    twin = body.replace('"id":"seed-000-dgx-station-v100"', '"id":"run-{}"')
    assert "run-{}" in twin
    for number in range(21):  # this S3 lists ten at a time
        client.put_object(Bucket="pages", Key=f"team/runs/{number}.json", Body=twin.replace("{}", str(number), 1))
    assert {record.id for record in store.read_all()} == {f"run-{number}" for number in range(21)}


def test_what_is_no_record_is_left_alone(bucket):
    store = bucket("others")
    boto3.client("s3").put_object(Bucket="others", Key="team/runs/README.md", Body=b"ours")
    boto3.client("s3").put_object(Bucket="others", Key="team/runs/sub/other.json", Body=b"not a record")
    assert store.read_all() == []


@pytest.mark.parametrize("body", [b"{half", b"\xff\xfe", b"{}"], ids=["cut short", "not text", "no record"])
def test_a_broken_object_is_named(bucket, body):
    store = bucket("broken")
    boto3.client("s3").put_object(Bucket="broken", Key="team/runs/bad.json", Body=body)
    with pytest.raises(InputError, match=r"s3://broken/team/runs/bad\.json"):
        store.read_all()


def test_two_objects_with_one_id_are_named(bucket):
    store = bucket("twins")
    store.add(named("one"))
    text = named("one", "other").model_dump_json()
    boto3.client("s3").put_object(Bucket="twins", Key="team/runs/copy.json", Body=text.encode())
    with pytest.raises(StoreError, match=r"one\.json and s3://twins/team/runs/copy\.json hold two runs"):
        store.read_all()


@pytest.mark.slow
def test_of_two_writers_with_the_same_ids_exactly_one_wins_each(bucket):
    store, ids = bucket("race"), [f"run-{number}" for number in range(25)]
    writers = {
        name: subprocess.Popen(
            [sys.executable, "-c", WRITER, store.where, str(SOURCE), name, *ids],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        for name in ("left", "right")
    }
    for process in writers.values():
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in writers.values():
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    said = {name: process.communicate()[0].splitlines() for name, process in writers.items()}
    stored = {record.id: record.note for record in store.read_all()}
    assert sorted(stored) == sorted(ids)
    for run_id, left, right in zip(ids, said["left"], said["right"], strict=True):
        winner, loser = (left, right) if stored[run_id] == "left" else (right, left)
        assert winner == "stored"
        assert loser.startswith("refused")
        assert run_id in loser


class TestStoreRefusals:
    @pytest.mark.parametrize("address", ["s3:/bucket", "s3://", "s3://UPPER/x", "gs://bucket", "s3://a_b/c"])
    def test_a_place_that_is_none_is_refused_before_anything_is_asked(self, address):
        with pytest.raises(InputError, match=r"is not a place on S3\. Write s3://bucket"):
            S3Store(address)

    @pytest.mark.usefixtures("aws")
    def test_a_bucket_that_is_not_there(self):
        with pytest.raises(StoreError, match=r"s3://a-missing-bucket/runs: there is no such bucket\. Check its name"):
            S3Store("s3://a-missing-bucket/runs").read_all()

    @pytest.mark.usefixtures("aws")
    def test_no_credentials(self, monkeypatch):
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.delenv(name)
        with pytest.raises(StoreError, match=r"there are no AWS credentials.*aws sso login"):
            S3Store("s3://bucket/runs").read_all()

    @pytest.mark.parametrize(
        ("code", "status", "kind", "said"),
        [
            ("AccessDenied", 403, StoreError, r"AWS forbids it\. Ask for the rights in launcher/iam/aws-policy\.json"),
            ("ExpiredToken", 400, StoreError, r"the AWS credentials have expired\. Sign in again"),
            ("NobodyKnows", 418, StoreError, r"AWS answered NobodyKnows: The fake was told to refuse"),
            ("InternalError", 500, NodeError, r"AWS had a fault of its own\. Try again"),
        ],
    )
    def test_what_aws_answers_is_said_in_plain_words(self, aws, bucket, monkeypatch, code, status, kind, said):
        store = bucket("refuses")
        monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
        aws.ask("refuse", code=code, status=status, after=0)
        for question in (store.read_all, lambda: store.add(named("one"))):
            with pytest.raises(kind, match=rf"s3://refuses/team/runs: {said}"):
                question()

    def test_credentials_that_expire_between_two_records_lose_neither(self, aws, bucket):
        store = bucket("expires")
        store.add(named("one"))
        aws.ask("refuse", code="ExpiredToken", status=400, after=0)
        with pytest.raises(StoreError, match="expired"):
            store.add(named("two"))
        aws.ask("reset")
        assert [record.id for record in store.read_all()] == ["one"]
        store.add(named("two"))
        assert [record.id for record in store.read_all()] == ["one", "two"]

    @pytest.mark.usefixtures("aws")
    def test_nobody_answers(self, monkeypatch):
        monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")  # the discard port, where nothing listens
        with pytest.raises(NodeError, match=r"AWS does not answer\. Check the network") as caught:
            S3Store("s3://bucket/runs").read_all()
        assert caught.value.exit_code == 4


class TestWhichStore:
    def test_planner_runs_names_it(self, bucket, monkeypatch, capsys):
        store = bucket("by-variable")
        monkeypatch.setenv("PLANNER_RUNS", store.where)
        exported = Path.home() / "one.json"
        exported.write_text(named("mine").model_dump_json(), encoding="utf-8")
        assert run(["runs", "add", str(exported)]) == 0
        assert "s3://by-variable/team/runs/mine.json" in capsys.readouterr().err
        assert run(["runs", "show", "latest"]) == 0
        assert '"id": "mine"' in capsys.readouterr().out
        assert [record.id for record in store.read_all()] == ["mine"]

    def test_the_settings_of_the_workspace_name_it(self, bucket, tmp_path):
        store = bucket("by-settings")
        (tmp_path / "settings.yaml").write_text(f"runs: {store.where}\n", encoding="utf-8")
        exported = tmp_path / "one.json"
        exported.write_text(named("mine").model_dump_json(), encoding="utf-8")
        assert run(["runs", "add", str(exported), "--home", str(tmp_path)]) == 0
        assert [record.id for record in store.read_all()] == ["mine"]
        assert not (tmp_path / "runs").exists()

    def test_a_folder_elsewhere(self, monkeypatch, tmp_path):
        exported = tmp_path / "one.json"
        exported.write_text(named("mine").model_dump_json(), encoding="utf-8")
        monkeypatch.setenv("PLANNER_RUNS", str(tmp_path / "shared"))
        assert run(["runs", "add", str(exported)]) == 0
        assert [path.name for path in (tmp_path / "shared").iterdir()] == ["mine.json"]

    @pytest.mark.parametrize("by", ["settings", "variable"])
    def test_a_folder_on_a_disk_that_is_not_mounted(self, monkeypatch, tmp_path, capsys, by):
        absent = tmp_path / "mnt" / "team" / "runs"
        home = tmp_path / "home"
        home.mkdir()
        if by == "settings":
            (home / "settings.yaml").write_text(f"runs: {absent}\n", encoding="utf-8")
        else:
            monkeypatch.setenv("PLANNER_RUNS", str(absent))
        assert run(["runs", "list", "--home", str(home)]) != 0
        assert "which is not there" in capsys.readouterr().err
        absent.parent.mkdir(parents=True)
        assert run(["runs", "list", "--home", str(home)]) == 0

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("runs: gs://bucket/runs", "'gs://bucket/runs' is not a place on S3"),
            ("runs: s3:/bucket", "'s3:/bucket' is not a place on S3"),
            ("run: s3://bucket", "settings.yaml"),
            ('runs: "\\0"', "a control character"),
        ],
    )
    def test_settings_that_are_wrong_are_named(self, tmp_path, capsys, text, said):
        (tmp_path / "settings.yaml").write_text(text, encoding="utf-8")
        assert run(["runs", "list", "--home", str(tmp_path)]) == 2
        assert said in capsys.readouterr().err
