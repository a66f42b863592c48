# SPDX-License-Identifier: Apache-2.0
"""The one table, as text for the terminal and as Markdown."""

# heading, metric, format, whether the ratio is shown next to it
COLUMNS = [
    ("operations/s", "ops_per_second", "{:,.0f}", True),
    ("p99 µs", "p99_us", "{:,.1f}", True),
    ("write amp.", "write_amplification", "{:.2f}", True),
    ("space amp.", "space_amplification", "{:.2f}", True),
    ("reads/op", "device_reads_per_op", "{:.2f}", True),
    ("index B/key", "index_bytes_per_key", "{:.1f}", False),
]


def cell(value, form, with_spread):
    if value is None:
        return "-"
    text = form.format(value["median"])
    if with_spread and value["runs"] > 1:
        text += f" ±{50 * value['spread']:.0f}%"
    return text


def rows(table, ratio, engines):
    """Heading and body, all text. The first engine is compared with the second."""
    short = {
        "compassdb": "C",
        "compassdb-read-mostly": "M",
        "compassdb-update-heavy": "U",
        "compassdb-hash-range": "H",
        "rocksdb": "R",
        "rocksdb-defaults": "D",
    }
    head = ["workload"]
    for name, _, _, has_ratio in COLUMNS:
        head += [f"{name} {short[e]}" for e in engines]
        if has_ratio and len(engines) > 1:
            head.append(f"{short[engines[0]]}/{short[engines[1]]}")
    body = []
    for label, row in table.items():
        line = [label]
        for _, metric, form, has_ratio in COLUMNS:
            line += [cell(row[e][metric], form, metric == "ops_per_second") for e in engines]
            if has_ratio and len(engines) > 1:
                r = ratio[label][metric]
                line.append("-" if r is None else f"{r:.2f}")
        body.append(line)
    return head, body


def text(head, body):
    widths = [max(len(line[i]) for line in [head] + body) for i in range(len(head))]

    def show(line):
        cells = [line[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(line[1:], widths[1:])]
        return "  ".join(cells)

    return "\n".join(
        [show(head), "  ".join("-" * w for w in widths)] + [show(line) for line in body]
    )


def markdown(head, body):
    lines = ["| " + " | ".join(head) + " |", "| --- |" + " ---: |" * (len(head) - 1)]
    lines += ["| " + " | ".join(line) + " |" for line in body]
    return "\n".join(lines)


def notes(report):
    """What a reader must know in addition to the table."""
    s, m = report["settings"], report["machine"]
    names = {
        "compassdb": "C = CompassDB",
        "compassdb-read-mostly": "M = CompassDB, preset read-mostly (one level)",
        "compassdb-hash-range": "H = CompassDB, preset hash-range",
        "compassdb-update-heavy": "U = CompassDB, preset update-heavy (single tier)",
        "rocksdb": "R = RocksDB, tuned (bloom filters of "
        f"{s['bloom_bits']:g} bits, index and filters in memory, dynamic level sizes)",
        "rocksdb-defaults": "D = RocksDB with its default options (their own sizes, compression and cache; page cache)",
    }
    lines = [
        " · ".join(report["builds"].values()),
        report["claim"],
        "; ".join(names[e] for e in report["engines"]),
        f"{s['records']:,} records of {s['key_size']}+{s['value_size']} bytes, {s['operations']:,} operations "
        f"(a tenth of them where scans), {s['threads']} threads, {s['background_threads']} background threads, "
        f"{s['cache_mb']} MiB for index, filters and blocks together, memtable {s['memtable_mb']} MiB, "
        f"compression {s['compression']}, {'O_DIRECT' if s['direct'] else 'page cache'}, "
        f"WAL on where the step does not say otherwise, sync {'on' if s['sync'] else 'off'}, medians of {s['repeats']}",
        f"{m['cpu']}, {m['cores']} cores, {m['memory_bytes'] >> 30} GiB, Linux {m['kernel']}",
        "seconds and bytes of writing workloads include the flushes and compactions they caused; "
        "write and space amplification belong together; p99 is of the most frequent operation",
    ]
    for label in report["left_out"]:
        lines.append(f"left out, the time budget was used up: {label}")
    return lines
