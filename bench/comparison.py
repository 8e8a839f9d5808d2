"""What the parts of bench/compare_with_pytorch share: running programs, ratios, verdicts."""
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIGITS = str(ROOT / "data" / "digits.csv")


def stop(message):
    print(f"compare_with_pytorch: {message}", file=sys.stderr)
    sys.exit(2)


def find_python():
    """An interpreter that has torch: this one, or Debian's."""
    for candidate in (sys.executable, "/usr/bin/python3"):
        probe = subprocess.run([candidate, "-c", "import torch"], capture_output=True, check=False)
        if probe.returncode == 0:
            return candidate
    return stop("no python3 with torch found: apt-get install python3-torch python3-numpy")


def find_program(build, relative):
    program = build / relative
    if not os.access(program, os.X_OK):
        stop(f"{program} is missing: cmake --preset release && cmake --build --preset release, "
             "or name another build folder with --build")
    return str(program)


def run(command, threads):
    """Runs a command to its end: output, seconds (wall, user, system), peak memory in MB."""
    environment = dict(os.environ, OPENBLAS_NUM_THREADS=str(threads), OMP_NUM_THREADS=str(threads))
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as process:
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - start
    if process.returncode != 0:
        stop(f"exit code {process.returncode} from {' '.join(command)}")
    return output, {"wall": wall, "user": usage.ru_utime, "system": usage.ru_stime,
                    "processor": usage.ru_utime + usage.ru_stime, "peak": usage.ru_maxrss / 1024.0}


def count(threads):
    return f"{threads} thread{'s' if threads > 1 else ''}"


def middle(runs, what):
    return statistics.median(each[what] for each in runs)


def ratio(times, above, below, what):
    """The median over rounds, in each of which both ran one after the other."""
    return statistics.median(a[what] / b[what] for a, b in zip(times[above], times[below]))


def print_target(what, reached, limit, form):
    verdict = "met" if reached <= limit else "MISSED"
    print(f"  {what:<44} {form.format(reached):>8}   at most {form.format(limit):<6} {verdict}")


def print_ratio(times, above, below, threads, limit):
    """By wall time, which the target is about, and by processor time."""
    wall = ratio(times, above, below, "wall")
    print_target(f"{above} / {below}, {count(threads)}", wall, limit, "{:.3f}")
    by_processor = ratio(times, above, below, "processor")
    print(f"  {'':<44} {by_processor:>8.3f}   (processor time)")


def print_differences(what, difference, tolerance, threads):
    """Returns the exit code: 1 if the values differ."""
    load = os.getloadavg()[0]
    print(f"largest relative difference of {what}: {difference:.1e} (at most {tolerance:.0e})")
    print(f"load of the last minute {load:.1f} on {os.cpu_count()} processors"
          + ("; a load above the number of threads makes wall times unreliable" if load >
             max(threads) + 0.5 else ""))
    if difference <= tolerance:
        return 0
    print("compare_with_pytorch: the values differ", file=sys.stderr)
    return 1
