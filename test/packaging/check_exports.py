# SPDX-License-Identifier: Apache-2.0
"""Checks what a shared library exports: nothing but the public interface, and all functions of namespace compassdb.

usage: check_exports.py LIBRARY INCLUDE_DIRECTORY

A name is public if it belongs to namespace rocksdb and the class or function that it stands for is
named in a header under rocksdb/; if it belongs to namespace compassdb and is named in a header
under compassdb/; or if it is a C function rocksdb_*.
"""
import pathlib
import re
import subprocess
import sys

# What a name may begin with before the name of a class or function.
PREFIX = re.compile(r"^(vtable for|VTT for|typeinfo for|typeinfo name for|guard variable for|"
                    r"TLS wrapper function for|TLS init function for|"
                    r"(non-)?virtual thunk to|construction vtable for) ")
SCOPED = re.compile(r"^(rocksdb|compassdb)::(~?\w+|operator\W+)")


def words(folder):
    found = set()
    for header in folder.rglob("*.h"):
        found.update(re.findall(r"\w+", header.read_text(encoding="utf-8")))
    return found


def without_result(name):
    """NAME of a function, of a template perhaps, whose name begins with what it returns."""
    depth = 0
    for at, letter in enumerate(name):
        depth += (letter in "<(") - (letter in ">)")
        if letter == " " and depth == 0 and re.match(r"(rocksdb|compassdb)::", name[at + 1:]):
            return name[at + 1:]
    return name


def functions(header):
    """Names of the functions that a header of ours declares outside of classes; those with a body need no export."""
    return re.findall(r"^\w[\w:<>,*& ]*[\w>*&] \*?(\w+)\((?:[^;{]|\n)*?\);", header, re.M)


def fault(name, public):
    """Why NAME (demangled) should not be exported, or None."""
    if re.fullmatch(r"rocksdb_\w+", name):
        return None
    stripped = PREFIX.sub("", name)
    if not SCOPED.match(stripped):
        stripped = without_result(stripped)
    match = SCOPED.match(stripped)
    if not match:
        return "belongs to neither namespace"
    scope, first = match.groups()
    if first.startswith("operator"):
        return None
    if first not in public[scope]:
        return "is named in no public header"
    return None


def self_test():
    public = {"rocksdb": {"DB"}, "compassdb": {"LoadIndex"}}
    good = ["rocksdb_open", "rocksdb::DB::Get(int)", "vtable for rocksdb::DB",
            "compassdb::LoadIndex(rocksdb::DB*)", "rocksdb::operator<<(std::ostream&)",
            "std::function<void (int)> rocksdb::DB::Find<int>(int)"]
    bad = ["compassdb::DBImpl::Get(int)", "typeinfo for compassdb::DBImpl", "XXH64", "rocksdb::Hidden()",
           "std::vector<rocksdb::DB*>::size()", "void compassdb::F<rocksdb::DB>()"]
    assert [n for n in good if fault(n, public)] == []
    assert [n for n in bad if not fault(n, public)] == []
    header = ("rocksdb::Status One(int a,\n    int b = 3);\nclass C {\n  void Inside();\n};\nuint64_t Two();\n"
              "inline int Three() { return F(1); }\nstd::vector<Preset> Four();\nusing F = std::function<int(int)>;\n")
    assert functions(header) == ["One", "Two", "Four"], functions(header)


def main():
    self_test()
    library, include = sys.argv[1], pathlib.Path(sys.argv[2])
    public = {"rocksdb": words(include / "rocksdb"), "compassdb": words(include / "compassdb")}
    out = subprocess.run(["nm", "-DC", "--defined-only", library], capture_output=True, text=True, check=True)
    names = sorted({line.split(" ", 2)[2] for line in out.stdout.splitlines()})
    faults = [(name, fault(name, public)) for name in names]
    faults = ["%s: %s" % f for f in faults if f[1]]
    exported = " ".join(names).replace("[abi:cxx11]", "")
    ours = sorted({name for header in (include / "compassdb").glob("*.h") for name in functions(header.read_text(encoding="utf-8"))})
    assert "ApplyPreset" in ours and "NewSealingProvider" in ours, ours
    for wanted in ["rocksdb::DB::Open(", "typeinfo for rocksdb::DB", "vtable for rocksdb::DB"] + ["compassdb::%s(" % name for name in ours]:
        if wanted not in exported:
            faults.append("%s is not exported" % wanted)
    print("\n".join(faults))
    print("%d names exported, %d faults" % (len(names), len(faults)))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
