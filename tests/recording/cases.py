"""The list of cases (cases.txt), and how one of them is run."""

import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

PROGRAMS = [
    "attention_logits", "compare_norms", "discrepancy", "gradient_flow", "init_gradients", "lemmas",
    "mean_field", "norm_card", "train_digits", "train_translation", "warmup"
]


@dataclass
class Case:
    kind: str  # "small" and "long" write a JSON file and a page; "usage" is about exit codes
    name: str  # of its files in expected/; for "usage" the command itself
    arguments: list  # the first one is the program
    go_on: bool  # in the folder of the case before, whose files it reads


@dataclass
class Outcome:
    case: Case
    exit: int = 0
    out: str = ""
    err: str = ""
    json: str = ""  # empty if no file was written
    page: str = ""
    seconds: float = field(default=0.0, compare=False)


def read_cases(path):
    """Groups of cases: those of a group run one after the other in one folder."""
    groups = []
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        go_on = words[0].startswith("+")
        kind = words[0].lstrip("+")
        if kind == "usage":
            programs = PROGRAMS if words[1] == "*" else [words[1]]
            commands = [[program] + words[2:] for program in programs]
            cases = [Case(kind, " ".join(command), command, go_on) for command in commands]
        elif kind in ("small", "long") and len(words) >= 3:
            cases = [Case(kind, words[1], words[2:], go_on)]
        else:
            raise ValueError(f"{path}:{number}: needs small, long or usage, and a command: {line}")
        for case in cases:
            if case.go_on:
                groups[-1].append(case)
            else:
                groups.append([case])
    names = [case.name for group in groups for case in group if case.kind != "usage"]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{path}: the name {name} is given twice")
    return groups


def environment():
    # A variable that makes BLAS talk would be recorded as the program's words.
    return {key: value for key, value in os.environ.items() if key != "OPENBLAS_VERBOSE"}


def run_case(case, programs, folder):
    """Runs a case in the folder. Raises OSError or subprocess.TimeoutExpired when it cannot."""
    command = [str(programs / case.arguments[0])] + case.arguments[1:]
    written = {}
    if case.kind != "usage":
        for option, name in (("--json", "recorded.json"), ("--report", "recorded.html")):
            command += [option, name]
            written[option] = Path(folder) / name
            written[option].unlink(missing_ok=True)
    done = subprocess.run(command, cwd=folder, env=environment(), stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=1200, check=False)
    files = {option: path.read_text() if path.exists() else "" for option, path in written.items()}
    return Outcome(case, done.returncode, done.stdout.decode(errors="replace"),
                   done.stderr.decode(errors="replace"), files.get("--json", ""),
                   files.get("--report", ""))


def machine(programs):
    """What decides the last digits: the kernels that BLAS chose, and the C library's exp."""
    told = subprocess.run([str(programs / "norm_card"), "--version"],
                          env=environment() | {"OPENBLAS_VERBOSE": "2"}, capture_output=True,
                          text=True, timeout=60, check=False).stderr
    cores = [line.split(":", 1)[1].strip() for line in told.splitlines()
             if line.startswith("Core:")]
    try:
        library = os.confstr("CS_GNU_LIBC_VERSION")
    except (AttributeError, ValueError):
        library = None
    return (f"OpenBLAS kernels: {cores[0] if cores else 'unknown'}\n"
            f"C library: {library or 'unknown'}\nprocessor: {os.uname().machine}\n")
