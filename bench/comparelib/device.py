# SPDX-License-Identifier: Apache-2.0
"""fio as a rival: the device's rate for the reads of an engine."""

import json
import os
import subprocess

from .runner import RunError

PAGE = 4096


def fio(*flags):
    cmd = ["fio", "--output-format=json", *[str(f) for f in flags]]
    try:
        done = subprocess.run(cmd, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise RunError("fio is not installed (package fio)") from error
    if done.returncode != 0:
        raise RunError(f"exit code {done.returncode} of: {' '.join(cmd)}: {done.stderr.strip()}")
    return json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]


def read_shape(result):
    """Bytes of one read call of an engine, in whole pages, from its result."""
    reads, size = result["device_reads"], result["device_bytes_read"]
    if not reads or not size:
        return PAGE
    return max(PAGE, round(size / reads / PAGE) * PAGE)


def random_reads(work_dir, file_bytes, block, threads, seconds):
    """The result of a step in which `threads` read blocks at page-aligned places of a file
    that is as large as the engine's database, with pread and O_DIRECT."""
    path = os.path.join(work_dir, "device.fio")
    size = max(PAGE, file_bytes // PAGE * PAGE)
    if not os.path.exists(path) or os.path.getsize(path) != size:
        if os.path.exists(path):
            os.remove(path)
        fio("--name=fill", f"--filename={path}", f"--size={size}", "--rw=write", "--bs=1m", "--end_fsync=1")
    job = fio(
        *("--name=device", f"--filename={path}", f"--size={size}", "--rw=randread", f"--bs={block}"),
        *(f"--blockalign={PAGE}", "--direct=1", "--ioengine=psync", "--thread", f"--numjobs={threads}"),
        *("--group_reporting", "--norandommap", "--randrepeat=0", "--time_based"),
        f"--runtime={max(1, round(seconds))}",
    )
    read = job["read"]
    percentiles = read["clat_ns"].get("percentile", {})
    return {
        "engine": "device",
        "operations": read["total_ios"],
        "seconds": read["runtime"] / 1000,
        "ops_per_second": read["iops"],
        "latency_us": {
            "read": {
                "count": read["total_ios"],
                "avg": read["lat_ns"]["mean"] / 1000,
                "p50": percentiles.get("50.000000", 0) / 1000,
                "p99": percentiles.get("99.000000", 0) / 1000,
                "max": read["lat_ns"]["max"] / 1000,
            }
        },
        "device_reads": read["total_ios"],
        "device_bytes_read": read["io_bytes"],
        "read_bytes": block,
    }


def start_stall_probe(work_dir, seconds):
    """Fifty small synced writes a second next to an engine: their longest is the machine's own
    stall. Returns what stop_stall_probe takes."""
    path = os.path.join(work_dir, "stall.fio")
    cmd = [
        *("fio", "--output-format=json", "--name=stall", f"--filename={path}", "--size=16m"),
        *("--rw=randwrite", "--bs=4k", "--direct=1", "--ioengine=psync", "--fdatasync=1"),
        *("--rate_iops=50", "--time_based", f"--runtime={round(seconds)}"),
    ]
    return subprocess.Popen(cmd, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def stop_stall_probe(process):
    """The longest write of that fio, in milliseconds."""
    out, _ = process.communicate()
    if process.returncode != 0:
        raise RunError(f"exit code {process.returncode} of the fio next to the engine")
    job = json.loads(out[out.index("{") :])["jobs"][0]
    sync = job.get("sync", {}).get("lat_ns", {}).get("max", 0)
    return max(job["write"]["lat_ns"]["max"], sync) / 1e6
