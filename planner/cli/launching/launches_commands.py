"""`planner launches list|show|logs|collect|down|reap|bill`: what was launched, what became of it, what still runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import closing
from typing import Annotated

import typer

from planner.cli.launching.launch_screen import bill_lines
from planner.cli.launching.launch_view import (
    bill_rows,
    conclude,
    end_badly,
    end_badly_if_unread,
    not_down,
    reaped_rows,
    state_rows,
    watched,
)
from planner.cli.output import HomeOption, JsonFlag, TableOptions
from planner.cli.registration import command, command_app, command_group
from planner.cli.streams import lasting_output, print_document, say
from planner.errors import InputError, NodeError
from planner.launcher.documents import FoundResource, LaunchesDocument, LaunchStory, ReapDocument
from planner.launcher.drive.unwritten import fault_text
from planner.launcher.ledger.entry import State
from planner.redact import clean
from planner.use_cases.launching.launch_documents import bill_document, open_ids, planned_document, state_of
from planner.use_cases.launching.launch_plan import Planned
from planner.use_cases.launching.launches import Launches
from planner.use_cases.launching.launches_reap import reap as reap_launches
from planner.use_cases.launching.launches_reap import take_down_by_id, to_take_down

UNDER_WAY = (State.PLANNED, State.SUBMITTED, State.RUNNING)
"""States in which a launch may be left for now, because its job is not over."""

app = command_app()
launches_group = command_group(app, "launches", "Follow, collect, stop and bill launches.")

IdArgument = Annotated[str, typer.Argument(metavar="ID", help="Launch id, from planner launches list")]
IdsArgument = Annotated[
    list[str] | None, typer.Argument(metavar="[ID...]", help="Launch ids; default: all that are open")
]


@command(launches_group, "list", example="planner launches list --json")
def list_launches(output: TableOptions, home: HomeOption = None) -> None:
    """List every launch in the workspace's ledger."""
    with closing(Launches(home)) as launches:
        entries, unread = launches.ledger.entries(), launches.ledger.unreadable()
        states = tuple(state_of(entry) for entry in entries)
    if output.json:
        print_document(LaunchesDocument(launches=states))
    else:
        output.print_rows(state_rows(states), title="Launches")
    if open_ids(entries):
        say(f"{len(open_ids(entries))} open. Continue with: planner launches collect")
    end_badly_if_unread(unread)


@command(launches_group, example="planner launches show 20261121-120000-1a2b3c")
def show(run_id: IdArgument, as_json: JsonFlag = False, home: HomeOption = None) -> None:
    """Show the bill, the limits and the events of one launch."""
    with closing(Launches(home)) as launches:
        entry, events = launches.ledger.entry(run_id), tuple(launches.ledger.events(run_id))
        story = LaunchStory(
            launch=state_of(entry),
            planned=planned_document(Planned(entry.launch)),
            events=events,
            folder=str(launches.folder / run_id),
        )
    if as_json:
        print_document(story)
        return
    print("\n".join(bill_lines(story.planned)))
    print(f"  results in   {story.folder}")
    for event in events:
        print(f"{event.at:%Y-%m-%d %H:%M:%S}  {event.kind}  {event.text}".rstrip())


@command(launches_group, example="planner launches logs 20261121-120000-1a2b3c")
def logs(run_id: IdArgument, home: HomeOption = None) -> None:
    """Print the log of set-up and job of one launch.

    It is read from the machine while the launch is open, and from the workspace afterwards.
    """
    with closing(Launches(home)) as launches:
        entry = launches.ledger.entry(run_id)
        if entry.open:
            launches.backend(entry.launch.target.reach).logs(entry.launch, _write)
            return
        paths = sorted(path for path in (launches.folder / run_id).rglob("*.log") if path.is_file())
    if not paths:
        raise InputError(f"{run_id}: left no log.", fix=f"See: planner launches show {run_id}")
    for path in paths:
        if len(paths) > 1:
            print(f"== {path.parent.name}")
        sys.stdout.write(path.read_text(encoding="utf-8", errors="replace"))


@command(launches_group, example="planner launches collect")
def collect(
    run_ids: IdsArgument = None,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait for the end, or look once")] = True,
    as_json: JsonFlag = False,
    home: HomeOption = None,
) -> None:
    """Resume open launches: wait, collect, take down, record."""
    with lasting_output(), closing(Launches(home, tell=say)) as launches:
        wanted = list(run_ids or open_ids(launches.ledger.entries()))
        unread = {} if run_ids else launches.ledger.unreadable()
        if wait:
            entries = watched(launches, wanted, lambda view: launches.resume(wanted, tick=view))
        else:
            entries = launches.step_each(wanted)
        if as_json:
            print_document(LaunchesDocument(launches=tuple(state_of(entry) for entry in entries)))
        if not entries and not unread:
            say("No launch is open.")
        conclude(launches, entries if wait else [entry for entry in entries if entry.state not in UNDER_WAY], unread)


@command(launches_group, example="planner launches down 20261121-120000-1a2b3c")
def down(
    run_ids: IdsArgument = None,
    everything: Annotated[bool, typer.Option("--all", help="Take down every open launch")] = False,
    account_changed: Annotated[
        bool,
        typer.Option("--account-changed", help="The keys or the host here are of the account that launched; I know it"),
    ] = False,
    as_json: JsonFlag = False,
    home: HomeOption = None,
) -> None:
    """Collect what is there, take launches down, verify it."""
    if bool(run_ids) == everything:
        raise InputError("name the launches, or give --all, and not both.", fix="List them with: planner launches list")
    with lasting_output(), closing(Launches(home, tell=say)) as launches:
        wanted, unread = to_take_down(launches, run_ids)
        found = take_down_by_id(launches, list(unread))
        try:
            entries, failures = launches.cancel_all(wanted, account_changed=account_changed)
        except KeyboardInterrupt:
            say(f"Not proven gone: {', '.join(wanted)}. Go on with: planner launches collect {' '.join(wanted)}")
            raise
        if as_json:
            print_document(LaunchesDocument(launches=tuple(state_of(entry) for entry in entries), found=found))
        for entry in entries:
            if entry.launch.run_id not in failures:
                say(f"{entry.launch.run_id}: {entry.state.value}")
        for run_id, failure in failures.items():
            said = fault_text(failure)
            say(f"Error: {said}" if said.startswith(run_id) else f"Error: {run_id}: {said}")
        for resource in found:
            say(f"{resource.run_id}: {unread[resource.run_id or '']}")
            say(f"  taken down by its id: {'; '.join(resource.evidence.checks if resource.evidence else ())}")
        still = [resource.run_id or resource.name for resource in found if resource.alarm] + open_ids(entries)
        if still:
            not_down(launches, still)
        if failures or found:
            raise typer.Exit(NodeError.exit_code)


@command(launches_group, example="planner launches reap --yes")
def reap(
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Take down what should be gone")] = False,
    everywhere: Annotated[
        bool, typer.Option("--everywhere", help="Ask every cloud, also where nothing was launched")
    ] = False,
    output: TableOptions,
    home: HomeOption = None,
) -> None:
    """Find machines that run although no launch needs them.

    Compares the ledger with what runs here, on the hosts and in the clouds. Takes machines down only with --yes.
    """
    with closing(Launches(home)) as launches:
        reaped = reap_launches(launches, take_down=yes, everywhere=everywhere)
    document = ReapDocument(found=reaped.found, settled=tuple(state_of(entry) for entry in reaped.settled))
    if output.json:
        print_document(document)
    else:
        output.print_rows(reaped_rows(document), title="What runs")
    for state in document.settled:
        say(f"{state.run_id}: {state.state.value}")
    alarms = [f"{resource.name} ({resource.verdict})" for resource in reaped.found if resource.alarm]
    if alarms:
        end_badly(
            f"{', '.join(alarms)}: may run or be billed, and no launch controls it.",
            fix=_what_to_do(reaped.found, yes=yes),
        )


@command(launches_group, example="planner launches bill --json")
def bill(
    *,
    run_ids: Annotated[list[str] | None, typer.Argument(metavar="[ID...]", help="Launch ids; default: all")] = None,
    ask: Annotated[bool, typer.Option("--ask", help="Ask AWS Cost Explorer too, at 0.01 USD per question")] = False,
    output: TableOptions,
    home: HomeOption = None,
) -> None:
    """Compare worst case, ledger and provider's bill."""
    with closing(Launches(home)) as launches:
        entries = [launches.ledger.entry(run_id) for run_id in run_ids or []] or launches.ledger.entries()
        unread = {} if run_ids else launches.ledger.unreadable()
        document = bill_document(entries, ask=ask, today=launches.now().date())
    if output.json:
        print_document(document)
    else:
        output.print_rows(bill_rows(document), title="Bill")
    end_badly_if_unread(unread)


def _what_to_do(found: Sequence[FoundResource], *, yes: bool) -> str:
    unknown = [
        resource.run_id
        for resource in found
        if resource.alarm and resource.run_id and resource.verdict == "not in this ledger"
    ]
    if unknown:
        return f"Take down what the ledger does not know: planner launches down {' '.join(dict.fromkeys(unknown))}"
    return "Look in the provider's console." if yes else "Take down what is ours: planner launches reap --yes"


def _write(text: str) -> None:
    sys.stdout.write(clean(text))
