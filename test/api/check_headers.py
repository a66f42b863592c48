# SPDX-License-Identifier: Apache-2.0
"""Compiles every public header on its own, as C++17 and without warnings.

usage: check_headers.py COMPILER INCLUDE_DIRECTORY
"""
import concurrent.futures
import os
import pathlib
import subprocess
import sys


def check(compiler, include, header):
    command = [compiler, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
               "-I", str(include), "-x", "c++", "-"]
    source = '#include "%s"\n' % header
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode != 0 else ""


def main():
    compiler, include = sys.argv[1], pathlib.Path(sys.argv[2])
    headers = sorted(str(p.relative_to(include)) for p in include.rglob("*.h")
                     if p.name != "c.h")
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda h: (h, check(compiler, include, h)), headers)
        for header, errors in results:
            if errors:
                failures += 1
                print("%s does not stand on its own:\n%s" % (header, errors))
    print("%d headers, %d failures" % (len(headers), failures))
    return 1 if failures or not headers else 0


if __name__ == "__main__":
    sys.exit(main())
