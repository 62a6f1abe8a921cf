"""A node on loopback for a real `sky launch`: anyone may log in, and each command runs in $FAKE_NODE_HOME.

`python tests/fakes/node_sshd.py` prints its port. It runs in the end-to-end test's own environment, which has asyncssh.
"""

from __future__ import annotations

import asyncio
import contextlib
import os

import asyncssh

PASSED_ON = ("AWS_ENDPOINT_URL", "AWS_EC2_METADATA_SERVICE_ENDPOINT", "PLANNER_PYTHON")
PATIENCE_S = 2


def environment() -> dict[str, str]:
    """Return what a login on the node sees: a home and a path of its own, and where the fake AWS is.

    No keys: a machine has those of its role, from the metadata service.
    """
    return {
        "HOME": os.environ["FAKE_NODE_HOME"],
        "PATH": os.environ["FAKE_NODE_PATH"],
        "USER": "ubuntu",
        "LOGNAME": "ubuntu",
        "SHELL": "/bin/bash",
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "SKYPILOT_DISABLE_USAGE_COLLECTION": "1",
        **{name: os.environ[name] for name in PASSED_ON if name in os.environ},
    }


class OpenDoor(asyncssh.SSHServer):
    """No key is asked for: the door is on loopback and lives for one test."""

    def begin_auth(self, username: str) -> bool:
        del username
        return False

    def connection_requested(self, *_: object) -> bool:
        return True

    def server_requested(self, *_: object) -> bool:
        return True


async def run(process: asyncssh.SSHServerProcess[bytes]) -> None:
    """Run one command to its end, as sshd does."""
    child = await asyncio.create_subprocess_exec(
        "/bin/bash",
        *(("-c", process.command) if process.command else ("--login",)),
        env=environment(),
        cwd=os.environ["FAKE_NODE_HOME"],
        start_new_session=True,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    await process.redirect(stdin=child.stdin, stdout=child.stdout, stderr=child.stderr)
    code = await child.wait()
    with contextlib.suppress(asyncio.TimeoutError):
        await asyncio.wait_for(process.stdout.drain(), PATIENCE_S)
    process.exit(code if code >= 0 else 128 - code)


async def main() -> None:
    """Listen until the process is ended."""
    server = await asyncssh.create_server(
        OpenDoor,
        "127.0.0.1",
        0,
        server_host_keys=[asyncssh.generate_private_key("ssh-ed25519")],
        process_factory=run,
        encoding=None,
        allow_scp=False,
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.wait_closed()


if __name__ == "__main__":
    asyncio.run(main())
