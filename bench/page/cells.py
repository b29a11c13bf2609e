"""How figures are written in tables, and the tables."""


def number(value, digits=3):
    """Rounds: 123456 -> 123k; 0.0123 -> 0.012."""
    if value is None:
        return "-"
    if value and abs(value) < 0.001:
        return "0"
    for size, word in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= size * 0.9995:
            return f"{float(f'{value / size:.{digits}g}'):g}{word}"
    return f"{float(f'{value:.{digits}g}'):g}"


def count(value):
    return "-" if value is None else f"{value:,.0f}"


def ms(value):
    if value is None:
        return "-"
    return f"{number(value / 1e3)} s" if value >= 1000 else f"{number(value)} ms"


def spread(line, name, words):
    """The figure, and its lowest and highest round: 12k (9k to 13k)."""
    text = words(line["results"].get(name))
    if name in line["range"]:
        text += " ({} to {})".format(*map(words, line["range"][name]))
    return text


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |",
             "|" + "|".join("---" if column < 1 else "--:" for column in range(len(heads))) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])
