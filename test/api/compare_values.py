# SPDX-License-Identifier: Apache-2.0
"""Runs two builds of api_values and shows the lines in which they differ.

usage: compare_values.py OURS THEIRS
"""
import difflib
import subprocess
import sys


def lines(program):
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()


def main():
    ours, theirs = lines(sys.argv[1]), lines(sys.argv[2])
    differences = list(difflib.unified_diff(theirs, ours, "RocksDB", "CompassDB", lineterm="", n=0))
    print("\n".join(differences))
    print("%d values compared" % len(theirs))
    return 1 if differences or not theirs else 0


if __name__ == "__main__":
    sys.exit(main())
