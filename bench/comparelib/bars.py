# SPDX-License-Identifier: Apache-2.0
"""Bars as SVG: a few names side by side in each column, y from zero."""

import math
from dataclasses import dataclass
from html import escape

from .lines import COLOURS, short, step_of
from .paper import median_of
from .plan import NAMES

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 400, 70, 20, 84, 40
CHARACTER = 7  # pixels
BETWEEN = 0.2  # of a column's width


def height_text(value):
    """Three digits of it."""
    return short(value if value == 0 else round(value, 2 - math.floor(math.log10(abs(value)))))


@dataclass
class Bars:
    suffix: str
    title: str
    columns: dict  # {label: {name: height}}; a column need not have all names

    @property
    def empty(self):
        return not any(self.columns.values())

    def names(self):
        return list(dict.fromkeys(name for bars in self.columns.values() for name in bars))

    def svg(self):
        names, columns = self.names(), {k: v for k, v in self.columns.items() if v}
        largest = max(height for bars in columns.values() for height in bars.values())
        step = step_of(largest)
        top = step * math.ceil(largest / step) or 1

        def at_y(y):
            return HEIGHT - BOTTOM - y / top * (HEIGHT - TOP - BOTTOM)

        body = [f'<text x="10" y="22" class="head">{escape(self.title)}</text>']
        for i in range(round(top / step) + 1):
            y = at_y(i * step)
            body.append(f'<path d="M{LEFT} {y:.1f} H{WIDTH - RIGHT}" stroke="#e5e7eb"/>')
            tick = short(round(i * step, 9))
            body.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{tick}</text>')
        legend, row = 10, 34
        for i, name in enumerate(names):
            if legend + 17 + CHARACTER * len(name) > WIDTH:
                legend, row = 10, row + 18
            body.append(f'<rect x="{legend}" y="{row}" width="12" height="12" fill="{COLOURS[i % len(COLOURS)]}"/>')
            body.append(f'<text x="{legend + 17}" y="{row + 10}">{escape(name)}</text>')
            legend += 34 + CHARACTER * len(name)
        column = (WIDTH - LEFT - RIGHT) / len(columns)
        width = column * (1 - BETWEEN) / len(names)
        for c, (label, bars) in enumerate(columns.items()):
            left = LEFT + c * column
            middle = f'x="{left + column / 2:.1f}" text-anchor="middle"'
            body.append(f'<text {middle} y="{HEIGHT - BOTTOM + 18}">{escape(label)}</text>')
            for i, name in enumerate(names):
                if name not in bars:
                    continue
                x, y, text = left + column * BETWEEN / 2 + i * width, at_y(bars[name]), height_text(bars[name])
                body.append(
                    f'<rect x="{x:.1f}" y="{y:.1f}" width="{width * 0.94:.1f}" height="{HEIGHT - BOTTOM - y:.1f}" '
                    f'fill="{COLOURS[i % len(COLOURS)]}"><title>{escape(name)}: {text}</title></rect>'
                )
                if 5.5 * len(text) <= width:
                    middle = f'x="{x + width / 2:.1f}" text-anchor="middle"'
                    body.append(f'<text {middle} y="{y - 3:.1f}" class="value">{text}</text>')
        style = "text{font:12px system-ui,sans-serif;fill:#111827}.head{font-size:15px;font-weight:600}"
        style += ".value{font-size:9px}"
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
            f'viewBox="0 0 {WIDTH} {HEIGHT}"><style>{style}</style>'
            f'<rect width="100%" height="100%" fill="#ffffff"/>\n' + "\n".join(body) + "\n</svg>\n"
        )


def by_engine(group, results, step, metric):
    values = {NAMES[engine]: median_of(results, group, step, engine, metric) for engine in group.engines}
    return {name: value for name, value in values.items() if value is not None}


def by_step(group, results, steps, metric):
    """Columns: a column per step, a bar per engine."""
    return {step: by_engine(group, results, step, metric) for step in steps}


def by_group(groups, results, step, metric, label):
    """Columns: a column per group, a bar per engine."""
    return {label(group): by_engine(group, results, step, metric) for group in groups}


def by_metric(group, results, step, engine, metrics):
    """One column: a bar per metric of {name: metric}, of one engine and step."""
    values = {name: median_of(results, group, step, engine, metric) for name, metric in metrics.items()}
    return {name: value for name, value in values.items() if value is not None}
