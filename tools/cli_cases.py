#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the cases of the command line tool: cli_cases.py [--rewrite] FOLDER-OF-PROGRAMS [FILE...]

The files in testdata/ are transcripts. A case is a line "$ " and a command for bash, its standard
input, each line after "< ", and its answer: standard output; standard error, each line after "! ";
"exit N", if the exit code is not 0. A paragraph may begin with comments, lines with '#'.

The cases of a file run one after the other in one new directory. FOLDER-OF-PROGRAMS is in the PATH.

In an answer
  #              is the number of a file (#.ph, MANIFEST-#), table or piece, a time or a rate
  \\xHH           is a control character or a byte that is not UTF-8
  (empty line)   is one
  (no newline)   follows output that does not end with one

--rewrite writes the answers into the files.
"""

import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FILTERS = [
    (r"\b(MANIFEST|MIRROR|OPTIONS)-\d+", r"\1-#"),
    (r"\b\d+\.(ph|log|pages|dbtmp)\b", r"#.\1"),
    (r"in \d+\.\d+ s \(\d+ records/s, \d+\.\d MB/s\)", "in # s (# records/s, # MB/s)"),
    (r"\b(piece|table) \d+\b", r"\1 #"),
]


def lines_of(output, prefix=""):
    text = output.decode(errors="backslashreplace")
    text = re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", lambda c: "\\x%02x" % ord(c[0]), text)
    for pattern, replacement in FILTERS:
        text = re.sub(pattern, replacement, text)
    whole = not text or text.endswith("\n")
    lines = text.split("\n")[: -1 if text.endswith("\n") else None] if text else []
    lines = [prefix + (line or "(empty line)") for line in lines]
    return lines if whole else lines + ["(no newline)"]


def answer(command, given, directory, programs):
    env = dict(os.environ, LC_ALL="C", PATH=f"{programs}:{os.environ['PATH']}")
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=directory, env=env,
                          input="".join(line + "\n" for line in given).encode(),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    lines = lines_of(done.stdout) + lines_of(done.stderr, "! ")
    return lines + ([f"exit {done.returncode}"] if done.returncode else [])


def run(path, programs, rewrite):
    """The number of cases, and of those with another answer than the file's."""
    cases = failures = 0
    lines = path.read_text().rstrip("\n").split("\n")
    written = []
    with tempfile.TemporaryDirectory() as directory:
        while lines:
            line = lines.pop(0)
            written.append(line)
            if not line.startswith("$ "):
                continue
            given, want = [], []
            while lines and lines[0].startswith("< "):
                given.append(lines.pop(0)[2:])
            while lines and lines[0] and not lines[0].startswith("$ "):
                want.append(lines.pop(0))
            got = answer(line[2:], given, directory, programs)
            written += ["< " + text for text in given] + got
            cases += 1
            if got != want and not rewrite:
                failures += 1
                diff = difflib.unified_diff(want, got, "expected", "answered", lineterm="")
                print(f"{path.name}: {line}", *diff, sep="\n")
    if rewrite:
        path.write_text("\n".join(written) + "\n")
    return cases, failures


def main():
    args = [arg for arg in sys.argv[1:] if arg != "--rewrite"]
    if not args:
        sys.exit(__doc__)
    programs = os.path.realpath(args[0])
    paths = [pathlib.Path(arg) for arg in args[1:]]
    paths = paths or sorted(pathlib.Path(__file__).with_name("testdata").glob("*.txt"))
    results = [run(path, programs, "--rewrite" in sys.argv) for path in paths]
    cases, failures = (sum(numbers) for numbers in zip(*results))
    print(f"{cases} cases, {failures} failures")
    return 1 if failures or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
