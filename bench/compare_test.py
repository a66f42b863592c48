#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of bench/compare, with programs in place of the two kvbench."""

import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

COMPARE = Path(__file__).resolve().parent / "compare"

# Throughput grows with the seed, so that three repeats have a spread.
FAKE = """#!/usr/bin/env python3
import json, os, sys
args = sys.argv[1:]
value = lambda name: args[args.index(name) + 1]
if value("--workload") == os.environ.get("FAKE_FAILS"):
    sys.exit(1)
open(os.path.join(os.path.dirname(value("--db")), "calls"), "a").write("ENGINE " + " ".join(args) + "\\n")
with open(value("--json"), "w") as f:
    json.dump({"engine": "ENGINE", "workload": value("--workload"), "operations": 100, "seconds": 1,
      "ops_per_second": SPEED * (10 + int(value("--seed"))), "latency_us": {"read": {"count": 100, "avg": 1,
      "p50": 1, "p95": 2, "p99": 3 * SPEED, "p999": 4, "max": 5}}, "user_bytes_written": 0,
      "device_bytes_written": 0, "user_bytes_read": 100, "device_bytes_read": 4096, "device_reads": 50,
      "write_amplification": None if value("--workload") == "c" else 2.0 * SPEED, "read_amplification": 4,
      "space_amplification": 1.5, "fsyncs": 1, "msyncs": 0, "sync_file_ranges": 0, "index_memory_bytes": 100,
      "index_bytes_per_key": 1.0, "peak_rss_bytes": 1, "db_bytes": 1, "engine_version": "7.8.3",
      "user_cpu_us_per_op": 2.0, "dirtied_bytes": 9, "table_bytes_written": 8, "open_seconds": 0.5,
      "longest_delay_ms": None, "engine_library": "LIBRARY", "engine_assertions": ASSERTIONS}, f)
"""


ONE = {
    "operations": 100,
    "seconds": 1.0,
    "ops_per_second": 100.0,
    "latency_us": {
        "read": {"count": 100, "avg": 1, "p50": 1, "p95": 2, "p99": 3, "p999": 4, "max": 5},
        "update": {"count": 90, "avg": 11, "p50": 11, "p95": 12, "p99": 13, "p999": 1400, "max": 1500},
    },
    "fsyncs": 10,
    "user_bytes_written": 1000,
    "device_bytes_written": 2000,
    "dirtied_bytes": 3000,
    "table_bytes_written": 1500,
    "table_bytes_read": 100,
    "device_reads": 100,
    "device_bytes_read": 100 * 8192,
    "user_bytes_read": 14800,
    "write_amplification": 2.0,
    "space_amplification": 1.2,
    "index_bytes_per_key": 2.5,
    "user_cpu_us_per_op": 1.0,
    "system_cpu_us_per_op": 1.0,
    "longest_delay_ms": 50.0,
    "open_seconds": 0.1,
    "key_size": 16,
    "value_size": 34,
    "db_bytes": 5000,
    "peak_db_bytes": 2000,
    "properties": {
        "compassdb.tableless-unjournaled-pages": 50,
        "compassdb.tableless-pages": 4,
        "compassdb.tableless-records": 22,
        "compassdb.tableless-bytes": 8160,
        "compassdb.tableless-overflow-bytes": 408,
        "compassdb.tableless-pages-in-place": 4,
        "compassdb.value-group-least": 100,
        "compassdb.value-group-most": 110,
        "compassdb.value-bytes": 95,
        "compassdb.value-bytes-bound": 100,
    },
    "engine_version": "7.8.3",
    "engine_library": "/x",
    "engine_assertions": False,
}


def event(micros, job, name, **more):
    """A line of a database's LOG."""
    fields = {"time_micros": micros, "job": job, "event": name, **more}
    return f"2026/11/25-14:04:13.558844 f13b EVENT_LOG_v1 {json.dumps(fields)}\n"


# A flush of 1.5 s, a collection of 2 s that took 0.25 s more to commit, a merge of 1 s, and one that never ended.
LOG = (
    "2026/11/25-14:04:13.558844 f13b DB Session ID: X\n"
    + event(1_000_000, 2, "flush_started")
    + event(1_100_000, 3, "compaction_started", compaction_reason="ForcedBlobGC")
    + event(2_500_000, 2, "flush_finished")
    + event(3_350_000, 3, "compaction_finished", compaction_time_micros=2_000_000)
    + event(4_000_000, 4, "compaction_started", compaction_reason="LevelL0FilesNum")
    + event(5_000_000, 4, "compaction_finished", compaction_time_micros=1_000_000)
    + event(6_000_000, 5, "compaction_started", compaction_reason="ForcedBlobGC")
)


def measured_suites():
    from comparelib import measured

    return measured.SUITES


class CompareTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.dir = Path(self.directory.name)
        self.fake("compassdb", 3, "/x/kvbench-compassdb", False)
        self.fake("rocksdb", 1, "/usr/lib/librocksdb.so.7.8", True)

    def tearDown(self):
        self.directory.cleanup()

    def fake(self, engine, speed, library, assertions):
        path = self.dir / f"kvbench-{engine}"
        text = (
            FAKE.replace("ENGINE", engine).replace("SPEED", str(speed)).replace("LIBRARY", library)
        )
        path.write_text(text.replace("ASSERTIONS", str(assertions)))
        path.chmod(0o755)

    def compare(self, *args, env=None):
        (self.dir / "work").mkdir(exist_ok=True)
        return subprocess.run(
            [
                sys.executable,
                str(COMPARE),
                "--bin",
                str(self.dir),
                "--work-dir",
                str(self.dir / "work"),
                "--out",
                str(self.dir / "out"),
                "--records",
                "100",
                *args,
            ],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, **(env or {})},
        )

    def report(self):
        return json.loads((self.dir / "out.json").read_text())

    def test_main_latency_is_of_what_the_throughput_counts(self):
        from comparelib import summary

        def latency(count, p99):
            return {"count": count, "p99": p99}

        mixed = {"read": latency(100, 7), "update": latency(900, 5)}
        self.assertEqual(summary.main_latency({"operations": 100, "latency_us": mixed}, "p99"), 7)
        self.assertEqual(summary.main_latency({"operations": 1000, "latency_us": mixed}, "p99"), 5)

    def test_medians_spread_and_ratios(self):
        run = self.compare("--workloads", "load,c", "-n", "3")
        self.assertEqual(run.returncode, 0, run.stderr)
        report = self.report()
        self.assertEqual(len(report["results"]), 12)
        throughput = report["summary"]["c"]["compassdb"]["ops_per_second"]
        self.assertEqual((throughput["min"], throughput["median"], throughput["max"]), (33, 36, 39))
        self.assertAlmostEqual(throughput["spread"], 6 / 36)
        self.assertEqual(report["ratios"]["rocksdb"]["c"]["ops_per_second"], 3)
        self.assertIsNone(report["ratios"]["rocksdb"]["c"]["write_amplification"])
        self.assertEqual(report["ratios"]["rocksdb"]["load"]["write_amplification"], 3)

    def test_all_outputs_name_the_build(self):
        run = self.compare("--workloads", "load,c")
        for text in (
            run.stdout,
            (self.dir / "out.md").read_text(),
            (self.dir / "out.svg").read_text(),
        ):
            self.assertIn("not a performance claim", text)
            self.assertIn("Debian's build, assertions on", text.replace("&#x27;", "'"))
        xml.etree.ElementTree.parse(self.dir / "out.svg")
        self.assertEqual(run.stdout.count("operations/s C"), 1)

    def test_release_build_of_rocksdb_lifts_the_warning(self):
        self.fake("rocksdb", 1, "/opt/librocksdb.so.7.8", False)
        run = self.compare("--workloads", "load,c")
        self.assertNotIn("not a performance claim", run.stdout)

    def test_engines_take_turns_and_fills_use_new_databases(self):
        self.compare("--workloads", "load,c")
        calls = (self.dir / "work" / "calls").read_text().splitlines()
        self.assertEqual(
            [c.split()[0] for c in calls], ["compassdb", "rocksdb", "rocksdb", "compassdb"]
        )
        self.assertEqual(["--reuse-db" in c for c in calls], [False, False, True, True])
        for option in ("--cache-mb", "--memtable-mb", "--background-threads", "--seed"):
            values = {c.split()[c.split().index(option) + 1] for c in calls}
            self.assertEqual(len(values), 1, option)

    def test_demo_suite_is_load_and_a_to_f_with_fewer_scans(self):
        self.assertEqual(self.compare("--suite", "demo").returncode, 0)
        calls = [c.split() for c in (self.dir / "work" / "calls").read_text().splitlines()]
        done = [
            (c[c.index("--workload") + 1], c[c.index("--operations") + 1])
            for c in calls
            if c[0] == "rocksdb"
        ]
        self.assertEqual(
            done,
            [
                ("load", "100"),
                ("a", "100"),
                ("b", "100"),
                ("c", "100"),
                ("d", "100"),
                ("e", "10"),
                ("f", "100"),
            ],
        )

    def test_standard_suite_reads_after_load_and_after_three_overwrites(self):
        self.assertEqual(self.compare("--suite", "standard").returncode, 0)
        labels = list(self.report()["summary"])
        self.assertLess(labels.index("readrandom after load"), labels.index("overwrite 1"))
        self.assertLess(labels.index("overwrite 3"), labels.index("readrandom after 3 overwrites"))

    def test_defaults_are_a_peer_of_their_own(self):
        run = self.compare("--workloads", "load,c", "--peer", "both")
        self.assertIn("D = RocksDB with its default options", run.stdout)
        calls = (self.dir / "work" / "calls").read_text().splitlines()
        self.assertEqual(sum("--defaults" in c for c in calls), 2)
        self.assertFalse(any("--direct" in c for c in calls))

    def test_failures_are_told_and_end_with_1_or_2(self):
        run = self.compare("--workloads", "load,c", env={"FAKE_FAILS": "c"})
        self.assertEqual(run.returncode, 1)
        self.assertIn("exit code 1 of", run.stderr)
        self.assertFalse((self.dir / "out.json").exists())
        self.assertEqual(self.compare("--workloads", "c").returncode, 2)
        self.assertEqual(self.compare("--engines", "nosuch").returncode, 2)
        self.assertEqual(self.compare("--records", "0").returncode, 2)
        (self.dir / "kvbench-rocksdb").unlink()
        run = self.compare()
        self.assertEqual(run.returncode, 1)
        self.assertIn("kvbench-rocksdb is missing", run.stderr)

    def test_measured_suite_says_what_is_reached(self):
        self.fake("lmdb", 2.8, "/usr/lib/liblmdb.so", False)
        out = self.compare("--suite", "cached", "--only", "readrandom|YCSB A", "-n", "3", "--seconds", "1")
        self.assertEqual(out.returncode, 0, out.stderr)
        rows = [line.split("|") for line in (self.dir / "out.md").read_text().splitlines()]
        rows = [[c.strip() for c in row[1:-1]] for row in rows if len(row) == 8]
        verdicts = {(row[1], row[4]): row[3:6:2] for row in rows}
        self.assertEqual(verdicts[("readrandom", "≥ 3× RocksDB tuned")], ["3", "reached"])
        self.assertEqual(verdicts[("readrandom", "≥ 1.2× LMDB")], ["1.07", "**not reached**"])
        self.assertEqual(verdicts[("YCSB A, 2 threads", "≥ 2× RocksDB tuned")], ["3", "reached"])
        calls = [c.split() for c in (self.dir / "work" / "calls").read_text().splitlines()]
        self.assertEqual([c[0] for c in calls[:6]], ["compassdb", "rocksdb", "lmdb", "lmdb", "rocksdb", "compassdb"])
        self.assertEqual(sum("load" in c for c in calls), 3)
        self.assertEqual(len(calls), 3 + 9 + 6)
        self.assertFalse((self.dir / "work" / "cached-compassdb").exists())

        # What is measured already is not measured again.
        args = ("--suite", "cached", "--only", "readrandom|YCSB A", "--seconds", "1", "--continue")
        self.compare(*args, "-n", "4")
        calls = (self.dir / "work" / "calls").read_text().splitlines()
        self.assertEqual(len(calls), 18 + 5)
        self.assertEqual(len(self.report()["results"]), 23)

    def test_measured_suite_with_some_of_its_engines(self):
        out = self.compare("--suite", "cached", "--only", "readrandom", "--engines", "compassdb,rocksdb", "-n", "1", "--seconds", "1")
        self.assertEqual(out.returncode, 0, out.stderr)
        calls = [c.split()[0] for c in (self.dir / "work" / "calls").read_text().splitlines()]
        self.assertEqual(set(calls), {"compassdb", "rocksdb"})
        text = (self.dir / "out.md").read_text()
        self.assertIn("≥ 3× RocksDB tuned", text)
        self.assertNotIn("LMDB", text)
        out = self.compare("--suite", "cached", "--engines", "nosuch")
        self.assertEqual(out.returncode, 1)
        self.assertIn("--engines: nosuch is not in this suite", out.stderr)

    def calls(self):
        """[(engine, workload, arguments)] of the programs that were run."""
        calls = [c.split() for c in (self.dir / "work" / "calls").read_text().splitlines()]
        return [(c[0], c[c.index("--workload") + 1], c[1:]) for c in calls]

    def test_aged_stores_are_measured_one_after_the_other(self):
        engines = ("--engines", "compassdb-hash-kv,rocksdb-blob")
        out = self.compare("--suite", "hashkv", *engines, "--only", "YCSB C", "-n", "2", "--seconds", "1")
        self.assertEqual(out.returncode, 0, out.stderr)
        steps = ["load", "overwrite", "overwrite", "overwrite", "c"]
        self.assertEqual([c[1] for c in self.calls()], 4 * steps)
        turns = [engine for engine, workload, _ in self.calls() if workload == "load"]
        self.assertEqual(turns, ["compassdb", "rocksdb", "rocksdb", "compassdb"])
        self.assertEqual([engine for engine, _, _ in self.calls()], [engine for engine in turns for _ in steps])
        self.assertIn("each alone with the page cache", (self.dir / "out.md").read_text())

    def test_databases_that_are_kept_leave_the_page_cache(self):
        from comparelib import measure

        (self.dir / "db" / "sub").mkdir(parents=True)
        for name in ("a", "sub/b"):
            (self.dir / "db" / name).write_bytes(b"x")
        left = []
        self.addCleanup(setattr, measure.os, "posix_fadvise", os.posix_fadvise)
        measure.os.posix_fadvise = lambda fd, *which: left.append((os.readlink(f"/proc/self/fd/{fd}"), which))
        measure.leave_page_cache(self.dir / "db")
        whole = (0, 0, os.POSIX_FADV_DONTNEED)
        self.assertEqual(sorted(left), [(str(self.dir / "db" / name), whole) for name in ("a", "sub/b")])

    def test_tables_of_figures_4_and_6_and_13(self):
        def table_sizes(suite, only, engine):
            out = self.compare("--suite", suite, "--only", only, "-n", "1", "--memtable-mb", "64", "--long")
            self.assertEqual(out.returncode, 0, out.stderr)
            calls = [c for e, w, c in self.calls() if e == engine and w in ("load", "readrandom") and "--table-mb" in c]
            (self.dir / "work" / "calls").unlink()
            return [int(c[c.index("--table-mb") + 1]) for c in calls]

        self.fake("leveldb", 1, "/x", False)
        self.assertEqual(table_sizes("bolt-4", "load", "leveldb"), [2, 4, 8, 16, 32, 64])
        self.assertEqual(table_sizes("bolt-6", "readrandom", "rocksdb"), [2, 2, 64, 64])
        self.assertEqual(table_sizes("bolt-13", "bolt-13: load", "leveldb"), [64])

    def test_scans_after_a_manual_compaction(self):
        self.fake("leveldb", 1, "/x", False)
        only = ("--only", "hashkv-5-aged-1024: scan", "-n", "1", "--engines", "compassdb-vlog,leveldb")
        out = self.compare("--suite", "hashkv-5-aged", *only)
        self.assertEqual(out.returncode, 0, out.stderr)
        steps = ["load", "overwrite", "overwrite", "overwrite", "seekrandom"]
        for engine in ("compassdb", "leveldb"):
            calls = [(workload, "--compact" in flags) for who, workload, flags in self.calls() if who == engine]
            self.assertEqual(calls, [(step, step == "seekrandom") for step in steps])
        options = {flags[flags.index("--options-string") + 1] for who, _, flags in self.calls() if who == "compassdb"}
        self.assertEqual(len(options), 1)
        self.assertIn("value_gc_policy=oldest-first;value_hot_cold=false", options.pop())

    def test_write_cache_of_experiment_15(self):
        out = self.compare("--suite", "hashkv-15", "--only", "write-cache.*update 3", "-n", "1", "--memtable-mb", "64")
        self.assertEqual(out.returncode, 0, out.stderr)
        given = {arguments[arguments.index("--options-string") + 1] for _, _, arguments in self.calls()}
        wanted = set()
        for mb in (4, 8, 16, 32, 64):
            for percent in (20, 30, 50):
                groups = f"table_factory={{value_group_bytes=67108864;value_reserve_percent={percent}}}"
                wanted.add(f"write_buffer_size={mb << 20};{groups}")
        self.assertEqual(given, wanted)

    def test_seconds_of_jobs(self):
        from comparelib import jobs, runner

        with self.assertRaisesRegex(runner.RunError, "LOG is missing"):
            jobs.seconds_in(self.dir)
        (self.dir / "LOG").write_text(LOG)
        self.assertEqual(jobs.seconds_in(self.dir), {"flush": 1.5, "collect": 2, "merge": 1, "commit": 0.25})
        (self.dir / "LOG").write_text("EVENT_LOG_v1 {\"time_mic")
        with self.assertRaisesRegex(runner.RunError, "not an event"):
            jobs.seconds_in(self.dir)

    def test_bars(self):
        from comparelib import bars

        drawn = bars.Bars("x", "a < b", {"one": {"A": 50.0, "B": 100.0}, "none": {}, "two": {"B": 25.0}}).svg()
        tree = xml.etree.ElementTree.fromstring(drawn)
        space = "{http://www.w3.org/2000/svg}"
        heights = {}
        for bar in tree.iter(f"{space}rect"):
            for title in bar.iter(f"{space}title"):
                heights[title.text] = float(bar.get("height"))
        self.assertEqual(set(heights), {"A: 50", "B: 100", "B: 25"})
        self.assertAlmostEqual(heights["B: 100"] / heights["A: 50"], 2, 1)
        self.assertAlmostEqual(heights["B: 100"] / heights["B: 25"], 4, 1)
        texts = [text.text for text in tree.iter(f"{space}text")]
        self.assertIn("two", texts)
        self.assertNotIn("none", texts)
        self.assertTrue(bars.Bars("x", "nothing measured", {"one": {}}).empty)

    def test_reports_of_bolt_and_hashkv_have_plots(self):
        figures = COMPARE.parent.parent / "docs" / "performance" / "reports"
        reports = [*figures.glob("bolt*.md"), *figures.glob("hashkv*.md")]
        self.assertGreaterEqual(len(reports), 19)
        for report in reports:
            drawn = re.findall(r"!\[.*\]\((.*)\)", report.read_text(encoding="utf-8"))
            self.assertTrue(drawn, report.name)
            for plot in drawn:
                self.assertTrue((figures / plot).is_file(), f"{report.name}: {plot}")

    def test_overview_of_performance_agrees_with_the_reports(self):
        docs = COMPARE.parent.parent / "docs" / "performance"
        self.listed_reports(docs / "README.md")
        listed = self.listed_reports(docs / "reports.md")
        names = [report.stem for report in (docs / "reports").glob("*.md")]
        self.assertEqual(sorted(listed), sorted(names))
        sys.path.insert(0, str(COMPARE.parent))
        from comparelib import bolt, hashkv

        papers = (docs.parent / "papers.md").read_text(encoding="utf-8").splitlines()
        for suite in {*bolt.SUITES, *hashkv.SUITES} - listed:
            rows = [row for row in papers if f"`suite {suite}`" in row]
            self.assertTrue(rows and all("**not run**" in row for row in rows), f"{suite} has no report")

    def listed_reports(self, page):
        """Names of the reports in the tables of PAGE, whose counts of reached targets must be right."""
        listed = set()
        for row in page.read_text(encoding="utf-8").splitlines():
            cells = row.split(" | ")
            names = re.findall(r"\(reports/([^)]*)\.md\)", cells[1]) if len(cells) > 3 else []
            listed |= set(names)
            counts = []
            for name in names:
                report = (page.parent / "reports" / f"{name}.md").read_text(encoding="utf-8")
                reached, missed = report.count("| reached |"), report.count("| **not reached** |")
                if reached + missed > 0:
                    counts.append(f"{reached} of {reached + missed}")
            if names:
                self.assertEqual(re.findall(r"\d+ of \d+", cells[2]), counts, row)
        self.assertTrue(listed, page)
        return listed

    def test_release_build_is_preferred(self):
        self.fake("rocksdb-release", 6, "/x/kvbench-rocksdb-release", False)
        for flags, value in ((), "0.5"), (("--rocksdb", "debian"), "3"):
            only = ("--only", "YCSB A", "-n", "1", "--seconds", "1")
            self.fake("lmdb", 1, "/usr/lib/liblmdb.so", False)
            self.compare("--suite", "cached", *only, *flags)
            self.assertIn(f"| operations/s | {value} | ≥ 2× RocksDB tuned |", (self.dir / "out.md").read_text())
        self.compare("--workloads", "load,c")
        self.assertEqual(self.report()["ratios"]["rocksdb"]["c"]["ops_per_second"], 0.5)

    def test_every_measured_suite_with_all_its_steps(self):
        sys.path.insert(0, str(COMPARE.parent))
        from comparelib import bolt, cli, device, hashkv, kallax, measure, page_model, physical

        steady, tableless = [], []

        def result(cmd, out):
            database = cmd[cmd.index("--db") + 1]
            if "hashkv-2-" in database:
                os.makedirs(database, exist_ok=True)
                (Path(database) / "LOG").write_text(LOG)
            if "--rate" in cmd:
                steady.append(cmd[cmd.index("--rate") + 1])
            if "tableless" in cmd:
                tableless.append(cmd)
            ops = 300 if "compassdb" in cmd[0] else 100
            # A rehash takes half of the throughput, and lasts.
            seconds = [50, 50, 50] if "--while-property" in cmd else [100, 110]
            ops = ops * seconds[0] / 100
            figures = {"ops_per_second": ops, "operations_by_second": seconds}
            figures |= {"operations": ops, "foreground_seconds": 1}
            return {**ONE, **figures, "live_user_bytes": 1000}

        def pages(cmd):
            # Of four pages one has six pairs and overflows. The plan: one of five.
            if "stats" in cmd:
                alike = [{"pairs": n, "pages": 2, "overflowing": n // 6} for n in (5, 6)]
                return {"page_fill": [0] * 50 + [3] + [0] * 49 + [1], "pages_by_pairs": alike}
            plan = {"overflow_probability": 0.2, "fill_factor": 0.5}
            plan |= {"overflow_ratio": 0.1, "cut_overflow_ratio": 0.09}
            plan["page_fill"] = [0] * 50 + [0.8] + [0] * 49 + [0.2]
            alike = [{"pairs": n, "share": 0.5, "overflow_probability": 0.1} for n in (5, 6)]
            return {**plan, "pages_by_pairs": alike}

        measure.call = result
        self.addCleanup(setattr, page_model, "output_of", page_model.output_of)
        page_model.output_of = pages
        (self.dir / "compassdb").symlink_to("kvbench-compassdb")
        self.addCleanup(setattr, physical, "of", physical.of)
        physical.of = lambda path: physical.Space(physical=1200 if "compassdb" in path else 1000)
        device.start_stall_probe = lambda work_dir, seconds: "fio"
        device.stop_stall_probe = lambda process: 7.0
        shapes = []
        device.random_reads = lambda *shape: shapes.append(shape[1:4]) or {**ONE, "engine_library": None}
        text = io.StringIO()
        for suite in measured_suites():
            args = ["--suite", suite, "--bin", str(self.dir), "--work-dir", str(self.dir / "work")]
            self.fake("lmdb", 1, "/x", False)
            self.fake("leveldb", 1, "/x", False)
            self.fake("wiredtiger", 1, "/x", False)
            with contextlib.redirect_stdout(text), contextlib.redirect_stderr(io.StringIO()):
                self.assertEqual(cli.main([*args, "--out", str(self.dir / suite), "-n", "1"]), 0, suite)
        self.assertEqual(set(steady), {"210"})  # 70 % of the faster
        self.assertEqual(set(shapes), {(5000, 8192, 16), (5000, 8192, 1)})
        for plot in ("paper-11-write", "paper-11-read", "paper-11-space", "paper-10b-values"):
            tree = xml.etree.ElementTree.parse(self.dir / f"{plot}.svg")
            self.assertIn("RocksDB tuned", "".join(tree.getroot().itertext()))
        for plot in ("bolt-fsyncs", "bolt-load", "bolt-latency", "bolt-11-fsyncs", "bolt-11-load"):
            tree = xml.etree.ElementTree.parse(self.dir / f"{plot}.svg")
            self.assertIn("CompassDB, bolt-sorted", "".join(tree.getroot().itertext()))
        for suite in [*bolt.SUITES, *hashkv.SUITES, *kallax.SUITES]:
            drawn = re.findall(r"!\[.*\]\((.*)\)", (self.dir / f"{suite}.md").read_text())
            self.assertTrue(drawn, suite)
            for plot in drawn:
                xml.etree.ElementTree.parse(self.dir / plot)
        for plot, words in (
            ("hashkv-aged", ["RocksDB, blob files", "YCSB F"]),
            ("hashkv-aged-p95", ["vLog, by CompassDB", "LevelDB", "YCSB F", "Figure 15b"]),
            ("hashkv-2-breakdown", ["collecting", "90 %"]),
            ("hashkv-2-breakdown-vlog", ["collecting", "90 %", "vLog"]),
            ("hashkv-2-ops", ["hash-kv", "vLog, by CompassDB"]),
            ("hashkv-4-ops", ["vLog, by CompassDB", "LevelDB"]),
            ("hashkv-5-scans", ["vLog, by CompassDB", "LevelDB"]),
            ("hashkv-5-aged-scans", ["vLog, by CompassDB", "Figure 10b"]),
            ("hashkv-12-p95", ["YCSB A", "Figure 16b"]),
            ("hashkv-7-ops", ["1:2 of 1000 B", "all values apart"]),
            ("hashkv-9-written", ["hash-kv, random", "update 3"]),
            ("hashkv-13-scans", ["hash-kv, one level", "bytes per pair"]),
            ("hashkv-15-write-cache-ops", ["hash-kv, 20 % reserved", "hash-kv, 50 % reserved"]),
            ("bolt-4-fsyncs", ["LevelDB", "MB per table"]),
            ("bolt-4-latency", ["1 MB", "8 MB", "Figure 4b"]),
            ("bolt-6-latency", ["1 MB", "8 MB", "Figure 6"]),
            ("bolt-12-ops", ["+STL", "YCSB C", "YCSB D", "load E", "YCSB E"]),
            ("bolt-13-ops", ["LevelDB, tables of 64 MB", "load E"]),
            ("bolt-13-latency-c", ["LevelDB", "Figure 14: YCSB C"]),
            ("bolt-13-latency-load-e", ["LevelDB", "Figure 14: load E"]),
            ("bolt-15c-ops", ["YCSB A", "load E", "YCSB E"]),
            ("bolt-16-latency-load", ["RocksDB tuned", "Figure 16: load"]),
            ("hashkv-10-ops", ["nothing synced", "update 3"]),
            ("hashkv-12-ops", ["YCSB A", "YCSB F", "least bytes apart"]),
            ("hashkv-3.4-written-0.9", ["cold values apart", "zipf 0.9"]),
        ):
            drawn = "".join(xml.etree.ElementTree.parse(self.dir / f"{plot}.svg").getroot().itertext())
            for word in words:
                self.assertIn(word, drawn, plot)
        kinds = (self.dir / "paper-10a.md").read_text()
        self.assertIn("| YCSB A | RocksDB tuned | read | 1.0 | 2.0 | 3.0 | 4.0 |", kinds)
        self.assertIn("| YCSB A | RocksDB tuned | update | 11.0 | 12.0 | 13.0 | 1,400.0 |", kinds)
        # LOG's seconds by 300 operations.
        self.assertIn("| 5000.00 | 6666.67 | 3333.33 | 833.33 |", (self.dir / "hashkv-2.md").read_text())
        loads = [line for line in text.getvalue().splitlines() if line.startswith("bolt-load-")]
        self.assertEqual(sum("reached" in line for line in loads), 5)
        self.assertEqual(sum("not reached" in line for line in loads), 2)  # as many syncs as the others
        # A rival's limit is printed, and is no figure to reach.
        limit = [line for line in text.getvalue().splitlines() if "at its peak of RocksDB, blob files" in line]
        self.assertEqual([line.split()[-2:] for line in limit], [["beyond", "it"]])
        self.kallax_figures(text.getvalue().splitlines(), tableless)
        rows = [line.split() for line in text.getvalue().splitlines() if line.startswith("stalls ")]
        self.assertEqual([r[-5:] for r in rows], [["50", "≤", "100", "ms", "reached"]])

    def test_each_paper_has_a_command_for_all_its_suites(self):
        directory = COMPARE.parent / "suites"
        listed = []
        for family in sorted(directory.iterdir()):
            out = subprocess.run([str(family), "--list"], capture_output=True, text=True, check=True)
            listed += out.stdout.split()
        sys.path.insert(0, str(COMPARE.parent))
        self.assertEqual(sorted(listed), sorted([*measured_suites(), "paper-13"]))
        self.fake("leveldb", 1, "/x", False)
        (self.dir / "work").mkdir()
        flags = ["--bin", str(self.dir), "--work-dir", str(self.dir / "work"), "--only", "nothing", "-n", "1"]
        command = [str(directory / "bolt"), *flags, "--out", str(self.dir)]
        out = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(out.returncode, 0, out.stderr)
        for suite in ("bolt", "bolt-4", "bolt-6", "bolt-11", "bolt-12", "bolt-13", "bolt-15c", "bolt-16", "bolt-433"):
            self.assertIn(f"== {suite}\n", out.stdout)
            self.assertEqual(json.loads((self.dir / f"{suite}.json").read_text())["suite"], suite)

    def kallax_figures(self, lines, calls):
        def verdicts(beginning):
            return ["not" not in line.split()[-2:] for line in lines if line.startswith(beginning)]

        mine = [line for line in lines if line.startswith("kallax ")]
        self.assertTrue(any("compressed by 4 KiB" in line and "1.2 " in line for line in mine))
        self.assertEqual([line.endswith("not reached") for line in mine if "compressed" in line], [True] * 4)
        self.assertEqual(len([line for line in mine if "CPU per operation" in line]), 6)  # B, C, D; two RocksDBs
        # A and F: two RocksDBs, with the page journal and without it, and one by the other.
        throughput = [line for line in mine if "operations/s" in line]
        self.assertEqual([line.endswith("not reached") for line in throughput], [False] * 10)
        costs = [line.split()[-3:] for line in throughput if "≥ 1× " in line]
        self.assertEqual(costs, [["table-less", "no", "slower"]] * 2)
        self.assertEqual(len([line for line in mine if "of table-less, no page journal" in line]), 6)
        unjournaled = [c[c.index("--workload") + 1] for c in calls if "atomic_page_writes=true" in " ".join(c)]
        self.assertEqual(unjournaled, ["load", "a", "d", "f"])
        self.assertEqual(verdicts("kallax-log-index "), [True])
        self.assertEqual(len([line for line in lines if "0.2 " in line and "≤ 0.3 per update" in line]), 3)
        self.assertIn("pages without journal/op", (self.dir / "kallax.md").read_text())
        # Half of what it was before: for table 4 too little in A and B, but not after it. The latency is the same.
        for batch in ("1-4", "2-4", "2-16"):
            for w in "ab":
                self.assertEqual(verdicts(f"kallax-rehash-{batch}-{w} "), [False, True, True, True], (batch, w))
        self.assertEqual(verdicts("kallax-scan "), [True] * 8)  # table 6's four, by two RocksDBs
        (index,) = [line.split() for line in lines if line.startswith("kallax-keystore ") and "≤ 1.4 B per key" in line]
        self.assertEqual(index[1:5], ["load", "index", "memory", "2.5"])
        without = [line for line in lines if "index memory of table-less, no key store" in line]
        self.assertEqual([line.split()[-8:-2] for line in without], [["2.5", "≤", "1.2", "B", "per", "key"]])
        loads = [c[c.index("--records") + 1 :] for c in calls if "load" in c and "kallax-overflow" in " ".join(c)]
        self.assertEqual(len({c[c.index("--options-string") + 1] for c in loads}), 1)  # the same pages
        last = [int(c[len(c) - 1 - c[::-1].index("--records") + 1]) for c in loads]
        self.assertEqual([round(n / last[0], 1) for n in last], [1, 1.2, 1.4, 1.6])
        tree = xml.etree.ElementTree.parse(self.dir / "kallax-rehash-a.svg")
        text = "".join(tree.getroot().itertext())
        self.assertIn("threads: 2, pages: 16", text)
        self.assertIn("begins after 2", text)
        # What engines write at 100 B, where the paper's has 35 bytes per byte; LevelDB is among them.
        (written,) = [line for line in lines if line.startswith("kallax-size-value-") and "write amp" in line]
        self.assertEqual((written.split()[0][-4:], written.split()[-4:]), ("-100", ["2", "≤", "35", "reached"]))
        for plot in ("size-written-device_bytes_per_op", "size-data-a-ops"):
            text = "".join(xml.etree.ElementTree.parse(self.dir / f"kallax-{plot}.svg").getroot().itertext())
            self.assertIn("LevelDB", text, plot)
        for suite, words in (
            ("kallax", ["Figure 7", "table-less, no page journal", "YCSB F"]),
            ("kallax-scan", ["Table 6", "WiredTiger", "YCSB E"]),
            ("kallax-keystore", ["Table 7", "table-less, no key store", "update only"]),
        ):
            text = "".join(xml.etree.ElementTree.parse(self.dir / f"{suite}-cpu.svg").getroot().itertext())
            for word in words:
                self.assertIn(word, text, suite)
        # A quarter of the pages instead of a fifth, a twentieth of the bytes instead of a tenth.
        mine = [line.split()[-6:] for line in lines if line.startswith("kallax-model-all ")]
        want = [["25", "≤", "8", "%"], ["50", "≤", "8", "%"], ["5", "≤", "1", "%"]]
        self.assertEqual([line[:4] for line in mine], want)
        for plot, curve in (
            ("5-pages", "P_pg(m), equation 4"),
            ("5-overflow", "P_ovf(m), equation 1"),
            ("fill", "equation 6"),
            ("6a-overflow", "whole pairs"),
            ("6b-fill", "equation 7"),
        ):
            tree = xml.etree.ElementTree.parse(self.dir / f"kallax-model-{plot}.svg")
            text = "".join(tree.getroot().itertext())
            self.assertIn(curve, text)
            self.assertIn("store", text)
        for plot in ("overflow-ops", "size-data-a-ops", "size-value-b-p99_us", "size-written-write_amp"):
            xml.etree.ElementTree.parse(self.dir / f"kallax-{plot}.svg")

    def test_kallax_suites_have_five_million_pairs_where_figures_are_claimed(self):
        from comparelib import cli, figures, kallax

        size = figures.Size(cli.parse(["--suite", "kallax", "--long"]))
        for name, suite in kallax.SUITES.items():
            if name not in ("kallax-size", "kallax-model"):  # which have others
                self.assertEqual({group.records for group in suite(size)}, {5_000_000}, name)

    def test_pages_of_the_table_less_store(self):
        from comparelib import kallax

        # Poisson, 5 pairs per page on average: more than 9 in 3.18 % of the pages.
        self.assertAlmostEqual(kallax.overflow_probability(5, 400), 0.0318, 4)
        for value, overflow in ((100, 0.04), (400, 0.0137), (800, 0.017)):
            pages = kallax.pages_for(1_000_000, value)
            self.assertAlmostEqual(kallax.overflow_probability(1_000_000 / pages, value), overflow, 4)
        self.assertEqual(kallax.RATES[-1], 0.18)
        for rate in kallax.RATES:
            per_page = kallax.pairs_per_page(400, rate)
            self.assertAlmostEqual(kallax.overflow_probability(per_page, 400), rate, 6)

    def test_physical_space(self):
        sys.path.insert(0, str(COMPARE.parent))
        from comparelib import physical

        (self.dir / "db" / "sub").mkdir(parents=True)
        with open(self.dir / "db" / "a", "wb") as f:
            f.write(os.urandom(8192) + bytes(8192))  # does not compress, and does very much
            f.seek(1 << 20)
            f.write(os.urandom(2048) + bytes(2047))  # half of a block behind a hole
        (self.dir / "db" / "sub" / "b").write_bytes(b"x" * 10)
        os.link(self.dir / "db" / "a", self.dir / "db" / "again")
        space = physical.of(self.dir / "db")
        self.assertEqual(space.length, (1 << 20) + 4095 + 10)
        self.assertTrue(24576 <= space.logical < 100_000, space)
        self.assertTrue(8192 + 2048 < space.physical < 8192 + 2048 + 300, space)
        program = COMPARE.parent / "comparelib" / "physical.py"
        run = subprocess.run([program, str(self.dir / "db")], capture_output=True, text=True, check=True)
        self.assertEqual(json.loads(run.stdout)["physical"], space.physical)
        run = subprocess.run([program, str(self.dir / "none")], capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 2)

    def test_construction_of_perfect_hashes(self):
        bench = self.dir / "perfect_hash_bench"
        bench.write_text(
            "#!/usr/bin/env python3\n"
            "import json, sys\n"
            "flags = dict(a[2:].split('=', 1) for a in sys.argv[1:])\n"
            "names = {'CHD': 100.0, 'CPHash AVX-512': 60.0, 'CPHash AVX2': 70.0, 'PTHash': -1.0}\n"
            "with open(flags['json'], 'w') as f:\n"
            "    for n in flags['sizes'].split(','):\n"
            "        for name, ns in names.items():\n"
            "            for s in (True, False):\n"
            "                print(json.dumps({'keys': int(n), 'sorted': s, 'function': name, 'bits': 2.0,\n"
            "                    'slots': 1.0, 'build_ns': ns, 'query_ns': 1, 'batch_ns': 1}), file=f)\n"
        )
        bench.chmod(0o755)
        run = self.compare("--suite", "paper-13", "-n", "1")
        self.assertEqual(run.returncode, 0, run.stderr)
        report = (self.dir / "out.md").read_text()
        self.assertIn("| 100 | CPHash AVX-512 | 2.00 | 60.0 | 60.0 | 0.60 |", report)
        self.assertIn("| 100 | CPHash AVX2 | 2.00 | 70.0 | 70.0 | 0.70 |", report)
        self.assertNotIn("PTHash", report)  # it could not be built
        xml.etree.ElementTree.parse(self.dir / "out-build.svg")
        bench.unlink()
        run = self.compare("--suite", "paper-13")
        self.assertEqual(run.returncode, 1)
        self.assertIn("perfect_hash_bench is missing", run.stderr)

    def test_budget_leaves_out_and_says_so(self):
        (self.dir / "kvbench-rocksdb").write_text(
            (self.dir / "kvbench-rocksdb")
            .read_text()
            .replace("import json", "import time; time.sleep(1.1); import json")
        )
        run = self.compare("--suite", "demo", "--budget", "1")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("time budget was used up: YCSB F", run.stdout)


if __name__ == "__main__":
    unittest.main()
