"""The part of bench/compare_with_pytorch about a training step of the default train_digits.

In every round PyTorch (bench/pytorch_train_digits.py) and ours (bench/train_step.cpp) train from the
same weights on the same batches. A step is timed when both are warm, in the second epoch and later,
without starting, reading the digits or testing. The first losses must agree.
"""
import json
import math
import tempfile
from pathlib import Path

from comparison import (DIGITS, ROOT, count, find_program, find_python, middle, print_differences,
                        print_ratio, run)

TOLERANCE, COMPARED_STEPS = 1e-9, 20
PYTORCH, OURS = "PyTorch", "train_digits"
AT_MOST = 0.6


def largest_difference(pytorch, ours):
    """Relative, over the first losses; a difference of rounding grows from step to step."""
    pairs = zip(pytorch["losses"][:COMPARED_STEPS], ours["losses"][:COMPARED_STEPS])
    differences = [abs(a - b) / abs(a) for a, b in pairs]
    return max(differences) if all(map(math.isfinite, differences)) else math.inf


def print_steps(threads, times):
    print(f"\n{count(threads):<10} {'wall ms per step':>24} "
          f"{'[min, max]':>16} {'processor ms':>13} {'peak MB':>8}")
    for name, runs in times.items():
        walls = [1e3 * each["wall"] for each in runs]
        spread = f"[{min(walls):.2f}, {max(walls):.2f}]"
        print(f"{name:<12}{1e3 * middle(runs, 'wall'):>22.2f} {spread:>16} "
              f"{1e3 * middle(runs, 'processor'):>13.2f} {middle(runs, 'peak'):>8.0f}")
    print(f"page faults of {OURS} in the measured steps: "
          f"{', '.join(str(each['page_faults']) for each in times[OURS])}")


def compare(arguments):
    ours = find_program(arguments.build, "bench/train_step")
    pytorch = [find_python(), str(ROOT / "bench" / "pytorch_train_digits.py"), "--digits", DIGITS]
    steps = ["--steps", "45"] if arguments.quick else []
    results, difference = {}, 0.0

    def measured(command, threads):
        output, used = run(command + steps + ["--threads", str(threads)], threads)
        return {**json.loads(output), "peak": used["peak"]}

    with tempfile.TemporaryDirectory() as folder:
        start = ["--start", str(Path(folder) / "start.safetensors")]
        for threads in arguments.threads:
            times = results[threads] = {OURS: [], PYTORCH: []}
            for _ in range(arguments.rounds):
                times[OURS].append(measured([ours] + start, threads))
                times[PYTORCH].append(measured(pytorch + start, threads))
                difference = max(difference,
                                 largest_difference(times[PYTORCH][-1], times[OURS][-1]))
            print_steps(threads, times)

    print("\na training step, ratios (medians over rounds)       by wall time, then by processor time")
    for threads, times in results.items():
        print_ratio(times, OURS, PYTORCH, threads, AT_MOST)
    return print_differences(f"one of the first {COMPARED_STEPS} losses", difference, TOLERANCE,
                             arguments.threads)
