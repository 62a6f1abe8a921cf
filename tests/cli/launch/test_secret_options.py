"""An option that holds a secret is refused before it is written anywhere, and the refusal does not repeat it."""

from __future__ import annotations

import pytest

SECRET = "Zx9canary8"
P4D = "aws/p4d.24xlarge"
CLOUD = ("launch", "gpt-305m", "--on", P4D, "--json")


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--store", f"s3://me:{SECRET}@bucket/prefix"),
        ("--store", f"s3://bucket/prefix?X-Amz-Signature={SECRET}"),
        ("--store", f"s3://AKIAIOSFODNN7EXAMPLE:{SECRET}/x@bucket"),
        ("--image", f"docker:me:{SECRET}@registry.example/image"),
        ("--image", f"docker:https://me:{SECRET}@registry.example/image"),
        ("--data", f"/data/x?token={SECRET}"),
        ("--data", f"s3://me:{SECRET}@bucket/shards"),
        ("--region", "AKIAIOSFODNN7EXAMPLE"),
        ("--capacity-block", f"cr-1?sig={SECRET}"),
    ],
)
def test_an_option_with_a_secret_is_refused(planner, option, value):
    for command in (CLOUD, ("task", "gpt-305m", "--on", P4D)):
        answer = planner(*command, option, value)
        assert answer.code == 2
        said = answer.out + answer.err
        assert option in said
        assert SECRET not in said
        assert "AKIA" not in said


def test_a_value_that_is_a_secret_of_this_environment_is_refused_whatever_it_looks_like(planner, monkeypatch):
    monkeypatch.setenv("LAMBDA_API_KEY", "quite-an-ordinary-word")
    answer = planner(*CLOUD, "--store", "s3://bucket/quite-an-ordinary-word")
    assert (answer.code, "quite-an-ordinary-word" in answer.out + answer.err) == (2, False)


@pytest.mark.parametrize(
    "store",
    [
        "s3://",
        "s3:///prefix",
        "s3://Bucket/x",
        "s3://bucket/../other",
        "s3://bucket/a/./b",
        "s3://bucket//x",
        "s3://bucket:8080/x",
        "s3://bucket/x?versionId=1",
        "s3://bucket/x#y",
        "s3://192.168.0.1/x",
        "s3://me@bucket/x",
        "s3://bucket/a\nb",
        "s3://bucket/$(id)",
        "s3://-bucket/x",
        "s3://a..b/x",
        f"s3://{'b' * 64}/x",
    ],
)
def test_a_store_that_names_no_bucket_is_refused_before_anything_is_asked(planner, store):
    answer = planner(*CLOUD, "--store", store)
    assert answer.code == 2
    assert "Write s3://bucket/prefix" in answer.err


@pytest.mark.parametrize("store", ["s3://planner-runs", "s3://a.b-c.1/2026/run 1/x=y", "s3://planner-runs/"])
def test_a_bucket_with_a_plain_prefix_is_taken(planner, store):
    answer = planner(*CLOUD, "--store", store)
    assert answer.code == 0, answer.err
    (launch,) = answer.document["launches"]
    assert launch["task"]["envs"]["PLANNER_PUSH_TO"] == store.rstrip("/")


@pytest.mark.parametrize(
    "image",
    [
        "docker:nvcr.io/nvidia/pytorch:24.05-py3",
        "docker:host:5000/a/b@sha256:0123456789abcdef",
        "ami-0abc",
        "skypilot:x-1",
    ],
)
def test_a_name_of_an_image_is_taken(planner, image):
    (launch,) = planner(*CLOUD, "--image", image).document["launches"]
    assert launch["task"]["resources"]["image_id"] == image


def test_a_name_of_an_image_with_more_in_it_is_refused(planner):
    for image in ("docker:a b", "docker:a;id", "docker:me@registry/x", "docker:a?x=1"):
        assert planner(*CLOUD, "--image", image).code == 2
