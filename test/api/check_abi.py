# SPDX-License-Identifier: Apache-2.0
"""Compares our public headers and library with RocksDB's, as a program that was built with RocksDB
sees them: sizes and bases of classes, offsets and types of members, slots of virtual functions,
names, results and access of functions, values of enumerations, what type names stand for; and the functions that
RocksDB's library exports.

usage: check_abi.py COMPILER OUR_INCLUDE OUR_LIBRARY THEIR_INCLUDE THEIR_LIBRARY KNOWN [--list]

KNOWN is a file of differences, one per line, which docs/compatibility.md gives the reasons for: what
is found and not in it is a failure. --list prints what is found, in the form of that file.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

import interface

# Made by the compiler, differently for one and the same behaviour.
IMPLICIT = re.compile(r"[CD]4E|aSERKS|aSEOS")


def headers(include):
    # The C interface has a test of its own.
    found = [p.relative_to(include).as_posix() for folder in ("rocksdb", "rocksdb/utilities")
             for p in (include / folder).glob("*.h")]
    return sorted(h for h in found if h != "rocksdb/c.h")


def compare_functions(name, theirs, ours):
    for function, fact in theirs.items():
        if fact["access"] == "private" and not fact["slot"]:
            continue
        mine = ours.get(function)
        if mine is None:
            if not IMPLICIT.search(function):
                yield "%s: no function %s" % (name, function)
            continue
        for what in ("slot", "result", "pure", "deleted"):
            if fact[what] != mine[what]:
                yield "%s: %s of %s is %s, not %s" % (name, what, function, mine[what], fact[what])
        if fact["access"] == "public" and mine["access"] != "public":
            yield "%s: %s is %s" % (name, function, mine["access"])


def compare_classes(theirs, ours):
    """Members that are not public may have other names; all have the same place and type, and there are no others."""
    for name, want in sorted(theirs.items()):
        have = ours.get(name)
        if have is None:
            yield "%s: no such class" % name
            continue
        for what in ("size", "bases"):
            if want[what] != have[what]:
                yield "%s: %s is %s, not %s" % (name, what, have[what], want[what])
        places = {(offset, kind): (access, member) for offset, access, member, kind in have["members"]}
        for offset, access, member, kind in want["members"]:
            if access == "private":
                continue
            if places.get((offset, kind), ("", ""))[1] != member:
                yield "%s: no member %s %s at %s" % (name, kind, member, offset)
            elif access == "public" and places[(offset, kind)][0] != "public":
                yield "%s: member %s is %s" % (name, member, places[(offset, kind)][0])
        # A member in their padding: a program that was built with RocksDB does not set it.
        known = {(offset, kind.removeprefix("const ")) for offset, _, _, kind in want["members"]}
        for offset, _, member, kind in have["members"]:
            if (offset, kind.removeprefix("const ")) not in known:
                yield "%s: a new member %s %s at %s" % (name, kind, member, offset)
        for member, kind in want["statics"].items():
            if not kind.startswith("private") and have["statics"].get(member) != kind:
                yield "%s: static %s is %s, not %s" % (name, member, have["statics"].get(member), kind)
        yield from compare_functions(name, want["functions"], have["functions"])


def compare_texts(what, theirs, ours):
    for name, text in sorted(theirs.items()):
        if ours.get(name) != text:
            yield "%s: %s is %s, not %s" % (name, what, ours.get(name), text)


def exported(library):
    """Symbols that only the library defines: weak ones are in every program that needs them."""
    out = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
    lines = [line.split() for line in out.stdout.splitlines()]
    return {fields[2].split("@")[0] for fields in lines if fields[1] in "TDBR"}, \
           {fields[2].split("@")[0] for fields in lines}


def compare_symbols(theirs, ours, classes):
    """Functions of classes that RocksDB's headers declare and its library defines."""
    declared = set()
    for facts in classes.values():
        for function, fact in facts["functions"].items():
            if fact["access"] == "private" and not fact["slot"]:
                continue
            for kind in ("0", "1", "2") if re.search(r"[CD]4E", function) else ("4",):
                declared.add(re.sub(r"([CD])4E", r"\g<1>%sE" % kind, function, count=1))
    return ["exported: not %s" % name for name in sorted(theirs & declared - ours)]


def main():
    compiler, our_include, our_library, their_include, their_library, known = sys.argv[1:7]
    our_include, their_include = pathlib.Path(our_include), pathlib.Path(their_include)
    ours, theirs = headers(our_include), headers(their_include)
    found = ["%s: no such header" % h for h in sorted(set(theirs) - set(ours))]
    both = sorted(set(ours) & set(theirs))
    with tempfile.TemporaryDirectory() as work:
        interface.compile_headers(compiler, str(our_include), both, work + "/ours.o")
        interface.compile_headers(compiler, None, both, work + "/theirs.o")
        mine, their = interface.Interface(work + "/ours.o"), interface.Interface(work + "/theirs.o")
    if len(their.classes) < 200:
        sys.exit("only %d classes of RocksDB's were read" % len(their.classes))
    found += compare_classes(their.classes, mine.classes)
    found += compare_texts("enumeration", their.enums, mine.enums)
    found += compare_texts("type name", their.types, mine.types)
    found += compare_symbols(exported(their_library)[0], exported(our_library)[1], their.classes)
    if "--list" in sys.argv:
        print("\n".join(found))
        return 0
    lines = pathlib.Path(known).read_text(encoding="utf-8").splitlines()
    expected = {line for line in lines if line and not line.startswith("#")}
    new = [line for line in found if line not in expected]
    for line in new:
        print("not known: " + line)
    for line in sorted(expected - set(found)):
        print("fixed, to be removed from %s: %s" % (pathlib.Path(known).name, line))
    print("%d headers, %d classes, %d enumerations, %d type names: %d differences, %d of them known" % (
        len(both), len(their.classes), len(their.enums), len(their.types), len(found), len(found) - len(new)))
    return 1 if new else 0


if __name__ == "__main__":
    sys.exit(main())
