# SPDX-License-Identifier: Apache-2.0
"""Compares the C++ symbols of public classes and functions with those of the distribution's library.

usage: exported_symbols.py INCLUDE_DIRECTORY OUR_STATIC_LIBRARY ROCKSDB_SHARED_LIBRARY ALLOWED_FILE

A symbol that RocksDB exports and our public headers declare must be defined here, or be listed
in ALLOWED_FILE: one symbol per line, then " # " and the reason.
"""
import pathlib
import re
import subprocess
import sys

STRING = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"
SYMBOL = re.compile(r"rocksdb::((?:\w+::)*)(~?\w+)(?:\[abi:\w+\])?\(")


def defined(library, kinds, dynamic):
    command = ["nm", "-C", "--defined-only"] + (["-D"] if dynamic else []) + [library]
    lines = subprocess.run(command, capture_output=True, text=True, check=False).stdout.split("\n")
    found = set()
    for line in lines:
        parts = line.split(" ", 2)
        if len(parts) == 3 and parts[1] in kinds:
            found.add(parts[2].replace(STRING, "string").replace("[abi:cxx11]", ""))
    return found


def declared(include):
    text = "\n".join(p.read_text() for p in pathlib.Path(include, "rocksdb").rglob("*.h"))
    text = re.sub(r"//[^\n]*", "", text)
    # A class counts if it has a body here.
    types = set(re.findall(r"\b(?:class|struct)\s+(\w+)(?:\s+final)?\s*(?::[^;{]*)?\{", text))
    functions = set(re.findall(r"\b(\w+)\s*\(", text))
    return types, functions


def main():
    include, ours, theirs, allowed_file = sys.argv[1:5]
    types, functions = declared(include)
    have = defined(ours, "TWVBDRui", dynamic=False)
    allowed = {}
    for line in pathlib.Path(allowed_file).read_text().split("\n"):
        if line and not line.startswith("#"):
            symbol, _, why = line.partition(" # ")
            allowed[symbol.strip()] = why.strip()
    missing = set()
    for symbol in defined(theirs, "T", dynamic=True) - have:
        match = SYMBOL.match(symbol)
        if match is None:
            continue
        scope = [part for part in match.group(1).split("::") if part]
        name = match.group(2)
        if scope and scope[0] in types and name.lstrip("~") in functions | types:
            missing.add(symbol)
        elif not scope and name in functions:
            missing.add(symbol)
    failed = False
    for symbol in sorted(missing):
        if not allowed.get(symbol):
            print("missing: " + symbol)
            failed = True
    for symbol in sorted(set(allowed) - missing):
        print("allowed, but not missing: " + symbol)
        failed = True
    print("%d symbols are missing, %d of them for a reason" % (len(missing), len(allowed)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
