"""`planner launches list|show|logs|collect|down|reap|bill`: what was launched, what became of it, what still runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from planner.cli.output import FormatOption, HomeOption, JsonFlag, print_document, print_rows, say
from planner.errors import InputError

if TYPE_CHECKING:
    from planner.use_cases.launches import Launches

app = typer.Typer(
    help="What was launched, what became of it, what still runs.", no_args_is_help=True, rich_markup_mode=None
)

IdArgument = Annotated[str, typer.Argument(metavar="ID", help="A launch's id, as planner launches list shows it.")]
IdsArgument = Annotated[
    list[str] | None, typer.Argument(metavar="[ID...]", help="Default: all that are open.", show_default=False)
]


@app.command("list", epilog="Example: planner launches list --json")
def list_launches(as_json: JsonFlag = False, form: FormatOption = None, home: HomeOption = None) -> None:
    """List every launch of the workspace, as the ledger has it; asks nobody."""
    from launcher.documents import LaunchesDocument
    from planner.cli.launch_view import state_rows
    from planner.use_cases.launches import open_ids, state_of

    with _opened(home) as launches:
        entries = launches.ledger.entries()
        states = tuple(state_of(entry) for entry in entries)
    if as_json:
        print_document(LaunchesDocument(launches=states))
    else:
        print_rows(state_rows(states), form, title="Launches")
    if open_ids(entries):
        say(f"{len(open_ids(entries))} not over. Go on with: planner launches collect")


@app.command(epilog="Example: planner launches show 20261121-120000-1a2b3c")
def show(run_id: IdArgument, as_json: JsonFlag = False, home: HomeOption = None) -> None:
    """Show one launch: its bill, its caps, and everything that happened."""
    from launcher.documents import LaunchStory
    from planner.cli.launch_view import bill_lines
    from planner.use_cases.launch_plan import Planned
    from planner.use_cases.launches import planned_document, state_of

    with _opened(home) as launches:
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


@app.command(epilog="Example: planner launches logs 20261121-120000-1a2b3c")
def logs(run_id: IdArgument, home: HomeOption = None) -> None:
    """Print the log of set-up and job: from the machine while it is there, from the workspace afterwards."""
    with _opened(home) as launches:
        entry = launches.ledger.entry(run_id)
        if entry.open:
            launches.backend(entry.launch.target.provider).logs(entry.launch, _write)
            return
        found = sorted((launches.folder / run_id).rglob("*.log"))
    if not found:
        raise InputError(f"{run_id}: left no log.", fix=f"See: planner launches show {run_id}")
    for path in found:
        if len(found) > 1:
            print(f"== {path.parent.name}")
        sys.stdout.write(path.read_text(encoding="utf-8", errors="replace"))


@app.command(epilog="Example: planner launches collect")
def collect(
    run_ids: IdsArgument = None,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Until they are over, or one look.")] = True,
    as_json: JsonFlag = False,
    home: HomeOption = None,
) -> None:
    """Take launches up where the last client left them: wait, collect, take down, verify, make the record."""
    from launcher.documents import LaunchesDocument
    from planner.cli.launch_watch import conclude, watched
    from planner.use_cases.launches import open_ids, state_of

    with _opened(home) as launches:
        wanted = list(run_ids or open_ids(launches.ledger.entries()))
        if wait:
            entries = watched(launches, wanted, lambda view: launches.resume(wanted, tick=view))
        else:
            entries = [launches.step(run_id) for run_id in wanted]
        if as_json:
            print_document(LaunchesDocument(launches=tuple(state_of(entry) for entry in entries)))
        if not entries:
            say("Nothing is open.")
        conclude(launches, entries if wait else [entry for entry in entries if not entry.open])


@app.command(epilog="Example: planner launches down 20261121-120000-1a2b3c")
def down(
    run_ids: IdsArgument = None,
    everything: Annotated[bool, typer.Option("--all", help="Everything that is open.")] = False,
    as_json: JsonFlag = False,
    home: HomeOption = None,
) -> None:
    """Bring home what there is, then take launches down and verify it."""
    from launcher.documents import LaunchesDocument
    from planner.cli.launch_watch import not_down
    from planner.use_cases.launches import open_ids, state_of

    if bool(run_ids) == everything:
        raise InputError("say which launches: ids, or --all.", fix="List them with: planner launches list")
    with _opened(home) as launches:
        wanted = list(run_ids or open_ids(launches.ledger.entries()))
        for run_id in wanted:
            launches.ledger.entry(run_id)  # a misspelt id is said before anything is taken down
        entries, failures = launches.cancel_all(wanted)
    if as_json:
        print_document(LaunchesDocument(launches=tuple(state_of(entry) for entry in entries)))
    for entry in entries:
        say(f"{entry.launch.run_id}: {entry.state.value}")
    for failure in failures:
        say(f"Error: {failure}")
    if open_ids(entries):
        not_down(open_ids(entries))


@app.command(epilog="Example: planner launches reap --yes")
def reap(
    yes: Annotated[bool, typer.Option("--yes", help="Take down what should be gone.")] = False,
    everywhere: Annotated[
        bool, typer.Option("--everywhere", help="Ask SkyPilot and the clouds even if nothing was launched there.")
    ] = False,
    as_json: JsonFlag = False,
    form: FormatOption = None,
    home: HomeOption = None,
) -> None:
    """Compare the ledger with what runs here, on the hosts and in the clouds; settle what was left behind."""
    from launcher.documents import ReapDocument
    from planner.cli.launch_view import found_rows
    from planner.cli.launch_watch import end_badly
    from planner.use_cases.launches import state_of
    from planner.use_cases.launches_reap import reap as reap_launches

    with _opened(home) as launches:
        reaped = reap_launches(launches, take_down=yes, everywhere=everywhere)
    document = ReapDocument(found=reaped.found, settled=tuple(state_of(entry) for entry in reaped.settled))
    if as_json:
        print_document(document)
    else:
        print_rows(found_rows(document), form, title="What runs")
    for state in document.settled:
        say(f"{state.run_id}: {state.state.value}")
    alarms = [f"{one.name} ({one.verdict})" for one in reaped.found if one.alarm]
    if alarms:
        end_badly(
            f"{', '.join(alarms)}: may run, and nobody drives it.",
            fix="Take down what is ours: planner launches reap --yes" if not yes else "Look in the provider's console.",
        )


@app.command(epilog="Example: planner launches bill --json")
def bill(
    run_ids: Annotated[
        list[str] | None, typer.Argument(metavar="[ID...]", help="Default: all.", show_default=False)
    ] = None,
    ask: Annotated[
        bool, typer.Option("--ask", help="Ask AWS Cost Explorer too; each question costs 0.01 USD.")
    ] = False,
    as_json: JsonFlag = False,
    form: FormatOption = None,
    home: HomeOption = None,
) -> None:
    """Put the worst case, the ledger's figure and the provider's bill side by side."""
    from planner.cli.launch_view import bill_rows
    from planner.use_cases.launch_bill import bill_document

    with _opened(home) as launches:
        entries = [launches.ledger.entry(run_id) for run_id in run_ids or []] or launches.ledger.entries()
        document = bill_document(entries, ask=ask, today=launches.now().date())
    if as_json:
        print_document(document)
    else:
        print_rows(bill_rows(document), form, title="Bill")


def _write(text: str) -> None:
    sys.stdout.write(text)


@contextmanager
def _opened(home: str | None) -> Iterator[Launches]:
    from planner.use_cases.launches import Launches

    launches = Launches(home)
    try:
        yield launches
    finally:
        launches.close()
