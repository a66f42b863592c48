#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_testdata.py DATABASES OUT PREFIX CASE...

Copies the table of each case of DATABASES, made by `write_databases DATABASES 40`, to OUT/PREFIX_CASE.sst, and lists it
in OUT/tables.txt: its name, its number of records, the CRC-32 of the sorted lines of CASE.records. Of a CASE after the word
"databases", the whole database becomes OUT/databases/PREFIX_CASE, with OUT/databases/PREFIX_CASE.scan.
"""
import os
import shutil
import sys
import zlib


def copy_database(directory, to):
    shutil.rmtree(to, ignore_errors=True)
    os.makedirs(to)
    for name in os.listdir(directory):
        if name == "CURRENT" or name.startswith("MANIFEST") or name.endswith((".sst", ".log", ".blob")):
            shutil.copyfile(os.path.join(directory, name), os.path.join(to, name))
    shutil.copyfile(directory + ".scan", to + ".scan")


def main():
    databases, out, prefix = sys.argv[1:4]
    cases = sys.argv[4:]
    whole = cases[cases.index("databases") + 1:] if "databases" in cases else []
    for case in whole:
        copy_database(os.path.join(databases, case), os.path.join(out, "databases", "%s_%s" % (prefix, case)))
    listed = os.path.join(out, "tables.txt")
    lines = set()
    if os.path.exists(listed):
        with open(listed, encoding="ascii") as old:
            lines.update(old.read().split("\n"))
    for case in cases[:len(cases) - len(whole)]:
        if case == "databases":
            continue
        directory = os.path.join(databases, case)
        tables = [name for name in os.listdir(directory) if name.endswith(".sst")]
        assert len(tables) == 1, (case, tables)
        name = "%s_%s.sst" % (prefix, case)
        shutil.copyfile(os.path.join(directory, tables[0]), os.path.join(out, name))
        with open(directory + ".records", encoding="ascii") as text:
            records = sorted(line for line in text.read().split("\n") if line.startswith("R"))
        lines = {line for line in lines if line and not line.startswith(name + " ")}
        lines.add("%s %d %08x" % (name, len(records), zlib.crc32("\n".join(records).encode())))
    with open(listed, "w", encoding="ascii") as new:
        new.write("\n".join(sorted(line for line in lines if line)) + "\n")


if __name__ == "__main__":
    main()
