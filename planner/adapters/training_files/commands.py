"""Shell text with a trainer's command: its arguments, its launcher's processes, the files that it names."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from planner.adapters.trainer_logs.numbers_in_text import count
from planner.adapters.trainer_logs.trainer_log import Facts
from planner.adapters.training_files.keys import objective_of

PROGRAMS = re.compile(
    r"\b(torchrun|accelerate|deepspeed|llamafactory-cli|swift|megatron|axolotl|tune|trl|python3?|torchtitan|run_train\.sh)\b"
)
PROCESSES = ("nproc_per_node", "num_gpus", "nproc_per_node_", "ngpu")
NODES = ("nnodes", "num_nodes", "num_machines")
SUBCOMMANDS_OF = ("trl", "run")
"""Words before the name of a recipe: `trl dpo`, `tune run lora_dpo_distributed`."""
CONFIGS = (".yaml", ".yml", ".json", ".toml")


@dataclass
class Command:
    """Arguments by name (dashes as underscores), and the remaining words, which include file names."""

    arguments: dict[str, Any] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)

    @property
    def files(self) -> list[str]:
        """Configuration files that the command names."""
        named = [*self.words, *(value for value in self.arguments.values() if isinstance(value, str))]
        return [path for path in named if path.endswith(CONFIGS)]

    @property
    def objective(self) -> str | None:
        """Objective in the name of a script or a subcommand: `trl dpo`, `train_grpo.py`, `lora_dpo_distributed`."""
        before = [None, *self.words]
        scripts = [
            word
            for word, last in zip(self.words, before, strict=False)
            if word.endswith(".py") or last in SUBCOMMANDS_OF
        ]
        return next((found for word in scripts if (found := objective_of(word.rpartition("/")[2]))), None)

    @property
    def is_of_swift(self) -> bool:
        """True if ms-swift runs."""
        return "swift" in self.words[:3] or any(word.endswith("/swift") for word in self.words[:3])


def command_of(text: str, variables: Mapping[str, str] | None = None) -> Command | None:
    """Return the command in shell text that starts a training; None if there is none."""
    known = dict(variables or {})
    best: Command | None = None
    for line in statements(text, known):
        if not PROGRAMS.search(line) and "--" not in line:
            continue
        command = _command(line, known)
        if best is None or len(command.arguments) + len(command.files) > len(best.arguments) + len(best.files):
            best = command
    return best if best is not None and (best.arguments or best.files) else None


def _command(line: str, known: Mapping[str, str]) -> Command:
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        words = line.split()
    command = Command()
    place = 0
    while place < len(words):
        word = words[place]
        place += 1
        if not word.startswith("-"):
            name, joined, value = word.partition("=")
            if joined and re.fullmatch(r"[\w.]{1,80}", name):
                command.arguments[name if "." in name else _plain(name)] = value
            else:
                command.words.append(word)
            continue
        name, joined, value = word.lstrip("-").partition("=")
        values = [value] if joined else []
        while not joined and place < len(words) and not _is_option(words[place]) and len(values) < _values_taken(name):
            values.append(words[place])
            place += 1
        command.arguments[_plain(name)] = " ".join(values) if values else "true"
    for variable, name in (("NPROC_PER_NODE", "nproc_per_node"), ("NGPU", "nproc_per_node"), ("CONFIG_FILE", "config")):
        if variable in known:
            command.arguments.setdefault(name, known[variable])
    return command


def _values_taken(name: str) -> int:
    """Return how many values an option takes. Lists of names take several."""
    return 12 if name.replace("-", "_") in ("target_modules", "lora_target_modules", "dataset") else 1


def _is_option(word: str) -> bool:
    return word.startswith("-") and not re.fullmatch(r"-[\d.]+(?:e-?\d+)?", word)


def _plain(name: str) -> str:
    return name.replace("-", "_").casefold() if name.isupper() else name.replace("-", "_")


def launched(command: Command) -> Facts:
    """Return the processes that the launcher starts: those of a node x nodes. accelerate counts those of all nodes."""
    arguments = command.arguments
    nodes = next((found for name in NODES if (found := count(arguments.get(name)))), None)
    each = next((found for name in PROCESSES if (found := count(arguments.get(name)))), None)
    whole = count(arguments.get("num_processes")) or (each * (nodes or 1) if each else None)
    visible = arguments.get("cuda_visible_devices") or str(arguments.get("include") or "").rpartition(":")[2]
    if whole is None and isinstance(visible, str) and re.fullmatch(r"\d+(,\d+)*", visible):
        whole = len(visible.split(","))
    return Facts(devices=whole, nodes=nodes)


LONGEST_SCRIPT = 200_000
"""Largest number of characters of a script that are read."""
MOST_FILLED = 20_000
"""Largest number of characters that variables may add to one statement, because they may refer to each other."""
_VARIABLE = re.compile(r"\$(?:\{(\w{1,60})(?:\[[@*]\])?(?::?[-=]([^{}]{0,200})|[#%/:][^{}]{0,200})?\}|(\w{1,60}))")
_QUOTED_ARRAY = re.compile(r"\"(\$\{\w{1,60}\[@\]\})\"")
"""Array in quotes. Its words stay separate words."""
_ASSIGNED = re.compile(
    r"\s*(?:export\s+|local\s+|readonly\s+)?([A-Za-z_]\w{0,60})(\+?)=(?:\((.*)\)|\"(.*)\"|'(.*)'|(\S*))\s*", re.DOTALL
)
_SUM = re.compile(r"\$\(\(([\w\s*/+$-]{1,200})\)\)|\$\(\s*expr\s+([\w\s*/+\\$-]{1,200})\)|`\s*expr\s+([^`]{1,200})`")
_TERM = re.compile(r"\d{1,12}|[*/+-]")


def statements(text: str, known: dict[str, str]) -> Iterator[str]:
    """Return the commands of a text, each on one line with its variables filled in.

    Assignments are added to `known`.
    """
    for line in _logical_lines(text[:LONGEST_SCRIPT].replace("\r\n", "\n")):
        found = _ASSIGNED.fullmatch(line)
        if found is None:
            yield filled(line, known)
            continue
        value = filled(next((part for part in found.groups()[2:] if part is not None), ""), known).strip()
        known[found[1]] = f"{known.get(found[1], '')} {value}".strip() if found[2] else value


def filled(text: str, known: Mapping[str, str]) -> str:
    """Return a text with variables and integer sums replaced by their values. An unknown variable is empty."""
    left = MOST_FILLED

    def value(found: re.Match[str]) -> str:
        nonlocal left
        text = known.get(found[1] or found[3], (found[2] or "").strip("\"'"))[:left]
        left -= len(text)
        return text

    def result(found: re.Match[str]) -> str:
        named = re.sub(r"[A-Za-z_]\w*", lambda name: known.get(name[0], name[0]), found[1] or found[2] or found[3])
        total = _total(named)
        return found[0] if total is None else str(total)

    once = _VARIABLE.sub(value, _QUOTED_ARRAY.sub(r"\1", text))
    return _SUM.sub(result, once)


def _total(text: str) -> int | None:
    """Return the value of whole numbers joined by signs, products first; None for anything else."""
    terms = _TERM.findall(text)
    if _TERM.sub("", text).strip(" \\\t\n") or len(terms) % 2 == 0 or not all(term.isdigit() for term in terms[::2]):
        return None
    total, product, sign = 0, int(terms[0]), 1
    for operator, term in zip(terms[1::2], terms[2::2], strict=True):
        number = int(term)
        if operator == "*":
            product *= number
        elif operator == "/":
            if number == 0:
                return None
            product //= number
        elif operator in "+-":
            total, product, sign = total + sign * product, number, 1 if operator == "+" else -1
        else:
            return None
    return total + sign * product


def _logical_lines(text: str) -> Iterator[str]:
    """Return statements as the shell splits them. A line continues in quotes, in an array, and after a backslash."""
    line, quote, depth, place = "", "", 0, 0
    while place < len(text):
        char, following = text[place], text[place + 1 : place + 2]
        place += 1
        if char == "\\" and quote != "'":
            line += " " if following == "\n" else char + following
            place += 1
        elif quote:
            quote = "" if char == quote else quote
            line += " " if char == "\n" else char
        elif char == "#" and (not line or line[-1].isspace()):
            end = text.find("\n", place)
            place = len(text) if end < 0 else end
        elif char in "\"'":
            quote = char
            line += char
        elif char == "(" or (char == ")" and depth):
            depth += 1 if char == "(" else -1
            line += char
        elif char == "\n" and not depth:
            if line.strip():
                yield line.strip()
            line = ""
        else:
            line += " " if char == "\n" else char
    if line.strip():
        yield line.strip()
