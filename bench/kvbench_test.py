#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kvbench_test.py KVBENCH...: every workload on each program given, small, and
what must be true of its results; flags and failures."""

import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True

from comparelib import physical  # noqa: E402

FIELDS = """engine workload operations seconds ops_per_second latency_us user_bytes_written device_bytes_written
user_bytes_read device_bytes_read device_reads write_amplification read_amplification space_amplification fsyncs msyncs
sync_file_ranges index_memory_bytes index_bytes_per_key peak_rss_bytes db_bytes file_bytes""".split()
LATENCY = ["avg", "p50", "p95", "p99", "p999", "max"]
BASE = [
    "--records",
    "3000",
    "--operations",
    "1000",
    "--threads",
    "2",
    "--value-size",
    "400",
    "--memtable-mb",
    "1",
    "--cache-mb",
    "2",
]
PROGRAMS = []


def plain(program):
    """Does not know RocksDB's options."""
    return program.endswith(("-lmdb", "-leveldb", "-wiredtiger"))


def direct(program):
    return [] if program.endswith(("-lmdb", "-leveldb")) else ["--direct"]


class KvbenchTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory(dir=Path.cwd())
        self.dir = Path(self.directory.name)

    def tearDown(self):
        self.directory.cleanup()

    def call(self, program, *args):
        return subprocess.run(
            [program, "--db", str(self.dir / "db"), *args],
            capture_output=True,
            text=True,
            check=False,
        )

    def results(self, program, *args):
        out = self.dir / "out.json"
        run = self.call(program, *BASE, "--json", str(out), *args)
        self.assertEqual(run.returncode, 0, run.stderr)
        return [json.loads(line) for line in out.read_text().splitlines()]

    def for_each(self):
        for program in PROGRAMS:
            with self.subTest(program=Path(program).name):
                self.tearDown()
                self.setUp()
                yield program

    def check(self, result):
        for field in FIELDS:
            self.assertIn(field, result)
        self.assertTrue(result["latency_us"])
        for name, latency in result["latency_us"].items():
            self.assertIn(name, ["read", "multiread", "update", "insert", "scan", "rmw"])
            values = [latency[f] for f in LATENCY[1:]]
            self.assertEqual(values, sorted(values))
        self.assertGreater(result["ops_per_second"], 0)
        self.assertGreater(result["space_amplification"], 0.9)
        self.assertGreater(result["user_cpu_us_per_op"] + result["system_cpu_us_per_op"], 0)
        self.assertGreater(result["open_seconds"], 0)
        if result["engine"] not in ("lmdb", "leveldb"):
            self.assertGreaterEqual(result["index_memory_bytes"], 0)
            # Reads may write as well: what scans or an earlier process made due.
            self.assertGreaterEqual(result["table_bytes_written"], 0)
            if result["user_bytes_written"] > 0:
                self.assertGreater(result["table_bytes_written"], 0)

    def test_bytes_of_all_levels(self):
        for program in self.for_each():
            if plain(program):
                continue
            (result,) = self.results(program, "--workload", "load", "--records", "20000", "--operations", "20000")
            # CompassDB may have merged all memtables into one empty level.
            if result["engine"] == "rocksdb":
                self.assertGreater(result["table_bytes_read"], 0)
            least = 1.5 if result["engine"] == "rocksdb" else 1.0
            self.assertGreater(result["table_bytes_written"], least * result["user_bytes_written"])
            self.assertGreater(result["compaction_seconds"], 0)

    def test_ycsb(self):
        for program in self.for_each():
            results = self.results(program, "--workload", "load,a,b,c,d,e,f")
            for result in results:
                self.check(result)
            kinds = [sorted(r["latency_us"]) for r in results]
            self.assertEqual(
                kinds,
                [
                    ["insert"],
                    ["read", "update"],
                    ["read", "update"],
                    ["read"],
                    ["insert", "read"],
                    ["insert", "scan"],
                    ["read", "rmw"],
                ],
            )
            self.assertEqual(results[0]["user_bytes_written"], 3000 * 424)
            self.assertGreater(results[0]["fsyncs"] + results[0]["msyncs"], 0)
            self.assertEqual([r["operations"] for r in results], [3000] + [1000] * 6)
            self.assertEqual(results[3]["user_bytes_written"], 0)
            self.assertEqual(results[3]["user_bytes_read"], 1000 * 424)
            self.assertIsNone(results[3]["write_amplification"])
            # Scans of 1 to 100 records, 50.5 on average, a few cut by the end.
            scans = results[5]["latency_us"]["scan"]["count"]
            self.assertTrue(40 < results[5]["scanned_records"] / scans < 55)

    def test_db_bench_workloads_across_runs(self):
        for program in self.for_each():
            first = self.results(program, "--workload", "fillrandom")
            self.check(first[0])
            self.assertLess(first[0]["live_keys"], 3000)
            later = self.results(
                program,
                "--reuse-db",
                "--workload",
                "overwrite,readrandom,readmissing,readwhilewriting,seekrandom,multireadrandom",
                *direct(program),
            )
            for result in later:
                self.check(result)
            self.assertGreater(later[1]["not_found"], 0)
            self.assertEqual(later[2]["not_found"], 1000)
            self.assertEqual(later[5]["operations"], 1000)
            self.assertLess(later[5]["latency_us"]["multiread"]["count"], 100)  # batches of 16
            # Enough reads for the writer to begin before they end.
            while_writing = self.results(
                program, "--reuse-db", "--workload", "readwhilewriting", "--operations", "300000"
            )[0]
            self.assertIn("update", while_writing["latency_us"])
            self.check(self.results(program, "--workload", "fillseq")[0])

    def log_of_manual_compactions(self):
        return re.findall("manual ?compaction", (self.dir / "db" / "LOG").read_text(), re.IGNORECASE)

    def test_size_of_tables_and_manual_compaction(self):
        for program in self.for_each():
            load = (program, "--workload", "load", "--records", "30000")
            if program.endswith(("-lmdb", "-wiredtiger")):
                for flags in (["load", "--table-mb", "1"], ["load,c", "--compact"]):
                    run = self.call(program, *BASE, "--workload", *flags)
                    self.assertEqual(run.returncode, 1)
                    self.assertIn(next(f for f in flags if f.startswith("--")), run.stderr)
                continue
            if not program.endswith("-compassdb"):  # whose tables share files
                largest = []
                for megabytes in ("1", "8"):
                    (result,) = self.results(*load, "--memtable-mb", "8", "--table-mb", megabytes)
                    self.assertEqual(result["table_mb"], int(megabytes))
                    self.results(program, "--reuse-db", "--workload", "c", "--compact", "--table-mb", megabytes)
                    tables = [f for kind in ("*.sst", "*.ldb") for f in (self.dir / "db").glob(kind)]
                    largest.append(max(f.stat().st_size for f in tables))
                self.assertLess(largest[0], 2 << 20)
                self.assertGreater(largest[1], 4 << 20)
            self.results(*load)
            self.assertFalse(self.log_of_manual_compactions())
            (result,) = self.results(program, "--reuse-db", "--workload", "c", "--compact")
            self.assertTrue(result["compact"])
            if not program.endswith("-compassdb"):  # which logs jobs, and may have nothing to do
                self.assertTrue(self.log_of_manual_compactions())

    def test_sync_is_counted_at_the_call(self):
        for program in self.for_each():
            result = self.results(
                program, "--workload", "load", "--records", "200", "--threads", "1", "--sync"
            )[0]
            self.assertGreaterEqual(result["fsyncs"] + result["msyncs"], 200)

    def test_rate_time_and_warm_up(self):
        for program in self.for_each():
            fill, steady, timed = self.results(
                program, "--workload", "load,overwrite,c", "--rate", "4000", "--warm-up"
            )
            self.assertGreater(fill["foreground_seconds"], 0.7)
            self.assertGreater(steady["foreground_seconds"], 0.2)
            # A delay counts from when an operation was due: at least its latency.
            self.assertGreaterEqual(
                steady["longest_delay_ms"] * 1000, steady["latency_us"]["update"]["p999"] * 0.98
            )
            self.assertEqual(timed["user_bytes_read"], 1000 * 424)
            timed = self.results(
                *(program, "--reuse-db", "--workload", "c", "--rate", "100", "--seconds", "1")
            )[0]
            self.assertTrue(80 <= timed["operations"] <= 102, timed["operations"])

    def test_values_compress_as_asked(self):
        for program in self.for_each():
            sizes = {}
            for percent in (1, 50, 90):
                name = str(self.dir / f"db{percent}")
                self.results(program, "--db", name, "--workload", "load,c", "--compressible", str(percent))
                sizes[percent] = physical.of(name)
            # Keys, and what the engine adds to a record, compress too; a log that is left counts.
            values = 3000 * 400
            self.assertTrue(0.9 < sizes[1].physical / values < 2.3, sizes)
            self.assertTrue(0.45 < sizes[50].physical / sizes[1].physical < 0.65, sizes)
            self.assertLess(sizes[90].physical, sizes[50].physical / 2)

    def test_options_while_open_and_properties(self):
        for program in self.for_each():
            if plain(program):
                run = self.call(program, *BASE, "--workload", "load,c", "--set-options", "a=b")
                self.assertEqual(run.returncode, 1)
                self.assertIn("--set-options", run.stderr)
                continue
            (_, result) = self.results(
                *(program, "--workload", "load,overwrite", "--operations", "100000000", "--seconds", "30"),
                *("--set-options", "write_buffer_size=500000", "--while-property", "rocksdb.num-running-flushes"),
                *("--properties", "rocksdb.estimate-num-keys,no.such"),
            )
            # Some look of ten a second has met a flush long before.
            self.assertLess(result["foreground_seconds"], 25)
            self.assertEqual(len(result["operations_by_second"]), int(result["foreground_seconds"]))
            self.assertLessEqual(sum(result["operations_by_second"]), result["operations"])
            self.assertGreater(result["properties"]["rocksdb.estimate-num-keys"], 1000)
            self.assertIsNone(result["properties"]["no.such"])
            stored = max((self.dir / "db").glob("OPTIONS-*")).read_text()
            self.assertTrue("write_buffer_size=500000" in stored)
            run = self.call(program, *BASE, "--reuse-db", "--workload", "c", "--set-options", "no_such=1")
            self.assertEqual(run.returncode, 1)
            self.assertIn("no_such", run.stderr)

    def test_memory_and_log(self):
        for program in self.for_each():
            if plain(program):
                run = self.call(program, "--workload", "load", "--disable-wal")
                self.assertEqual(run.returncode, 1)
                self.assertIn("--disable-wal", run.stderr)
                continue
            with_log = self.results(program, "--workload", "load", "--records", "30000")[0]
            without = self.results(
                *(program, "--workload", "load,c", "--records", "30000", "--disable-wal"),
                *("--data-cache-kb", "256"),
            )
            user = with_log["user_bytes_written"]
            # Without the tables: their bytes depend on the times of the compactions.
            log, no_log = (r["dirtied_bytes"] - r["table_bytes_written"] for r in (with_log, without[0]))
            self.assertGreater(log, no_log + user / 2)
            self.assertGreaterEqual(without[0]["table_bytes_written"], user)
            self.check(without[1])
            for result in self.results(program, "--workload", "load,c", "--index-in-cache"):
                self.check(result)

    def test_options_and_defaults(self):
        for program in self.for_each():
            if plain(program):
                continue
            self.results(
                program,
                "--workload",
                "load,c",
                "--compression",
                "zstd",
                "--bloom-bits",
                "0",
                "--options-string",
                "max_background_jobs=1;level0_file_num_compaction_trigger=2",
                "--key-size",
                "16",
                "--distribution",
                "uniform",
                "--seed",
                "7",
            )
            self.assertTrue(
                self.results(program, "--workload", "load", "--defaults")[0]["defaults"]
            )
            run = self.call(program, "--workload", "load", "--options-string", "no_such_option=1")
            self.assertEqual(run.returncode, 1)
            self.assertIn("no_such_option", run.stderr)

    def test_mistakes_end_with_2_and_errors_with_1(self):
        for program in self.for_each():
            for args in (
                ["--workload", "nosuch"],
                ["--workload", "c"],
                ["--workload", "load", "--threads", "x"],
                ["--workload", "load", "--nosuch"],
                [],
                ["--workload", "load", "--distribution", "normal"],
            ):
                run = self.call(program, *args)
                self.assertEqual(run.returncode, 2, args)
                self.assertTrue(run.stderr)
            self.assertEqual(self.call(program, "--workload", "c", "--reuse-db").returncode, 1)
            (self.dir / "db").mkdir()
            (self.dir / "db" / "thesis.txt").write_text("three years of work")
            run = self.call(program, "--workload", "load")
            self.assertEqual(run.returncode, 1)
            self.assertIn("not made by kvbench", run.stderr)
            self.assertTrue((self.dir / "db" / "thesis.txt").exists())


if __name__ == "__main__":
    while len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        PROGRAMS.append(str(Path(sys.argv.pop(1)).resolve()))
    if not PROGRAMS:
        sys.exit("usage: kvbench_test.py KVBENCH...")
    unittest.main()
