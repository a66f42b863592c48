# SPDX-License-Identifier: Apache-2.0
"""Compares the C interface with RocksDB's: what its header declares and what its library exports.

usage: check_c_interface.py C_COMPILER OUR_INCLUDE OUR_LIBRARY THEIR_HEADER THEIR_LIBRARY LATER

Every function must have the type that RocksDB's header gives it, every enumerator its value, and every function that
RocksDB exports must be exported. What is left out is listed in docs/compatibility.md. LATER lists functions of later
versions of RocksDB, one per line with the version that brought it: we have them all.
"""
import re
import subprocess
import sys

# Declared, but in no library of RocksDB either.
DECLARED_ONLY = {"rocksdb_writebatch_wi_create_from"}
# Exported by RocksDB without a declaration.
EXPORTED_ONLY = {"rocksdb_filterpolicy_create_bloom_format", "rocksdb_filterpolicy_create_ribbon_format"}
# The forms of later versions, which COMPASSDB_ROCKSDB_LEVEL gives their name.
OF_LEVELS = {"rocksdb_enable_file_deletions_900", "rocksdb_options_set_plain_table_factory_809",
             "rocksdb_options_statistics_get_ticker_count_1000", "rocksdb_slicetransform_create_1100"}


# Enumerators of later functions.
LATER_VALUES = re.compile(r"rocksdb_(statistics_level|block_based_k)_\w+")


def declared(compiler, header):
    """({function: declaration}, {enumerator: value}) of a preprocessed header."""
    text = subprocess.run([compiler, "-E", "-P", "-x", "c", header], capture_output=True, text=True,
                          check=True).stdout
    functions = {}
    for statement in text.split(";"):
        statement = " ".join(re.sub(r"__attribute__ *\(\(.*?\)\)", "", statement, flags=re.S).split())
        name = re.search(r"\b(rocksdb_\w+) ?\(", statement)
        if name and "{" not in statement:
            functions[name.group(1)] = statement
    values = {}
    for body in re.findall(r"\benum\s*\{([^}]*)\}", text):
        value = -1
        for enumerator in filter(None, (e.strip() for e in body.split(","))):
            name, _, given = (part.strip() for part in enumerator.partition("="))
            value = int(given, 0) if given else value + 1
            values[name] = value
    return functions, {name: v for name, v in values.items() if name.startswith("rocksdb_")}


def exported(library):
    lines = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True,
                           check=True).stdout.splitlines()
    return {line.split()[-1].split("@")[0] for line in lines if re.search(r" [TW] rocksdb_", line)}


def errors_of(compiler, include, lines):
    """What the compiler says of our header with `lines` behind it."""
    source = "#include <rocksdb/c.h>\n" + "\n".join(lines) + "\n"
    command = [compiler, "-std=c11", "-fsyntax-only", "-I", include, "-x", "c", "-"]
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    return [line for line in done.stderr.splitlines() if "error:" in line] if done.returncode else []


def main():
    compiler, include, library, their_header, their_library, later_functions = sys.argv[1:]
    ours, our_values = declared(compiler, include + "/rocksdb/c.h")
    theirs, their_values = declared(compiler, their_header)
    our_symbols, their_symbols = exported(library), exported(their_library)
    with open(later_functions, encoding="utf-8") as lines:
        later = {line.split()[0] for line in lines if line.strip() and not line.startswith("#")}
    complaints = []

    def complain(what, names):
        complaints.extend("%s: %s" % (what, name) for name in sorted(names))

    complain("not declared", theirs.keys() - ours.keys())
    complain("declared, but not by RocksDB", ours.keys() - theirs.keys() - later)
    complain("no later function, RocksDB has it", later & theirs.keys())
    complain("not declared", later - ours.keys())
    complain("no such enumerator", their_values.keys() - our_values.keys())
    complain("an enumerator that RocksDB has not",
             {n for n in our_values.keys() - their_values.keys() if not LATER_VALUES.fullmatch(n)})
    complain("not exported", their_symbols - our_symbols)
    complain("exported, but not by RocksDB", our_symbols - their_symbols - later - OF_LEVELS)
    complain("not exported", OF_LEVELS - our_symbols)
    complain("declared, but not exported", ours.keys() - our_symbols - DECLARED_ONLY)
    complain("exported, but not declared", our_symbols - ours.keys() - EXPORTED_ONLY - OF_LEVELS)

    # C takes a second declaration of a function if it has the same type.
    complain("another type", errors_of(compiler, include, (d + ";" for d in theirs.values())))
    complain("another value", errors_of(compiler, include,
                                        ('_Static_assert(%s == %d, "%s");' % (n, v, n)
                                         for n, v in their_values.items())))
    if not errors_of(compiler, include, ["unsigned char rocksdb_close(rocksdb_t* db);"]):
        complaints.append("another type is not noticed")
    if not errors_of(compiler, include, ['_Static_assert(rocksdb_zstd_compression == 6, "");']):
        complaints.append("another value is not noticed")

    print("\n".join(complaints))
    print("%d functions, %d enumerators, %d symbols compared" %
          (len(theirs), len(their_values), len(their_symbols)))
    return 1 if complaints or len(theirs) < 700 or len(their_symbols) < 700 else 0


if __name__ == "__main__":
    sys.exit(main())
