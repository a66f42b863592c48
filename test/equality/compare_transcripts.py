#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs one equality driver built against two libraries and compares what they print.

  compare_transcripts.py DRIVER_A DRIVER_B [--scenarios] [--profiles all|NAME,...]
                         [--seeds 1-20] [--ops 3000]

Exit code 0: every transcript equal byte for byte. 1: the first difference of each
run is printed with the lines before it and the command that repeats the run.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import test_dir

PROFILES = ["mixed", "simple", "snapshots", "merges", "ranges", "iterators", "families",
            "reopens", "filters", "wide"]


def parse_seeds(text):
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def run(driver, arguments, directory):
    command = [driver, "--db=" + directory] + arguments
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    lines = result.stdout.split(b"\n")
    if result.returncode != 0:
        lines.append(b"<exit code %d: %s>" % (result.returncode, result.stderr.strip()))
    return lines


def show(line):
    text = line.decode("utf-8", "backslashreplace")
    return text if len(text) < 400 else text[:400] + "..."


def compare(drivers, arguments, directory):
    """True when equal; prints the first difference otherwise."""
    transcripts = []
    for driver in drivers:
        shutil.rmtree(directory, ignore_errors=True)
        os.makedirs(directory)
        transcripts.append(run(driver, arguments, directory))
    a, b = transcripts
    if a == b:
        return True
    at = next((i for i, pair in enumerate(zip(a, b)) if pair[0] != pair[1]), min(len(a), len(b)))
    print("DIFFERENT at line %d with %s" % (at + 1, " ".join(arguments)))
    headings = [line for line in a[:at] if line.startswith(b"== ")]
    if headings:
        print("  scenario " + show(headings[-1]))
    for line in a[max(0, at - 5):at]:
        print("    " + show(line))
    for driver, lines in zip(drivers, transcripts):
        print("  %s:" % driver)
        for line in lines[at:at + 2]:
            print("    " + show(line))
    print("  repeat with: DRIVER --db=DIR " + " ".join(arguments))
    return False


def scenario_names(driver, directory):
    lines = run(driver, ["--scenario=list"], directory)
    return [line.decode() for line in lines if line]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("driver_a")
    parser.add_argument("driver_b")
    parser.add_argument("--scenarios", action="store_true")
    parser.add_argument("--profiles", default="")
    parser.add_argument("--seeds", default="1")
    parser.add_argument("--ops", type=int, default=3000)
    args = parser.parse_args()

    profiles = PROFILES if args.profiles == "all" else [p for p in args.profiles.split(",") if p]
    drivers = [args.driver_a, args.driver_b]
    root = tempfile.mkdtemp(prefix="compassdb-equality-", dir=test_dir.base())
    directory = os.path.join(root, "run")
    runs = failures = 0
    try:
        jobs = []
        if args.scenarios:
            names = scenario_names(args.driver_b, directory)
            if not names:
                print("the driver lists no scenarios")
                return 1
            jobs += [["--scenario=" + name] for name in names]
        for seed in parse_seeds(args.seeds):
            for profile in profiles:
                jobs.append(["--profile=" + profile, "--seed=%d" % seed, "--ops=%d" % args.ops])
        for job in jobs:
            runs += 1
            failures += not compare(drivers, job, directory)
    finally:
        shutil.rmtree(root, ignore_errors=True)
    print("%d transcripts compared, %d different" % (runs, failures))
    return 1 if failures or runs == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
