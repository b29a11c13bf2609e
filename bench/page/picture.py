"""A picture of docs/designs.md: a line for each design with a mark for each of its figures, on a
logarithmic axis, as SVG."""

import math
from html import escape

LEFT, WIDTH, ROW, TOP, BOTTOM = 280, 940, 22, 58, 34
MARKS = ("#2a6f97", "#e07a1f", "#b3202c")


def _decades(values):
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def _words(value):
    for size, word in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{word}"
    return f"{value:g}"


def svg(title, unit, marks, rows):
    """`rows`: (name, [figure or None for each of `marks`]). A figure of 0 is drawn at the left
    edge."""
    values = [value for _, figures in rows for value in figures if value]
    if not values:
        return None
    low, high = _decades(values)

    def x(value):
        at = math.log10(max(value, 10 ** low))
        return LEFT + (at - low) / (high - low) * (WIDTH - LEFT - 30)

    height = TOP + ROW * len(rows) + BOTTOM
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
           f'viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
           f'<text x="12" y="20" font-size="15">{escape(title)}</text>']
    at = LEFT
    for colour, mark in zip(MARKS, marks):
        out.append(f'<circle cx="{at}" cy="36" r="5" fill="{colour}"/>'
                   f'<text x="{at + 10}" y="40">{escape(mark)}</text>')
        at += 30 + 8 * len(mark)
    bottom = height - BOTTOM
    for decade in range(low, high + 1):
        line = x(10 ** decade)
        out.append(f'<line x1="{line:.1f}" y1="{TOP - 8}" x2="{line:.1f}" y2="{bottom}" '
                   'stroke="#dddddd"/>'
                   f'<text x="{line:.1f}" y="{bottom + 16}" text-anchor="middle">'
                   f'{_words(10 ** decade)} {escape(unit)}</text>')
    for number, (name, figures) in enumerate(rows):
        y = TOP + ROW * number + ROW // 2
        out.append(f'<text x="{LEFT - 12}" y="{y + 4}" text-anchor="end">{escape(name)}</text>')
        there = [x(value) for value in figures if value is not None]
        if len(there) > 1:
            out.append(f'<line x1="{min(there):.1f}" y1="{y}" x2="{max(there):.1f}" y2="{y}" '
                       'stroke="#999999"/>')
        for colour, value in zip(MARKS, figures):
            if value is not None:
                out.append(f'<circle cx="{x(value):.1f}" cy="{y}" r="5" fill="{colour}"/>')
    return "\n".join([*out, "</svg>", ""])
