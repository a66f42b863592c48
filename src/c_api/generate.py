#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what the C interface has for plain options, from options.table.

  generate.py definitions FILE   the functions, as C++
  generate.py trial FILE         a C program that sets, reads and prints each option of RocksDB 7.8
  generate.py later FILE         the same for those of later versions
  generate.py header c.h         writes the declarations into c.h, between its markers
  generate.py check c.h          exit code 1 if that would change c.h
"""
import pathlib
import re
import sys

TABLE = pathlib.Path(__file__).with_name("options.table")
C_TYPES = {"bool": "unsigned char", "char": "char", "int": "int", "uint": "unsigned int",
           "uint32": "uint32_t", "int64": "int64_t", "uint64": "uint64_t", "size": "size_t",
           "double": "double", "micros": "uint64_t", "bit": "int"}
WIDTH = 100
NOTE = "Written by src/c_api/generate.py from src/c_api/options.table."


class Option:
    def __init__(self, name, setter, getter, member=None, later=False):
        self.name, self.setter, self.getter = name, setter, getter
        self.member, self.later = member or name, later


class Object:
    def __init__(self, prefix, handle, *flags):
        self.prefix, self.handle = "rocksdb_" + prefix, handle
        self.creates = "no-create" not in flags
        self.options = []

    def functions(self):
        """(result, name, parameters, body) of each function, in the order of the table."""
        handle = self.handle + "*"
        if self.creates:
            yield handle, self.prefix + "_create", "void", "return Create<%s>();" % self.handle
        yield "void", self.prefix + "_destroy", handle + " opt", "delete opt;"
        for option in self.options:
            field = "opt->" + ("" if option.member.startswith("later.") else "rep.") + option.member
            if option.setter != "-":
                yield ("void", "%s_set_%s" % (self.prefix, option.name),
                       "%s opt, %s v" % (handle, C_TYPES[option.setter]),
                       "StoreOption(&%s, v);" % field)
            if option.getter != "-":
                result = C_TYPES[option.getter]
                yield (result, "%s_get_%s" % (self.prefix, option.name), handle + " opt",
                       "return LoadOption<%s>(%s);" % (result, field))


def read_table():
    objects = []
    for number, line in enumerate(TABLE.read_text(encoding="utf-8").splitlines(), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        if words[0] == "object":
            objects.append(Object(*words[1:]))
            continue
        later = words[-1] == "later"
        words = words[:-1] if later else words
        if 3 <= len(words) <= 4 and all(w == "-" or w in C_TYPES for w in words[1:3]):
            objects[-1].options.append(Option(*words, later=later))
        else:
            sys.exit("%s:%d: neither an object nor an option" % (TABLE, number))
    return objects


def wrapped(text):
    """A declaration in lines of at most WIDTH, broken at spaces."""
    lines = [""]
    for word in text.split(" "):
        if lines[-1].strip() and len(lines[-1]) + 1 + len(word) > WIDTH:
            lines.append("    " + word)
        else:
            lines[-1] += (" " if lines[-1].strip() else "") + word
    return "\n".join(lines)


def declarations(an_object):
    return "\n".join(wrapped("extern ROCKSDB_LIBRARY_API %s %s(%s);" % (result, name, parameters))
                     for result, name, parameters, _ in an_object.functions())


def definitions(objects):
    lines = ["// " + NOTE, '#include "c_api/handles.h"', '#include "c_api/option_fields.h"', "",
             "using compassdb::Create;", "using compassdb::LoadOption;",
             "using compassdb::StoreOption;", "", 'extern "C" {']
    for an_object in objects:
        lines.append("")
        for result, name, parameters, body in an_object.functions():
            lines.append("%s %s(%s) { %s }" % (result, name, parameters, body))
    return "\n".join(lines + ["", '}  // extern "C"', ""])


def header(text, objects):
    for an_object in objects:
        begin = "/* generated: %s */\n" % an_object.prefix
        pattern = re.compile(re.escape(begin) + r".*?(?=/\* end \*/\n)", re.S)
        replacement = begin + declarations(an_object) + "\n"
        text, count = pattern.subn(lambda match: replacement, text)
        if count != 1:
            sys.exit("%d places for %s in the header" % (count, an_object.prefix))
    return text


def trial_of(an_object, later):
    """The statements that try the options of one object; `o` is its handle."""
    for option in an_object.options:
        if option.later != later:
            continue
        get = "%s_get_%s(o)" % (an_object.prefix, option.name)
        show = '  printf("%s_%s %%.10g\\n", (double)%s);' % (an_object.prefix, option.name, get)
        if option.getter != "-":
            yield show
        if option.setter != "-":
            other = "3"
            if "bool" in (option.setter, option.getter):
                other = "!" + get if option.getter != "-" else "1"
            elif "double" in (option.setter, option.getter):
                other = "0.75"
            elif option.setter == "bit":
                other = "0"
            yield "  %s_set_%s(o, (%s)%s);" % (an_object.prefix, option.name,
                                              C_TYPES[option.setter], other)
            if option.getter != "-":
                yield show


def trial(objects, later):
    objects = [o for o in objects if any(option.later == later for option in o.options)
               or not (later or o.options)]
    lines = ["/* %s */" % NOTE, "#include <rocksdb/c.h>", "#include <stdio.h>", ""]
    for an_object in objects:
        create = an_object.prefix + ("_create()" if an_object.creates else '_create("/nowhere")')
        lines += ["static void try_%s(void) {" % an_object.prefix,
                  "  %s* o = %s;" % (an_object.handle, create), *trial_of(an_object, later),
                  "  %s_destroy(o);" % an_object.prefix, "}", ""]
    lines += ["int main(void) {", *("  try_%s();" % o.prefix for o in objects), "  return 0;", "}"]
    return "\n".join(lines) + "\n"


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("definitions", "trial", "later", "header", "check"):
        print(__doc__)
        return 2
    command, path = sys.argv[1], pathlib.Path(sys.argv[2])
    objects = read_table()
    if command in ("header", "check"):
        old = path.read_text(encoding="utf-8")
        new = header(old, objects)
        if command == "check":
            print("up to date" if old == new else "%s is not what options.table says: run "
                  "src/c_api/generate.py header %s" % (path, path))
            return 0 if old == new else 1
        path.write_text(new, encoding="utf-8")
    elif command == "definitions":
        path.write_text(definitions(objects), encoding="utf-8")
    else:
        path.write_text(trial(objects, command == "later"), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
