# SPDX-License-Identifier: Apache-2.0
"""Medians, spread and ratios of many results."""

import os
import platform
import statistics

# name in the summary -> value of one result (None: has no meaning there)
METRICS = {
    "ops_per_second": lambda r: r["ops_per_second"],
    "p50_us": lambda r: main_latency(r, "p50"),
    "p99_us": lambda r: main_latency(r, "p99"),
    "write_amplification": lambda r: r["write_amplification"],
    "space_amplification": lambda r: r["space_amplification"],
    "device_reads_per_op": lambda r: per_op(r, "device_reads"),
    "device_bytes_read_per_op": lambda r: per_op(r, "device_bytes_read"),
    "fsyncs": lambda r: r["fsyncs"],
    "msyncs": lambda r: r["msyncs"],
    "sync_file_ranges": lambda r: r["sync_file_ranges"],
    "index_memory_bytes": lambda r: r["index_memory_bytes"],
    "index_bytes_per_key": lambda r: r["index_bytes_per_key"],
    "peak_rss_bytes": lambda r: r["peak_rss_bytes"],
    "db_bytes": lambda r: r["db_bytes"],
}

# A ratio to less than this says nothing: a few stray reads in a million.
SMALLEST = {"device_reads_per_op": 0.01, "device_bytes_read_per_op": 10}


def main_latency(result, percentile):
    """Of the operation that the throughput counts, where it is one (readwhilewriting's writes are
    not); else of the one that the workload has most of, where reads win a tie."""
    latencies = result["latency_us"]
    if "read" in latencies and latencies["read"]["count"] == result["operations"]:
        return latencies["read"].get(percentile)
    order = ["read", "scan", "rmw", "update", "insert"]
    best = max(latencies, key=lambda op: (latencies[op]["count"], -order.index(op)))
    if "read" in latencies and latencies["read"]["count"] * 3 > latencies[best]["count"]:
        best = "read"
    return latencies[best].get(percentile)


def per_op(result, name):
    value = result[name]
    return None if value is None else value / result["operations"]


def summarise(results, steps, engines):
    """{step: {engine: {metric: {median, min, max, spread}}}}"""
    table = {}
    for step in steps:
        row = {}
        for engine in engines:
            mine = [r for r in results if r["step"] == step.label and r["engine"] == engine]
            if not mine:
                continue
            row[engine] = {name: spread([m(r) for r in mine]) for name, m in METRICS.items()}
        if len(row) == len(engines):
            table[step.label] = row
    return table


def spread(values):
    values = [v for v in values if v is not None]
    if not values:
        return None
    median = statistics.median(values)
    width = (max(values) - min(values)) / median if median else 0.0
    return {
        "median": median,
        "min": min(values),
        "max": max(values),
        "spread": width,
        "runs": len(values),
    }


def ratios(table, base, peer):
    """{step: {metric: base/peer of the medians}}"""
    out = {}
    for label, row in table.items():
        if base not in row or peer not in row:
            continue
        out[label] = {}
        for name in METRICS:
            a, b = row[base][name], row[peer][name]
            meaningful = a and b and b["median"] > SMALLEST.get(name, 0)
            out[label][name] = a["median"] / b["median"] if meaningful else None
    return out


def builds(results):
    """One line per engine: which build of it was measured."""
    lines = {}
    for r in results:
        library = r.get("engine_library")
        if library is None:  # the device
            continue
        of = r["engine"].split("-")[0]
        name = {
            "compassdb": "CompassDB",
            "rocksdb": "RocksDB",
            "lmdb": "LMDB",
            "leveldb": "LevelDB",
            "wiredtiger": "WiredTiger",
        }[of]
        who = (
            "Debian's build, "
            if of == "rocksdb" and library.startswith(("/usr/lib/", "/lib/"))
            else ""
        )
        assertions = "assertions on" if r["engine_assertions"] else "assertions off"
        version = f"API {r['engine_version']}" if of == "compassdb" else r["engine_version"]
        lines[of] = f"{name} {version} ({who}{assertions}, {os.path.basename(library)})"
    return lines


def claim(results):
    """The limits of the table."""
    if any(r.get("engine_assertions") for r in results):
        return "not a performance claim: a library with assertions on was measured"
    return "release builds on both sides"


def machine():
    cpu = platform.processor() or "unknown CPU"
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as f:
            cpu = next(line.split(":", 1)[1].strip() for line in f if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "cpu": cpu,
        "cores": len(os.sched_getaffinity(0)),
        "memory_bytes": memory,
        "kernel": platform.release(),
    }
