# SPDX-License-Identifier: Apache-2.0
"""What a set of C++ headers declares in namespace rocksdb, read from the debug information of a
program that includes them all: classes with sizes, bases, members and functions, enumerations and type names.
"""
import re
import subprocess

DIE = re.compile(r"^ <(\d+)><([0-9a-f]+)>: Abbrev Number: \d+(?: \(DW_TAG_(\w+)\))?")
ATTRIBUTE = re.compile(r"^    <[0-9a-f]+>   DW_AT_(\w+)\s*: (.*)$")
FORM = re.compile(r"^\(\w+\) ")
WRAPPERS = {"pointer_type": "%s*", "reference_type": "%s&", "rvalue_reference_type": "%s&&",
            "const_type": "const %s", "volatile_type": "volatile %s"}
RECORDS = ("class_type", "structure_type", "union_type")
ACCESS = {"1": "public", "2": "protected", "3": "private"}


class Die:
    """One entry of the debug information."""

    def __init__(self, tag, parent):
        self.tag, self.parent, self.attributes, self.children = tag, parent, {}, []

    def get(self, name, default=None):
        return self.attributes.get(name, default)


def compile_headers(compiler, include, headers, output, standard="-std=c++17"):
    """An object file whose debug information describes all types of the headers."""
    source = "".join('#include "%s"\n' % header for header in headers)
    command = [compiler, standard, "-x", "c++", "-", "-c", "-g", "-gno-strict-dwarf",
               "-fno-eliminate-unused-debug-types", "-femit-class-debug-always", "-o", output]
    if include:
        command += ["-I", include]
    subprocess.run(command, input=source, text=True, check=True)


def parse(path):
    """All entries by offset, from readelf."""
    dies, stack, current = {}, [], None
    with subprocess.Popen(["readelf", "--debug-dump=info", "--wide", path], stdout=subprocess.PIPE,
                          text=True, errors="replace") as readelf:
        for line in readelf.stdout:
            match = ATTRIBUTE.match(line)
            if match:
                if current is not None:
                    value = FORM.sub("", match.group(2).rstrip())
                    if value.startswith(("(offset:", "(indirect")):
                        value = value.split("): ", 1)[1]
                    current.attributes[match.group(1)] = value
                continue
            match = DIE.match(line)
            if not match:
                continue
            level, offset, tag = int(match.group(1)), match.group(2), match.group(3)
            current = None
            if tag is None:
                continue
            del stack[level:]
            current = Die(tag, stack[-1] if stack else None)
            if stack:
                stack[-1].children.append(current)
            stack.append(current)
            dies[offset] = current
    return dies


class Interface:
    """classes: name -> facts about it; enums and types: name -> text."""

    def __init__(self, path):
        self.dies = parse(path)
        self.classes, self.enums, self.types = {}, {}, {}
        for die in self.dies.values():
            name = self.qualified(die)
            if not name.startswith("rocksdb::") or die.get("declaration") or "{" in name or "<" in name:
                continue
            if die.tag in RECORDS and die.get("name"):
                self.classes[name] = self.record(die, name)
            elif die.tag == "enumeration_type" and die.get("name"):
                self.enums[name] = self.enumeration(die)
            elif die.tag == "typedef" and not any(p in name for p in ("::value_type",)):
                self.types[name] = self.type_name(die)

    def target(self, die, attribute="type"):
        match = re.match(r"<0x([0-9a-f]+)>", die.get(attribute, ""))
        return self.dies.get(match.group(1)) if match else None

    def qualified(self, die):
        parts = []
        while die is not None and die.tag != "compile_unit":
            if die.tag == "namespace" and die.get("export_symbols"):
                die = die.parent
                continue
            parts.append(die.get("name", "{}"))
            die = die.parent
        return "::".join(reversed(parts))

    def type_name(self, die):
        """The text of the type that die refers to."""
        to = self.target(die)
        if to is None:
            return "void"
        if to.tag in WRAPPERS:
            return WRAPPERS[to.tag] % self.type_name(to)
        if to.tag == "subroutine_type":
            arguments = [self.type_name(c) for c in to.children if c.tag == "formal_parameter"]
            return "%s(%s)" % (self.type_name(to), ", ".join(arguments))
        if to.tag == "array_type":
            return self.type_name(to) + "".join("[%s]" % c.get("upper_bound", "") for c in to.children)
        if to.tag == "typedef" and not self.qualified(to).startswith("rocksdb::"):
            return self.type_name(to)
        return self.qualified(to)

    def enumeration(self, die):
        values = ["%s=%s" % (c.get("name"), c.get("const_value")) for c in die.children if c.tag == "enumerator"]
        return "%s{%s}" % (self.type_name(die), ", ".join(values))

    def record(self, die, name):
        standard = "private" if die.tag == "class_type" else "public"
        facts = {"size": die.get("byte_size"), "bases": [], "members": [], "statics": {}, "functions": {}}
        for child in die.children:
            access = ACCESS.get((child.get("accessibility") or "").split(" ")[0], standard)
            if child.tag == "inheritance":
                facts["bases"].append((self.type_name(child), child.get("data_member_location", "virtual")))
            elif child.tag == "member" and (child.get("external") or child.get("declaration")):
                facts["statics"][child.get("name")] = "%s %s = %s" % (
                    access, self.type_name(child), child.get("const_value", "?"))
            elif child.tag == "member":
                facts["members"].append((child.get("data_member_location", "0").split(" ")[0], access,
                                         child.get("name", "{}"), self.type_name(child)))
            elif child.tag == "variable":
                facts["statics"][child.get("name")] = "%s %s" % (access, self.type_name(child))
            elif child.tag == "subprogram" and not child.get("artificial"):
                self.function(child, access, facts["functions"])
        return facts

    def function(self, die, access, functions):
        slot = re.sub(r".*DW_OP_constu: (\d+).*", r"\1", die.get("vtable_elem_location", "")) or None
        # Constructors and destructors come under the name of all their variants.
        functions[die.get("linkage_name", die.get("name"))] = {
            "access": access, "slot": slot, "result": self.type_name(die),
            "pure": (die.get("virtuality") or "").startswith("2"),
            "deleted": bool(die.get("deleted") or (die.get("defaulted") or "").startswith("3")),
        }
