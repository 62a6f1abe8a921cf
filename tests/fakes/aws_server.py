"""AWS on loopback: moto, one request at a time (as atomic as S3 is), which keeps a log and can be told to refuse.

`python tests/fakes/aws_server.py` prints its port. `POST /fake/refuse` with `{"code", "status", "after"}` makes every
request but the first `after` fail with that code (`only`: requests of that action; `region`: in that region; `holding`:
requests whose body holds that text); `POST /fake/calls` lists the requests since `POST /fake/reset`; `POST /fake/blind`
with `{"times"}` lets that many lists of instances be empty; `POST /fake/reserve` describes a Capacity Block with EC2's
own keys; `POST /fake/role` tells which role a machine carries: its name and the credentials that the metadata service
then hands out.
"""

from __future__ import annotations

import io
import json
import re
import threading
from collections.abc import Callable, Iterable
from typing import Any

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import make_server

REGIONS = ("us-east-1", "us-east-2", "us-west-2")
OTHER_ACCOUNT = "KEYOF"
"""An access key `KEYOF222222222222` signs for that account; all others are of moto's own."""
NEVER_REFUSED = "KEYOFTHETEST"
NO_INSTANCES = (
    b'<DescribeInstancesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><requestId>one</requestId>'
    b"<reservationSet/></DescribeInstancesResponse>"
)
Environ = dict[str, Any]
Start = Callable[..., Any]


class OneAtATime:
    """A WSGI application that answers the fake's own questions and hands the rest to moto."""

    def __init__(self) -> None:
        self.moto = DomainDispatcherApplication(create_backend_app)
        self.lock = threading.Lock()
        self.calls: list[dict[str, str]] = []
        self.refusal: dict[str, Any] | None = None
        self.reserved: dict[str, str] | None = None
        self.role: dict[str, str] | None = None
        self.blind_times = 0

    def __call__(self, environ: Environ, start: Start) -> Iterable[bytes]:
        with self.lock:
            path = environ["PATH_INFO"]
            if path.startswith("/fake/"):
                return self._answer(path.removeprefix("/fake/"), environ, start)
            if path.startswith("/latest/") and self.role is not None:
                return self._metadata(path, start)
            action = _action(environ)
            self.calls.append({"service": _service(environ), "action": action, "path": path})
            key = _key(environ)
            if re.fullmatch(rf"{OTHER_ACCOUNT}\d{{12}}", key):
                environ["HTTP_X_MOTO_ACCOUNT_ID"] = key.removeprefix(OTHER_ACCOUNT)
            ours = path.startswith("/moto-api") or key == NEVER_REFUSED
            if not ours and self.refusal is not None and _meant(self.refusal, environ, action):
                self.refusal["after"] -= 1
                if self.refusal["after"] < 0:
                    return self._refuse(environ, start)
            if not ours and action == "DescribeInstances" and self.blind_times > 0:
                self.blind_times -= 1
                start("200 OK", [("Content-Type", "text/xml")])
                return [NO_INSTANCES]
            if action == "DescribeCapacityReservations":
                return self._reservations(start)
            answer = b"".join(self.moto(environ, start))
            return [_few_regions(answer)] if action == "DescribeRegions" else [answer]

    def _answer(self, question: str, environ: Environ, start: Start) -> Iterable[bytes]:
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        if question == "refuse":
            self.refusal = json.loads(body)
        if question == "reserve":
            self.reserved = json.loads(body)
        if question == "role":
            self.role = json.loads(body)
        if question == "blind":
            self.blind_times = json.loads(body)["times"]
        if question == "reset":
            self.blind_times = 0
            self.calls, self.refusal, self.reserved = [], None, None
        start("200 OK", [("Content-Type", "application/json")])
        return [] if environ["REQUEST_METHOD"] == "HEAD" else [json.dumps(self.calls).encode()]

    def _reservations(self, start: Start) -> Iterable[bytes]:
        """Answer what moto has not learnt: the one Capacity Block that a test told of, or none."""
        start("200 OK", [("Content-Type", "text/xml")])
        facts = "".join(f"<{key}>{value}</{key}>" for key, value in (self.reserved or {}).items())
        items = f"<item>{facts}</item>" if facts else ""
        answer = "DescribeCapacityReservationsResponse"
        space = "http://ec2.amazonaws.com/doc/2016-11-15/"
        held = f"<capacityReservationSet>{items}</capacityReservationSet>"
        return [f'<{answer} xmlns="{space}"><requestId>one</requestId>{held}</{answer}>'.encode()]

    def _metadata(self, path: str, start: Start) -> Iterable[bytes]:
        """Answer as a machine's metadata service (IMDSv2) does: a token, the name of its role, the role's keys."""
        assert self.role is not None
        answers = {
            "/latest/api/token": "a-token",
            "/latest/meta-data/iam/security-credentials/": self.role["name"],
            f"/latest/meta-data/iam/security-credentials/{self.role['name']}": json.dumps(self.role["credentials"]),
        }
        start("200 OK" if path in answers else "404 Not Found", [("Content-Type", "text/plain")])
        return [answers.get(path, "").encode()]

    def _refuse(self, environ: Environ, start: Start) -> Iterable[bytes]:
        """Refuse in the way of the service that was asked: JSON, EC2's XML or the others' XML."""
        assert self.refusal is not None
        code, status = self.refusal["code"], self.refusal["status"]
        said = f"<Code>{code}</Code><Message>The fake was told to refuse.</Message>"
        if "HTTP_X_AMZ_TARGET" in environ:
            kind, text = "application/x-amz-json-1.1", json.dumps({"__type": code, "message": "told to refuse"})
        elif _service(environ) == "ec2":
            kind, text = "text/xml", f"<Response><Errors><Error>{said}</Error></Errors></Response>"
        elif _service(environ) == "s3":
            kind, text = "text/xml", f"<Error>{said}</Error>"
        else:
            kind, text = "text/xml", f"<ErrorResponse><Error>{said}</Error></ErrorResponse>"
        start(f"{status} Refused", [("Content-Type", kind)])
        return [text.encode()]


def _few_regions(answer: bytes) -> bytes:
    """Keep the regions that the fake account has enabled: moto takes a second to furnish each that is asked."""
    items = re.findall(rb"<item>.*?</item>", answer, re.DOTALL)
    for item in items:
        if not any(region.encode() + b"</regionName>" in item for region in REGIONS):
            answer = answer.replace(item, b"")
    return answer


def _action(environ: Environ) -> str:
    """Return the action of a query or JSON request, and the method of any other; the body can be read again."""
    if "HTTP_X_AMZ_TARGET" in environ:
        return str(environ["HTTP_X_AMZ_TARGET"]).rpartition(".")[2]
    if environ["REQUEST_METHOD"] != "POST" or _service(environ) == "s3":
        return str(environ["REQUEST_METHOD"])
    body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    environ["wsgi.input"] = io.BytesIO(body)
    named = re.search(rb"(?:^|&)Action=(\w+)", body)
    return named[1].decode() if named else "POST"


def _key(environ: Environ) -> str:
    """Return the access key that signed a request."""
    signed = re.search(r"Credential=([^/]+)/", environ.get("HTTP_AUTHORIZATION", ""))
    return signed[1] if signed else ""


def _meant(refusal: dict[str, Any], environ: Environ, action: str) -> bool:
    """Return whether a refusal is meant for this request; its body can be read again."""
    length = int(environ.get("CONTENT_LENGTH") or 0)
    body = environ["wsgi.input"].read(length) if refusal.get("holding") else b""
    if refusal.get("holding"):
        environ["wsgi.input"] = io.BytesIO(body)
    named = re.search(r"Credential=[^/]+/\d+/([^/]+)/", environ.get("HTTP_AUTHORIZATION", ""))
    return (
        refusal.get("only") in (None, action)
        and refusal.get("region") in (None, named[1] if named else None)
        and str(refusal.get("holding") or "").encode() in body
    )


def _service(environ: Environ) -> str:
    """Return the service of a signed request: it stands in the scope of the signature."""
    signed = re.search(r"Credential=[^/]+/\d+/[^/]+/([^/]+)/aws4_request", environ.get("HTTP_AUTHORIZATION", ""))
    return signed[1] if signed else ""


if __name__ == "__main__":
    server = make_server("127.0.0.1", 0, OneAtATime(), threaded=True, request_handler=MotoRequestHandler)
    print(server.server_port, flush=True)
    server.serve_forever()
