#!/usr/bin/env python3
"""Records what every program prints and writes, and checks that it still does.

  record.py write <folder of the programs>    runs every case of cases.txt, writes expected/
  record.py check <folder of the programs>    runs the cases, says what differs; exit code 1 if any

check compares numbers, in every digit: those of standard output and standard error in their order,
those of the JSON file column by column, those in the tables of the page in any order, and the exit
code. Words may change. With --text every byte of the two streams and every string of the JSON file
must be the same, too. Of the cases of kind usage it is the exit code, and which streams are empty.
On a machine where OpenBLAS chooses other kernels, or with another C library, the numbers of the
JSON file may differ by 1e-9 relative, and printed ones by one unit of their last digit; a line
says so.

Cases of kind long, the default runs of the documents, are checked with --long only.
"""

import argparse
import difflib
import fnmatch
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True  # the folder of the sources stays as it is

import cases
import compare
import store
from extract import normalised_error

HERE = Path(__file__).resolve().parent
EXPECTED = HERE / "expected"
USAGE = "usage"  # the name under which all cases of that kind are kept


def command_line():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=["write", "check"])
    parser.add_argument("programs", type=Path, help="the folder of the programs")
    parser.add_argument("--text", action="store_true", help="compare words, too")
    parser.add_argument("--long", action="store_true", help="check the long cases, too")
    parser.add_argument("--only", metavar="NAME", help="of cases that match, as 'warmup*'")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1),
                        help="cases run at a time [%(default)s]")
    parser.add_argument("--verbose", action="store_true", help="tell times, and what was matched")
    return parser.parse_args()


def run_group(group, programs):
    """The outcomes of cases that share a folder. What cannot be run ends the program."""
    outcomes = []
    with tempfile.TemporaryDirectory() as folder:
        for case in group:
            start = time.monotonic()
            try:
                outcomes.append(cases.run_case(case, programs, folder))
            except (OSError, subprocess.TimeoutExpired) as error:
                raise SystemExit(f"{case.name}: cannot be run: {error}") from error
            outcomes[-1].seconds = time.monotonic() - start
    return outcomes


def words_of(outcome, strings):
    return (f"== standard output\n{outcome.out}== standard error\n{normalised_error(outcome.err)}"
            f"== strings of the JSON file\n{strings}")


def usage_line(outcome):
    streams = [name for name, text in (("out", outcome.out), ("err", outcome.err)) if text]
    return f"{outcome.exit} {'+'.join(streams) or '-'} {outcome.case.name}"


def usage_words(outcome):
    return f"== {outcome.case.name}\n{outcome.out}{outcome.err}"


def file_of(kind, name):
    return EXPECTED / kind / f"{name}.txt"


def put(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def write(outcomes, machine, whole):
    if whole and EXPECTED.exists():
        shutil.rmtree(EXPECTED)
    put(EXPECTED / "machine.txt", machine)
    for outcome in outcomes:
        if outcome.case.kind != USAGE:
            numbers, strings = store.numbers_of(outcome)
            put(file_of("numbers", outcome.case.name), store.to_text(numbers))
            put(file_of("words", outcome.case.name), words_of(outcome, strings))
    usage = [outcome for outcome in outcomes if outcome.case.kind == USAGE]
    if usage and whole:
        put(file_of("numbers", USAGE), "".join(usage_line(outcome) + "\n" for outcome in usage))
        put(file_of("words", USAGE), "".join(usage_words(outcome) for outcome in usage))


def text_differences(old, new):
    if old == new:
        return []
    lines = list(difflib.unified_diff(old.splitlines(), new.splitlines(), "recorded", "now", n=1,
                                      lineterm=""))
    return ["the words differ:\n    " + "\n    ".join(lines[:40])]


def check_one(outcome, comparison, text):
    """The differences of a case, and notes on what was matched."""
    notes = []
    expected = file_of("numbers", outcome.case.name)
    if not expected.exists():
        return ["it is not recorded"], notes
    numbers, strings = store.numbers_of(outcome)
    old = store.from_text(expected.read_text())
    found = comparison.differences(old, numbers, notes)
    if text:
        words = file_of("words", outcome.case.name).read_text()
        found += text_differences(words, words_of(outcome, strings))
    return found, notes


def check_usage(outcome, text):
    recorded = file_of("numbers", USAGE).read_text().splitlines()
    before = [line for line in recorded if line.split(" ", 2)[2] == outcome.case.name]
    now = usage_line(outcome)
    if before != [now]:
        return [f"recorded is {before[0] if before else 'nothing'}, and now it is {now}"]
    words = file_of("words", USAGE).read_text()
    if text and "\n" + usage_words(outcome) not in "\n" + words:
        return ["the words differ: " + (outcome.out + outcome.err)]
    return []


def check(outcomes, machine, line):
    recorded_on = (EXPECTED / "machine.txt").read_text()
    if recorded_on != machine:
        print("Recorded with other kernels or another C library; last digits may differ: "
              + "; ".join(f"{a}, now {b.split(': ')[1]}" for a, b in
                          zip(recorded_on.splitlines(), machine.splitlines()) if a != b))
    renamed = compare.read_renamed(HERE / "renamed_keys.txt")
    comparison = compare.Comparison(recorded_on == machine, renamed)
    failed = 0
    for outcome in outcomes:
        if outcome.case.kind == USAGE:
            found, notes = check_usage(outcome, line.text), []
        else:
            found, notes = check_one(outcome, comparison, line.text)
        for sentence in found + (notes if line.verbose else []):
            print(f"{outcome.case.name}: {sentence}")
        failed += bool(found)
    print(f"{len(outcomes)} cases, {failed} of them differ")
    return 1 if failed or not outcomes else 0


def main():
    line = command_line()
    programs = line.programs.resolve()
    wanted = []
    for group in cases.read_cases(HERE / "cases.txt"):
        if line.only and not any(fnmatch.fnmatch(case.name, line.only) for case in group):
            continue
        if line.mode == "write" or line.long or all(case.kind != "long" for case in group):
            wanted.append(group)
    with ThreadPoolExecutor(max(1, line.jobs)) as pool:
        outcomes = [outcome for done in pool.map(lambda group: run_group(group, programs), wanted)
                    for outcome in done]
    if line.verbose:
        for outcome in outcomes:
            if outcome.case.kind != USAGE:
                print(f"{outcome.seconds:6.2f} s  {outcome.case.kind:5} {outcome.case.name}")
    machine = cases.machine(programs)
    if line.mode == "check":
        return check(outcomes, machine, line)
    write(outcomes, machine, not line.only)
    return 0


if __name__ == "__main__":
    sys.exit(main())
