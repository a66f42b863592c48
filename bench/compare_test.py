#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of bench/compare, with programs that play the two kvbench."""

import json
import os
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
      "engine_library": "LIBRARY", "engine_assertions": ASSERTIONS}, f)
"""


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

    def test_engines_take_turns_and_fills_start_anew(self):
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
