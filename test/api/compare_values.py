# SPDX-License-Identifier: Apache-2.0
"""Runs two builds of api_values and shows the lines in which they differ.

usage: compare_values.py OURS THEIRS [EXCEPTION...]

Lines that begin with an exception and a blank are not compared.
"""
import difflib
import subprocess
import sys


def lines(program, exceptions):
    shown = subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()
    return [line for line in shown if line.split(" ")[0] not in exceptions]


def main():
    ours, theirs = (lines(program, sys.argv[3:]) for program in sys.argv[1:3])
    differences = list(difflib.unified_diff(theirs, ours, "RocksDB", "CompassDB", lineterm="", n=0))
    print("\n".join(differences))
    print("%d values compared" % len(theirs))
    return 1 if differences or not theirs else 0


if __name__ == "__main__":
    sys.exit(main())
