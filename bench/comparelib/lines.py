# SPDX-License-Identifier: Apache-2.0
"""Curves as SVG: one plot, x on a logarithmic scale or a linear one, y from zero."""

import math
from html import escape

COLOURS = ["#2563eb", "#059669", "#d97706", "#9ca3af", "#7c3aed", "#dc2626"]
TICKS = 12  # more would run into each other
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 420, 70, 20, 84, 50


def short(value):
    for unit, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= unit:
            return f"{value / unit:g}{name}"
    return f"{value:g}"


def step_of(largest):
    """A round step that divides the axis into four to eight parts."""
    if largest <= 0:
        return 1
    raw = largest / 5
    power = 10 ** math.floor(math.log10(raw))
    return next(power * m for m in (1, 2, 5, 10) if raw <= power * m)


def plot(title, x_label, curves, linear=False):
    xs = sorted({x for points in curves.values() for x, _ in points})
    ticks = xs[:: -(-len(xs) // TICKS)]
    scale = float if linear else math.log
    largest = max((y for points in curves.values() for _, y in points), default=1)
    step = step_of(largest)
    top = step * math.ceil(largest / step) or 1
    low, high = scale(xs[0]), scale(xs[-1])

    def at_x(x):
        share = (scale(x) - low) / (high - low) if high > low else 0.5
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def at_y(y):
        return HEIGHT - BOTTOM - y / top * (HEIGHT - TOP - BOTTOM)

    body = [f'<text x="10" y="22" class="head">{escape(title)}</text>']
    y = 0.0
    while y <= top * 1.0001:
        body.append(f'<path d="M{LEFT} {at_y(y):.1f} H{WIDTH - RIGHT}" stroke="#e5e7eb"/>')
        body.append(f'<text x="{LEFT - 8}" y="{at_y(y) + 4:.1f}" text-anchor="end">{short(y)}</text>')
        y += step
    for x in ticks:
        body.append(
            f'<text x="{at_x(x):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{short(x)}</text>'
        )
    body.append(
        f'<text x="{(LEFT + WIDTH) / 2:.0f}" y="{HEIGHT - 10}" text-anchor="middle">{escape(x_label)}</text>'
    )
    legend, row = 10, 34
    for i, (name, points) in enumerate(curves.items()):
        colour = COLOURS[i % len(COLOURS)]
        path = " L".join(f"{at_x(x):.1f} {at_y(y):.1f}" for x, y in sorted(points))
        body.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        if len(points) <= TICKS:
            body += [f'<circle cx="{at_x(x):.1f}" cy="{at_y(y):.1f}" r="3.5" fill="{colour}"/>' for x, y in points]
        if legend + 17 + 7 * len(name) > WIDTH:
            legend, row = 10, row + 18
        body.append(f'<rect x="{legend}" y="{row}" width="12" height="12" fill="{colour}"/>')
        body.append(f'<text x="{legend + 17}" y="{row + 10}">{escape(name)}</text>')
        legend += 34 + 7 * len(name)
    style = "text{font:12px system-ui,sans-serif;fill:#111827}.head{font-size:15px;font-weight:600}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}"><style>{style}</style>'
        f'<rect width="100%" height="100%" fill="#ffffff"/>\n' + "\n".join(body) + "\n</svg>\n"
    )


def write_all(plots, out):
    """Writes OUT-SUFFIX.svg for each plot that has points; [(title, path)]. A plot of curves is (suffix, title,
    label of x, curves) and, as a fifth member, linear; others draw themselves (bars.Bars)."""
    written = []
    for item in plots:
        if isinstance(item, tuple):
            suffix, title, x_label, curves, *linear = item
            text = plot(title, x_label, curves, *linear) if curves else None
        else:
            suffix, title = item.suffix, item.title
            text = None if item.empty else item.svg()
        if text is None:
            continue
        path = f"{out}-{suffix}.svg"
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        written.append((title, path))
    return written
