# SPDX-License-Identifier: Apache-2.0
"""A plot of three panels: throughput, write and space amplification."""

from html import escape

COLOURS = {
    "compassdb": "#2563eb",
    "compassdb-read-mostly": "#0891b2",
    "compassdb-update-heavy": "#7c3aed",
    "compassdb-hash-range": "#059669",
    "rocksdb": "#d97706",
    "rocksdb-defaults": "#9ca3af",
}
NAMES = {
    "compassdb": "CompassDB",
    "compassdb-read-mostly": "CompassDB (one level)",
    "compassdb-update-heavy": "CompassDB (single tier)",
    "compassdb-hash-range": "CompassDB (hash range)",
    "rocksdb": "RocksDB (tuned)",
    "rocksdb-defaults": "RocksDB (defaults)",
}
PANELS = [
    ("Operations per second (higher is better)", "ops_per_second", "{:,.0f}"),
    (
        "Write amplification: device bytes per user byte (lower is better)",
        "write_amplification",
        "{:.2f}",
    ),
    (
        "Space amplification: disk bytes per live user byte (lower is better)",
        "space_amplification",
        "{:.2f}",
    ),
]
LEFT, WIDTH, BAR, GAP = 200, 900, 13, 8


def panel(title, metric, form, table, engines, top):
    rows = [(label, row) for label, row in table.items() if any(row[e][metric] for e in engines)]
    if not rows:
        return "", top
    largest = max(row[e][metric]["max"] for _, row in rows for e in engines if row[e][metric])
    scale = (WIDTH - LEFT - 130) / largest if largest else 0
    out = [f'<text x="10" y="{top + 14}" class="title">{escape(title)}</text>']
    y = top + 28
    for label, row in rows:
        middle = y + len(engines) * BAR / 2 + 4
        out.append(
            f'<text x="{LEFT - 8}" y="{middle:.1f}" text-anchor="end">{escape(label)}</text>'
        )
        for engine in engines:
            value = row[engine][metric]
            if value:
                w = value["median"] * scale
                out.append(
                    f'<rect x="{LEFT}" y="{y}" width="{w:.1f}" height="{BAR - 2}" fill="{COLOURS[engine]}"/>'
                )
                if value["runs"] > 1:
                    x1, x2, m = (
                        LEFT + value["min"] * scale,
                        LEFT + value["max"] * scale,
                        y + BAR / 2 - 1,
                    )
                    out.append(
                        f'<path d="M{x1:.1f} {m} H{x2:.1f}" stroke="#111827" stroke-width="1.5"/>'
                    )
                end = LEFT + max(w, value["max"] * scale if value["runs"] > 1 else 0) + 5
                out.append(
                    f'<text x="{end:.1f}" y="{y + BAR - 3}" class="value">{form.format(value["median"])}</text>'
                )
            y += BAR
        y += GAP
    out.append(f'<path d="M{LEFT} {top + 22} V{y - GAP}" stroke="#6b7280"/>')
    return "\n".join(out), y + 18


def plot(report):
    engines, table = report["engines"], report["summary"]
    body, y = [], 62
    x = 10
    for engine in engines:
        body.append(
            f'<rect x="{x}" y="34" width="12" height="12" fill="{COLOURS[engine]}"/>'
            f'<text x="{x + 18}" y="44">{NAMES[engine]}</text>'
        )
        x += 170
    for title, metric, form in PANELS:
        part, y = panel(title, metric, form, table, engines, y)
        body.append(part)
    body.append(
        f'<text x="10" y="{y + 4}" class="value">{escape(" · ".join(report["builds"].values()))}</text>'
    )
    heading = f"{report['suite']}: {report['claim']}"
    style = (
        "text{font:12px system-ui,sans-serif;fill:#111827}.title{font-weight:600;font-size:13px}"
        ".value{font-size:10px;fill:#374151}.head{font-size:15px;font-weight:600}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y + 16}" '
        f'viewBox="0 0 {WIDTH} {y + 16}"><style>{style}</style>'
        f'<rect width="100%" height="100%" fill="#ffffff"/>'
        f'<text x="10" y="22" class="head">{escape(heading)}</text>\n'
        + "\n".join(body)
        + "\n</svg>\n"
    )
