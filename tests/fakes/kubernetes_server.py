"""A Kubernetes API on loopback: two nodes of eight H200 and whatever pods a test puts there; it can refuse.

`python tests/fakes/kubernetes_server.py` prints its port. Shapes follow the Kubernetes API reference, version 1.33.
"""

from __future__ import annotations

import json
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

SIZE = {"cpu": "192", "memory": "2000Gi", "nvidia.com/gpu": "8", "ephemeral-storage": "1000Gi", "pods": "110"}
PODS: list[dict[str, Any]] = []
CALLS: list[dict[str, str]] = []
STATE: dict[str, Any] = {"refuse": None}


def _node(name: str) -> dict[str, Any]:
    labels = {
        "nvidia.com/gpu.product": "NVIDIA-H200",
        "skypilot.co/accelerator": "h200",
        "kubernetes.io/hostname": name,
        "kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/arch": "amd64",
    }
    about = dict.fromkeys(("bootID", "kernelVersion", "kubeProxyVersion", "machineID", "osImage", "systemUUID"), "x")
    return {
        "metadata": {"name": name, "uid": name, "labels": labels},
        "spec": {},
        "status": {
            "capacity": SIZE,
            "allocatable": SIZE,
            "conditions": [{"type": "Ready", "status": "True"}],
            "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
            "nodeInfo": about
            | {
                "architecture": "amd64",
                "operatingSystem": "linux",
                "kubeletVersion": "v1.33.0",
                "containerRuntimeVersion": "containerd://1.7.0",
            },
        },
    }


NODES = {name: _node(name) for name in ("h200-0", "h200-1")}


class KubernetesHandler(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        if self._refused(url.path):
            return
        if url.path.rstrip("/") == "/version":
            self._say({"major": "1", "minor": "33", "gitVersion": "v1.33.0"})
        elif url.path == "/api/v1/nodes":
            self._say({"kind": "NodeList", "apiVersion": "v1", "metadata": {}, "items": list(NODES.values())})
        elif url.path.startswith("/api/v1/nodes/"):
            self._say(NODES[url.path.rpartition("/")[2]])
        elif named_pod := re.fullmatch(r"/api/v1/namespaces/[^/]+/pods/([^/]+)", url.path):
            named = [pod for pod in PODS if pod["metadata"]["name"] == named_pod[1]]
            absent = {"kind": "Status", "status": "Failure", "code": 404}
            self._say(named[0] if named else absent, 200 if named else 404)
        elif url.path == "/api/v1/pods" or re.fullmatch(r"/api/v1/namespaces/[^/]+/pods", url.path):
            wanted = parse_qs(url.query).get("labelSelector", [""])[0]
            self._say({"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": _labelled(wanted)})
        else:
            self._say({"kind": "List", "apiVersion": "v1", "metadata": {}, "items": []})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        if self.path.startswith("/fake/"):
            self._say(_told(self.path.removeprefix("/fake/"), body))
            return
        if self._refused(self.path):
            return
        if "selfsubject" in self.path:
            body["status"] = {"allowed": True}
        self._say(body, 201)

    def do_DELETE(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self._refused(self.path):
            return
        name = urlsplit(self.path).path.rpartition("/")[2]
        PODS[:] = [pod for pod in PODS if pod["metadata"]["name"] != name]
        self._say({"kind": "Status", "apiVersion": "v1", "status": "Success"})

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the calls are kept."""

    def _refused(self, path: str) -> bool:
        CALLS.append({"method": self.command, "path": path})
        if STATE["refuse"] is None:
            return False
        self._say({"kind": "Status", "status": "Failure", "message": "told to refuse"}, STATE["refuse"]["status"])
        return True

    def _say(self, answer: Any, status: int = 200) -> None:
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _labelled(selector: str) -> list[dict[str, Any]]:
    """Select pods by `key=value` or `key`, as labelSelector does."""
    key, equals, value = selector.partition("=")
    if not key:
        return PODS
    labels = [(pod, pod["metadata"].get("labels", {})) for pod in PODS]
    return [pod for pod, has in labels if key in has and (not equals or has[key] == value)]


def _told(what: str, body: dict[str, Any]) -> Any:
    if what == "refuse":
        STATE["refuse"] = body
    if what == "pod":
        PODS.append(body)
    if what == "reset":
        STATE["refuse"] = None
        PODS.clear()
        CALLS.clear()
    return CALLS


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), KubernetesHandler)
    print(server.server_port, flush=True)
    server.serve_forever()
