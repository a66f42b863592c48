#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""House rules as a test.

  tidy.py ROOT          check the tree; exit code 1 and one line per violation
  tidy.py --self-test   each rule must fail on a sample made to break it

Rules:
  layer       a folder of src/ includes only folders of lower layers
  circle      no two headers of src/, each with the .cc of its name, include each other, directly or by others; a .cc
              without a header may use what is built on its class
  alone       perfect_hash includes nothing of the project
  public      public headers include only public headers
  top-header  db.h, options.h and the like are not for the layers below options/
  syscall     system headers only in src/env/
  locale      no function whose numbers follow the program's locale: util/c_locale.h has those to use
  thread      the engine starts threads through util/start_thread.h, which cannot throw
  length      files of at most 1,500 lines, but for rocksdb/c.h, which users expect in one piece
  function    functions of at most 100 lines (by a heuristic on braces)
  spdx        the licence line on top
  link        relative links and images in Markdown lead to a file or folder of the tree, and to a heading of it
  option      every member of an option struct has a row in its table of docs/options.md, which the option tables write
  property    the compassdb.* properties in the code are those listed in docs/operations/monitoring.md
  paper       each row of docs/papers.md has a command, or says that there is none; its tests and suites exist
  test-scope  tests see the public API; tests of crashes and faults also env/ and util/ (those of crashes read
              manifests, too), fuzz targets all
"""

import os
import re
import sys
import tempfile
import urllib.parse

LAYERS = {
    "util": 0, "perfect_hash": 0,
    "api": 1,
    "format": 2,
    "env": 3,
    "log": 4, "cache": 4, "encryption": 4,
    "services": 5, "batch": 5, "iter": 5, "filter": 5,
    "wal": 6, "memtable": 6, "table": 6, "rocksdb_files": 6,
    "manifest": 7,
    "store": 8,
    "value_store": 9,
    "lsm": 10, "tableless": 10,
    "options": 11,
    "family": 12, "trace": 12,
    "db": 13,
    "transactions": 14, "copies": 14, "ttl": 14, "utilities": 14,
    "c_api": 15,
}
OPTION_STRUCTS = {
    "rocksdb/options.h": ("DBOptions", "ColumnFamilyOptions"),
    "rocksdb/advanced_options.h": ("AdvancedColumnFamilyOptions", "CompressionOptions", "CompactionOptionsFIFO"),
    "rocksdb/universal_compaction.h": ("CompactionOptionsUniversal",),
    "rocksdb/table.h": ("BlockBasedTableOptions",),
    "compassdb/table.h": ("PieceTableOptions",)}
PROPERTIES = "src/db/report/properties.cc"
PROPERTIES_LISTED = "docs/operations/monitoring.md"
PAPERS = "docs/papers.md"
PAPER_COLUMNS = 6
NO_COMMAND = ("**not built**", "**not run**")
TOP_HEADERS = {"rocksdb/db.h", "rocksdb/options.h", "rocksdb/advanced_options.h",
               "rocksdb/table.h", "rocksdb/convenience.h"}
VOCABULARY = {"rocksdb/utilities/object_registry.h"}
SYSTEM_HEADERS = re.compile(
    r"^(unistd|fcntl|pthread|dirent|sched|dlfcn|liburing|aio|poll|signal)\.h$|^(sys|linux)/")
# What reads or writes floating-point numbers, or sorts characters, by the program's locale.
LOCALE_CALL = re.compile(
    r"\b(strto(?:d|f|ld)|ato(?:f|i|l|ll)|sto(?:d|f|ld)|setlocale|localeconv|strcoll|strxfrm|std::locale::global|"
    r"is(?:digit|space|alpha|alnum|upper|lower|print|punct|xdigit)|to(?:upper|lower))\s*\(")
LOCALE_FORMAT = re.compile(r'printf\([^;]*?"(?:[^"\\]|\\.)*%[-+ #0-9.*]*l?[aefgAEFG]')
LOCALE_FREE = ("src/util/c_locale.h", "src/util/c_locale.cc")
STARTS_THREAD = re.compile(r"\bstd::(jthread|async)\b|\bpthread_create\b|\bstd::thread(\s+\w+)?\s*[({]\s*[^\s)}]|"
                           r"\bthreads?_?\.emplace_back\(\s*\[")
MAY_START_THREADS = ("src/util/start_thread.cc", "src/perfect_hash/threads.cc")
PUBLIC_PREFIXES = ("rocksdb/", "compassdb/")
MAX_LINES = 1500
ONE_PIECE = ("include/rocksdb/c.h",)
MAX_FUNCTION_LINES = 100
# Whole-engine tests and what of src/ each kind may include.
TEST_MAY_SEE = {"crash": ("env/", "util/", "manifest/manifest.h", "crash/", "support/"),
                "faults": ("env/", "util/", "faults/", "support/"),
                "formats": ("util/hash.h", "formats/", "support/"),
                "rivals": ("leveldb/",),
                "rocksdb_files": ("api/", "env/", "util/", "rocksdb_files/", "cases.h")}
UNRESTRICTED_TESTS = {"rules", "api", "fixtures", "fuzz"}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
LINK = re.compile(r"\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)")
SOURCE_SUFFIXES = (".h", ".cc", ".c", ".cpp")
SPDX_SUFFIXES = SOURCE_SUFFIXES + (".py",)


def read_lines(path):
    with open(path, encoding="utf-8", errors="replace") as source:
        return source.read().split("\n")


def includes_of(lines):
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1) == "<", match.group(2)


def prose_of(lines):
    """Markdown's lines with their numbers, without code."""
    fenced = False
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, re.sub(r"`[^`]*`", "", line)


def anchors_of(lines):
    """Of a Markdown file's headings, as GitHub makes them."""
    fenced = False
    for line in lines:
        if line.lstrip().startswith("```"):
            fenced = not fenced
        heading = re.match(r"#+\s+(.*)", line)
        if heading and not fenced:
            yield re.sub(r"[^\w\- ]", "", heading.group(1).strip().lower()).replace(" ", "-")


def strip_code(lines):
    """The lines without strings, characters and comments, so that braces count."""
    text = "\n".join(lines)
    text = re.sub(r'R"([^(\s]*)\((?:.|\n)*?\)\1"', lambda m: "\n" * m.group(0).count("\n"), text)
    token = re.compile(r'//[^\n]*|/\*(?:.|\n)*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'')
    return token.sub(lambda m: "\n" * m.group(0).count("\n"), text).split("\n")


def members_of(lines, struct):
    """(line, name) of each data member of a struct, as the option structs are written."""
    depth, statement = None, ""
    for number, line in enumerate(strip_code(lines), 1):
        if depth is None and re.match(r"(struct|class) %s\b[^;]*$" % struct, line):
            depth = 0
        if depth is None or line.startswith("#"):
            continue
        for char in line + " ":
            if char == "{":
                depth += 1
            elif char == "}":
                depth -= 1
                if depth == 0:
                    return
                if "(" in statement:  # of a function
                    statement = ""
            elif char == ";" and depth == 1:
                declared = statement.split("=")[0].strip()
                name = re.search(r"\(\*(\w+)\)|^[^(]*\b(\w+)$", declared)
                if name and not re.search(r"\b(enum|static|struct|typedef|using)\b", declared):
                    yield number, name.group(1) or name.group(2)
                statement = ""
            elif depth == 1:
                statement += char


SCOPE = re.compile(r"^\s*(?:template\s*<.*>\s*)?"
                   r"(namespace|class|struct|union|enum|extern)\b(?!.*\)\s*(const)?\s*\{)")


def long_functions(lines):
    """(line, length) of each outermost block that is not a namespace or a type."""
    found = []
    stack = []  # (is_scope, line where the statement of the brace began)
    statement_start = None
    statement = ""
    for number, line in enumerate(strip_code(lines), 1):
        if line.lstrip().startswith("#"):
            continue
        for char in line:
            if statement_start is None and not char.isspace():
                statement_start = number
            if char == "{":
                is_data = statement.rstrip().endswith("=")
                is_scope = bool(SCOPE.match(statement)) or is_data or statement.strip() == ""
                inside_function = any(not scope for scope, _ in stack)
                stack.append((is_scope and not inside_function, statement_start or number))
                statement, statement_start = "", None
            elif char == "}":
                if stack:
                    scope, start = stack.pop()
                    outermost = not any(not other for other, _ in stack)
                    if not scope and outermost and number - start + 1 > MAX_FUNCTION_LINES:
                        found.append((start, number - start + 1))
                statement, statement_start = "", None
            elif char == ";":
                statement, statement_start = "", None
            else:
                statement += char
        statement += " "
    return found


def circles_of(units):
    """Of a graph {unit: units that it includes}: the sets that reach each other (Tarjan), each sorted."""
    index, low, stack, found = {}, {}, [], []

    def visit(unit):
        index[unit] = low[unit] = len(index)
        stack.append(unit)
        for other in sorted(units[unit]):
            if other not in index:
                visit(other)
                low[unit] = min(low[unit], low[other])
            elif other in stack:
                low[unit] = min(low[unit], index[other])
        if low[unit] == index[unit]:
            at = stack.index(unit)
            circle = sorted(stack[at:])
            del stack[at:]
            if len(circle) > 1:
                found.append(circle)

    for unit in sorted(units):
        if unit not in index:
            visit(unit)
    return found


class Checker:
    def __init__(self, root):
        self.root = root
        self.violations = []

    def report(self, rule, path, line, text):
        name = os.path.relpath(path, self.root)
        self.violations.append((rule, "%s:%d: [%s] %s" % (name, line, rule, text)))

    def files(self, folder, suffixes):
        for directory, folders, names in os.walk(os.path.join(self.root, folder)):
            folders[:] = sorted(f for f in folders if not f.startswith((".", "build", "__")))
            for name in sorted(names):
                if name.endswith(suffixes):
                    yield os.path.join(directory, name)

    def check_everything(self):
        for folder in ("src", "include", "test", "tools", "bench", "scripts", "fuzz", "examples"):
            for path in self.files(folder, SPDX_SUFFIXES):
                self.check_any(path, read_lines(path))
        for path in self.files("src", SOURCE_SUFFIXES):
            self.check_source(path, read_lines(path))
        self.check_circles()
        for path in self.files("include", SOURCE_SUFFIXES):
            self.check_public(path, read_lines(path))
        for path in self.files("test", SOURCE_SUFFIXES):
            self.check_test(path, read_lines(path))
        for folder in ("docs", "test", "tools", "bench", "scripts", "fuzz", "examples", "packaging"):
            for path in self.files(folder, (".md",)):
                self.check_links(path, read_lines(path))
        for name in sorted(os.listdir(self.root)):
            if name.endswith(".md"):
                path = os.path.join(self.root, name)
                self.check_links(path, read_lines(path))
        self.check_option_rows()
        self.check_properties()
        self.check_papers()

    def check_option_rows(self):
        documented = os.path.join(self.root, "docs", "options.md")
        rows, titled = set(), []
        for line in read_lines(documented) if os.path.exists(documented) else []:
            if line.startswith("#"):
                titled = re.findall(r"\w+", line)
            retired = line.startswith("Read and dropped")
            for name in re.findall(r"`(\w+)`" if retired else r"^\| `(\w+)` \|", line):
                rows.update((struct, name) for struct in titled)
        for header, structs in OPTION_STRUCTS.items():
            path = os.path.join(self.root, "include", header)
            if not os.path.exists(path):
                continue
            lines = read_lines(path)
            for struct in structs:
                for number, name in members_of(lines, struct):
                    if (struct.removeprefix("Advanced"), name) not in rows:
                        self.report("option", path, number, "%s::%s has no row in docs/options.md" % (struct, name))

    def check_properties(self):
        paths = [os.path.join(self.root, *name.split("/")) for name in (PROPERTIES, PROPERTIES_LISTED)]
        code, listed = [read_lines(path) if os.path.exists(path) else [] for path in paths]
        in_code = {name: number for number, line in enumerate(code, 1)
                   for name in re.findall(r'"(compassdb\.[a-z-]+)"', line)}
        in_list = {found.group(1): number for number, line in enumerate(listed, 1)
                   for found in [re.match(r"\| `(compassdb\.[a-z-]+)` \|", line)] if found}
        for name in sorted(in_code.keys() - in_list.keys()):
            self.report("property", paths[0], in_code[name], "%s is not listed in %s" % (name, PROPERTIES_LISTED))
        for name in sorted(in_list.keys() - in_code.keys()):
            self.report("property", paths[1], in_list[name], "%s is not in %s" % (name, PROPERTIES))

    def check_papers(self):
        path = os.path.join(self.root, *PAPERS.split("/"))
        if not os.path.exists(path):
            return
        tests, suites = {}, set()
        for source in self.files("src", ("_test.cc",)):
            module = os.path.relpath(source, os.path.join(self.root, "src")).split(os.sep)[0] + "_test"
            found = re.findall(r"^TEST(?:_F|_P)?\((\w+), *(\w+)\)", "\n".join(read_lines(source)), re.M)
            tests.setdefault(module, []).extend(".".join(names) for names in found)
        for source in self.files(os.path.join("bench", "comparelib"), (".py",)):
            suites.update(re.findall(r'"([\w.-]+)"', "\n".join(read_lines(source))))
        for number, line in enumerate(read_lines(path), 1):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if len(cells) != PAPER_COLUMNS or cells[0] in ("§", "---"):
                continue
            if "`" not in cells[3] and not any(words in line for words in NO_COMMAND):
                self.report("paper", path, number, "no command, and not one of " + ", ".join(NO_COMMAND))
            for module, name in re.findall(r"`(\w+_test) ([\w.]+)[^`]*`", cells[3]):
                if not any(name in test for test in tests.get(module, [])):
                    self.report("paper", path, number, "%s has no test %s" % (module, name))
            for name in re.findall(r"`suite ([\w.-]+)`", cells[3]):
                if name not in suites:
                    self.report("paper", path, number, "there is no suite " + name)

    def check_links(self, path, lines):
        for number, line in prose_of(lines):
            for link in LINK.findall(line):
                if re.match(r"[a-z+]+:", link):
                    continue
                name, _, anchor = urllib.parse.unquote(link).partition("#")
                target = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
                if not os.path.exists(target):
                    self.report("link", path, number, "%s: there is no such file" % link)
                elif anchor and target.endswith(".md") and anchor not in anchors_of(read_lines(target)):
                    self.report("link", path, number, "%s: there is no such heading" % link)

    def check_any(self, path, lines):
        if not any("SPDX-License-Identifier: Apache-2.0" in line for line in lines[:3]):
            self.report("spdx", path, 1, "no licence line on top")
        if not path.endswith(SOURCE_SUFFIXES):
            return
        count = len(lines) - (1 if lines and lines[-1] == "" else 0)
        if count > MAX_LINES and os.path.relpath(path, self.root) not in ONE_PIECE:
            self.report("length", path, count, "%d lines; at most %d" % (count, MAX_LINES))
        self.check_locale(path, lines)
        for line, length in long_functions(lines):
            self.report("function", path, line,
                        "%d lines in one function; at most %d" % (length, MAX_FUNCTION_LINES))

    def check_locale(self, path, lines):
        name = os.path.relpath(path, self.root)
        if not name.startswith(("src/", "tools/", "include/")) or name in LOCALE_FREE or "_test" in name:
            return
        for number, line in enumerate(strip_code(lines), 1):
            found = LOCALE_CALL.search(line)
            if found:
                self.report("locale", path, number, "%s follows the program's locale" % found.group(1))
        text = "\n".join(lines)
        for found in LOCALE_FORMAT.finditer(text):
            before = text[:found.start()]
            if not before.endswith(("CLocaleS", "CLocaleSn", "CLocaleV", "CLocaleVsn")):
                self.report("locale", path, before.count("\n") + 1, "printf of a double follows the program's locale")

    def check_source(self, path, lines):
        folder = os.path.relpath(path, os.path.join(self.root, "src")).split(os.sep)[0]
        if folder not in LAYERS:
            self.report("layer", path, 1, "folder %s has no layer" % folder)
            return
        if os.path.relpath(path, self.root) not in MAY_START_THREADS and not os.path.basename(path).endswith(
                ("_test.cc", "_util.h")):
            for number, line in enumerate(strip_code(lines), 1):
                if STARTS_THREAD.search(line):
                    self.report("thread", path, number, "starts a thread without StartThread")
        layer = LAYERS[folder]
        for line, system, name in includes_of(lines):
            if system and SYSTEM_HEADERS.match(name) and folder != "env":
                self.report("syscall", path, line, "<%s> outside src/env/" % name)
            if name.startswith(PUBLIC_PREFIXES):
                if folder == "perfect_hash":
                    self.report("alone", path, line, "perfect_hash includes " + name)
                top = name in TOP_HEADERS or (name.startswith("rocksdb/utilities/") and
                                              name not in VOCABULARY)
                if top and layer < LAYERS["options"]:
                    self.report("top-header", path, line, "%s includes %s" % (folder, name))
                continue
            if system:
                continue
            other = name.split("/")[0]
            if other == folder:
                continue
            if folder == "perfect_hash":
                self.report("alone", path, line, "perfect_hash includes " + name)
            elif other not in LAYERS:
                self.report("layer", path, line, "\"%s\" is not a path from src/" % name)
            elif LAYERS[other] >= layer:
                self.report("layer", path, line, "%s (layer %s) includes %s (layer %s)" %
                            (folder, layer, other, LAYERS[other]))

    def check_circles(self):
        root = os.path.join(self.root, "src")
        units = {}
        for path in self.files("src", (".h",)):
            units[os.path.splitext(os.path.relpath(path, root))[0]] = set()
        for path in self.files("src", SOURCE_SUFFIXES):
            unit = os.path.splitext(os.path.relpath(path, root))[0]
            if unit in units:
                included = {os.path.splitext(name)[0] for _, system, name in includes_of(read_lines(path)) if not system}
                units[unit] |= included & units.keys() - {unit}
        for circle in circles_of(units):
            self.report("circle", os.path.join(root, circle[0] + ".h"), 1, "includes in a circle: " + ", ".join(circle))

    def check_public(self, path, lines):
        for line, system, name in includes_of(lines):
            if not system and not name.startswith(PUBLIC_PREFIXES):
                self.report("public", path, line, "includes \"%s\"" % name)

    def check_test(self, path, lines):
        folder = os.path.relpath(path, os.path.join(self.root, "test")).split(os.sep)[0]
        if folder in UNRESTRICTED_TESTS:
            return
        allowed = TEST_MAY_SEE.get(folder, (folder + "/", "support/"))
        for line, system, name in includes_of(lines):
            if system or name.startswith(PUBLIC_PREFIXES + allowed):
                continue
            self.report("test-scope", path, line, "test/%s includes \"%s\"" % (folder, name))


def check(root):
    checker = Checker(root)
    checker.check_everything()
    return checker.violations


SPDX = "// SPDX-License-Identifier: Apache-2.0\n"

# (rule that must fail, file, contents)
BAD_SAMPLES = [
    ("layer", "src/util/a.h", SPDX + '#include "env/file_system.h"\n'),
    ("layer", "src/memtable/a.h", SPDX + '#include "wal/reader.h"\n'),
    ("layer", "src/util/a.h", SPDX + '#include "rocksdb.h"\n'),
    ("layer", "src/nowhere/a.h", SPDX),
    ("alone", "src/perfect_hash/a.h", SPDX + '#include "util/hash.h"\n'),
    ("alone", "src/perfect_hash/a.h", SPDX + '#include "rocksdb/slice.h"\n'),
    ("public", "include/rocksdb/a.h", SPDX + '#include "db/db_impl.h"\n'),
    ("top-header", "src/lsm/a.cc", SPDX + '#include "rocksdb/options.h"\n'),
    ("top-header", "src/table/a.cc", SPDX + '#include "rocksdb/utilities/checkpoint.h"\n'),
    ("syscall", "src/wal/a.cc", SPDX + "#include <unistd.h>\n"),
    ("syscall", "src/db/a.cc", SPDX + "#include <sys/stat.h>\n"),
    ("locale", "src/db/a.cc", SPDX + "double F(const char* s) { return strtod(s, nullptr); }\n"),
    ("locale", "tools/a.cc", SPDX + 'void F(double x) { printf("%d %.2f", 1, x); }\n'),
    ("thread", "src/db/a.cc", SPDX + "void F() { std::thread t([] {}); }\n"),
    ("thread", "src/db/a.cc", SPDX + "void F() { thread_ = std::thread([] {}); }\n"),
    ("thread", "src/db/a.cc", SPDX + "void F() { threads.emplace_back([] {}); }\n"),
    ("thread", "src/env/a.cc", SPDX + "void F() { auto f = std::async(g); }\n"),
    ("length", "src/db/a.cc", SPDX + "int x;\n" * 1500),
    ("function", "src/db/a.cc", SPDX + "namespace n {\nint F(int a) {\n" + "  a++;\n" * 120 + "}\n}\n"),
    ("function", "src/db/a.cc",
     SPDX + "class C {\n  int F() const override {\n" + "    if (x) { y(); }\n" * 120 + "  }\n};\n"),
    ("spdx", "src/db/a.cc", "int x;\n"),
    ("spdx", "test/tool.py", "#!/usr/bin/env python3\n"),
    ("test-scope", "test/model/a.cc", SPDX + '#include "db/db_impl.h"\n'),
    ("test-scope", "test/crash/a.cc", SPDX + '#include "lsm/version.h"\n'),
    ("option", "include/rocksdb/options.h", SPDX + "struct DBOptions {\n  DBOptions() {}\n  int x = 1;\n};\n"),
    ("option", "include/rocksdb/table.h", SPDX + "struct BlockBasedTableOptions {\n  void (*call)(int) = nullptr;\n};\n"),
    ("property", PROPERTIES, SPDX + 'const char* k = "compassdb.unlisted";\n'),
    ("property", PROPERTIES_LISTED, "| `compassdb.unknown` | nothing |\n"),
    ("paper", PAPERS, "| 1 | a | b | | c | |\n"),
    ("paper", PAPERS, "| 1 | a | b | `db_test NoTest` | | |\n"),
    ("paper", PAPERS, "| 1 | a | b | `suite none` | | |\n"),
    ("link", "docs/a.md", "[b](b.md)\n"),
    ("link", "docs/performance/reports/a.md", "![a plot](fig.svg)\n"),
    ("link", "docs/a.md", "# One\n\nSee [two](#two).\n"),
    ("link", "README.md", "[text](docs/a.md) and [more](README.md)\n"),
]
GOOD_SAMPLES = [
    ("src/db/a.cc", SPDX + '#include "lsm/version.h"\n#include "options/o.h"\n'
     '#include "rocksdb/options.h"\n#include <vector>\n'),
    ("src/env/a.cc", SPDX + "#include <unistd.h>\n#include <sys/stat.h>\n"),
    ("src/lsm/a.cc", SPDX + '#include "rocksdb/slice.h"\n'),
    ("src/db/a.cc", SPDX + 'void F(double x) { CLocaleSnprintf(b, 9, "%g", x); printf("%d %s", 1, s); }\n'),
    ("src/db/a.cc", SPDX + "void F() { std::thread thread; for (std::thread& t : all_) t.join(); }\n"),
    ("src/db/a.cc", SPDX + "namespace n {\nclass C {\n" + "  int F() { return 1; }\n" * 200 + "};\n}\n"),
    ("src/db/a.cc", SPDX + "namespace {\n" + "const char* k = \"{\"; // {\n" * 200 + "}\n"),
    ("src/db/a.cc", SPDX + "const int k[] = {\n" + "  1,\n" * 200 + "};\n"),
    ("src/db/a.cc", SPDX + "enum class E {\n" + "  kA,\n" * 200 + "};\n"),
    ("include/rocksdb/a.h", SPDX + '#include "rocksdb/slice.h"\n#include <string>\n'),
    ("include/rocksdb/options.h", SPDX + "struct DBOptions {\n  enum A { kA };\n  void F(int x);\n  using B = int;\n};\nint y;\n"),
    ("test/crash/a.cc", SPDX + '#include "env/file_system.h"\n#include "support/random.h"\n'),
    (PAPERS, "| § | a | b | c | d | e |\n| 1 | a | b | | | **not built** |\n| 2 | a | b | `ctest x` | | |\n"),
    ("docs/a.md", "# One `b`: c/d\n\n[one](a.md#one-b-cd), [all](../docs/), [far](https://x.y/z.md), `[code](no.md)`\n"),
]


OPTION_X = "struct ColumnFamilyOptions {\n  int x = 1;\n};\n"
# (rule that must fail or None, files)
SAMPLES_OF_FILES = [
    ("circle", {"src/db/a.h": '#include "db/b.h"\n', "src/db/b.h": "", "src/db/b.cc": '#include "db/a.h"\n'}),
    ("circle", {"src/db/a.h": '#include "db/b.h"\n', "src/db/b.h": '#include "db/c.h"\n',
                "src/db/c.h": "", "src/db/c.cc": '#include "db/c.h"\n#include "db/a.h"\n'}),
    (None, {"src/db/a.h": "", "src/db/a.cc": '#include "db/a.h"\n', "src/db/b.h": '#include "db/a.h"\n',
            "src/db/parts_of_a.cc": '#include "db/a.h"\n#include "db/b.h"\n'}),
    ("option", {"include/rocksdb/options.h": OPTION_X,
                "docs/options.md": "### ColumnFamilyOptions\n\n| `y` | int | as `x` |\n"}),
    ("option", {"include/rocksdb/options.h": OPTION_X, "docs/options.md": "### DBOptions\n\n| `x` | int |\n"}),
    (None, {"include/rocksdb/options.h": OPTION_X, "docs/options.md": "### ColumnFamilyOptions\n\n| `x` | int |\n"}),
    (None, {"include/rocksdb/options.h": OPTION_X,
            "docs/options.md": "### ColumnFamilyOptions\n\nRead and dropped, as RocksDB 7.8.3 itself does: `x`.\n"}),
]


def check_files(files):
    with tempfile.TemporaryDirectory() as root:
        for name, contents in files.items():
            path = os.path.join(root, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as sample:
                sample.write(contents)
        return {rule for rule, _ in check(root)}


def check_sample(name, contents):
    return check_files({name: contents})


def self_test():
    failures = 0
    for rule, name, contents in BAD_SAMPLES:
        rules = check_sample(name, contents)
        if rules != {rule}:
            print("a sample (%s) that breaks [%s] reports %s" % (name, rule, sorted(rules)))
            failures += 1
    for name, contents in GOOD_SAMPLES:
        rules = check_sample(name, contents)
        if rules:
            print("a good sample (%s) reports %s" % (name, sorted(rules)))
            failures += 1
    for rule, files in SAMPLES_OF_FILES:
        rules = check_files({name: SPDX + contents for name, contents in files.items()})
        if rules != ({rule} if rule else set()):
            print("a sample of files (%s) reports %s" % (sorted(files), sorted(rules)))
            failures += 1
    samples = len(BAD_SAMPLES) + len(GOOD_SAMPLES) + len(SAMPLES_OF_FILES)
    print("%d samples, %d failures" % (samples, failures))
    return 1 if failures else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) != 2 or not os.path.isdir(os.path.join(sys.argv[1], "src")):
        print(__doc__)
        return 2
    violations = check(sys.argv[1])
    for _, text in violations:
        print(text)
    print("%d violations" % len(violations))
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
