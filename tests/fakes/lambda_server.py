"""Lambda's public cloud API on loopback: instances, types, keys; it keeps a log and can be told to refuse.

`python tests/fakes/lambda_server.py` prints its port. Shapes follow Lambda's published API reference, version 1. An
instance that was launched with a key is seen with that key only. `POST /fake/paged` with `{"size"}` lists that many a
page; `POST /fake/keep` with `{"names"}` refuses to terminate these, and with them all that are named beside them.
`POST /fake/empty` with `{"times"}` lets that many lists be empty; `change` with `{"id", "name", "status"}` changes an
instance as its console does, `owner` with `{"id", "key"}` gives it to another key, and `ending` with `{"ids"}` answers
that these are terminated and goes on listing them as `terminating`.
"""

from __future__ import annotations

import json
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

CENTS_PER_HOUR = {"gpu_8x_h100_sxm5": 3192, "gpu_8x_a100_80gb_sxm4": 2232, "gpu_1x_h100_sxm5": 429}
INSTANCES: dict[str, dict[str, Any]] = {}
OWNERS: dict[str, str] = {}
"""The API key, which stands for the account, with which each instance was launched: other keys do not see it.

One that was launched without a key is everybody's.
"""
KEYS: list[dict[str, Any]] = []
CALLS: list[dict[str, str]] = []
STATE: dict[str, Any] = {"refuse": None, "size": None, "keep": [], "empty": 0, "ending": []}


class LambdaHandler(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        url = urlsplit(self.path.removeprefix("/api/v1"))
        path = url.path
        if self._refused(path):
            return
        if path == "/instances" and STATE["empty"] > 0:
            STATE["empty"] -= 1
            self._say({"data": []}, True)
            return
        if path == "/instances":
            self._say(_page(self._seen(), parse_qs(url.query).get("page_token", ["0"])[0]), True)
            return
        known: dict[str, Any] = {
            "/ssh-keys": KEYS,
            "/firewall-rules": [],
            "/instance-types": {
                name: {
                    "instance_type": {"name": name, "price_cents_per_hour": cents},
                    "regions_with_capacity_available": [{"name": "us-east-1"}],
                }
                for name, cents in CENTS_PER_HOUR.items()
            },
        }
        self._say({"data": known[path]} if path in known else {"error": {"code": "not-found"}}, path in known)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        path = self.path.removeprefix("/api/v1")
        if path.startswith("/fake/"):
            self._say(_told(path.removeprefix("/fake/"), body), True)
            return
        if self._refused(path):
            return
        if path == "/ssh-keys":
            KEYS.append(body)
            self._say({"data": body}, True)
        elif path == "/instance-operations/launch":
            ids = [_launch(body, self._key()) for _ in range(body.get("quantity", 1))]
            self._say({"data": {"instance_ids": ids}}, True)
        elif path == "/instance-operations/terminate":
            if any(INSTANCES.get(instance_id, {}).get("name") in STATE["keep"] for instance_id in body["instance_ids"]):
                self._send(json.dumps({"error": {"code": "global/invalid-parameters"}}).encode(), 400)
                return
            ended = [INSTANCES[instance_id] for instance_id in body["instance_ids"] if self._sees(instance_id)]
            for instance in ended:
                if instance["id"] in STATE["ending"]:
                    instance["status"] = "terminating"
                else:
                    del INSTANCES[instance["id"]], OWNERS[instance["id"]]
            self._say({"data": {"terminated_instances": ended}}, True)
        else:
            self._say({"error": {"code": "not-found"}}, False)

    def _seen(self) -> list[dict[str, Any]]:
        return [INSTANCES[instance] for instance in INSTANCES if self._sees(instance)]

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the calls are kept."""

    def _key(self) -> str:
        return str(self.headers.get("Authorization", "")).removeprefix("Bearer ")

    def _sees(self, instance_id: str) -> bool:
        return instance_id in INSTANCES and (not OWNERS[instance_id] or OWNERS[instance_id] == self._key())

    def _refused(self, path: str) -> bool:
        CALLS.append({"method": self.command, "path": path})
        refusal = STATE["refuse"]
        if refusal is None:
            return False
        said = json.dumps({"error": {"code": refusal["code"], "message": "The fake was told to refuse."}}).encode()
        self._send(said, refusal["status"])
        return True

    def _say(self, answer: Any, found: bool) -> None:
        self._send(json.dumps(answer).encode(), 200 if found else 404)

    def _send(self, body: bytes, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _page(instances: list[dict[str, Any]], token: str) -> dict[str, Any]:
    size = STATE["size"] or max(1, len(instances))
    end = int(token) + size
    return {"data": instances[int(token) : end]} | ({"next_page_token": str(end)} if end < len(instances) else {})


def _launch(body: dict[str, Any], key: str) -> str:
    instance_id = uuid.uuid4().hex
    OWNERS[instance_id] = key
    INSTANCES[instance_id] = {
        "id": instance_id,
        "name": body["name"],
        "status": "active",
        "ip": "127.0.0.1",
        "private_ip": "127.0.0.1",
        "region": {"name": body["region_name"]},
        "instance_type": {"name": body["instance_type_name"]},
    }
    return instance_id


def _told(what: str, body: dict[str, Any]) -> Any:
    if what == "refuse":
        STATE["refuse"] = body
    if what == "paged":
        STATE["size"] = body["size"]
    if what == "keep":
        STATE["keep"] = body["names"]
    if what == "reset":
        STATE.update(refuse=None, size=None, keep=[], empty=0, ending=[])
        for kept in (INSTANCES, OWNERS, KEYS, CALLS):
            kept.clear()
    if what == "empty":
        STATE["empty"] = body["times"]
    if what == "ending":
        STATE["ending"] = body["ids"]
    if what == "change":
        INSTANCES[body.pop("id")].update(body)
    if what == "owner":
        OWNERS[body["id"]] = body["key"]
    if what == "accept":
        STATE.update(refuse=None, empty=0, ending=[])
    if what == "instances":
        return list(INSTANCES)
    return CALLS


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), LambdaHandler)
    print(server.server_port, flush=True)
    server.serve_forever()
