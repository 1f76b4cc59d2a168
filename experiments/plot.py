# SPDX-License-Identifier: MIT
"""Draws the plots of a study with gnuplot, as SVG."""

import subprocess

COLOURS = ("#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#9c6b4e")


class Failed(Exception):
    """Why there is no picture."""


def series(rows, plot):
    """{panel: {line: [(x, y)]}}, in the order of the table"""
    panels = {}
    for row in rows:
        if plot["y"] not in row:
            raise Failed(f"draw {plot['name']}: no cell has the result '{plot['y']}'")
        panel, line = row.get(plot.get("panels"), ""), row.get(plot.get("lines"), "")
        panels.setdefault(panel, {}).setdefault(line, []).append((row[plot["x"]], row[plot["y"]]))
    return panels


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def script(rows, plot, target):
    """Commands of gnuplot with the data in them."""
    panels = series(rows, plot)
    lines = [f"set terminal svg size {420 * len(panels)},320 font 'sans,11' background 'white'", f"set output {quoted(str(target))}",
             f"set multiplot layout 1,{len(panels)} title {quoted(plot.get('title', plot['name']))} noenhanced",
             "set key below samplen 2 spacing 1.5 noenhanced", "set border 3", "set tics nomirror", "set grid ytics lc rgb '#dddddd'",
             f"set xlabel {quoted(plot.get('xlabel', plot['x']))} noenhanced",
             f"set ylabel {quoted(plot.get('ylabel', plot['y']))} noenhanced", "set yrange [0:*]"]
    if plot.get("scale") == "log":
        lines += ["set logscale x 2", "set logscale y 10", "set yrange [*:*]", "set format y '%.0s%c'"]
    number = 0
    for panel, of_lines in panels.items():
        parts = []
        for index, (line, points) in enumerate(of_lines.items()):
            lines += [f"$data{number} << EOD", *(f"{x} {y}" for x, y in points), "EOD"]
            title = quoted(f"{plot['lines']}={line}") if line else "''"
            parts.append(f"$data{number} using 1:2 with linespoints lw 2 pt 7 ps 0.6 lc rgb '{COLOURS[index % len(COLOURS)]}' title {title}")
            number += 1
        lines += [f"set title {quoted(plot['panels'] + '=' + panel) if panel else quoted('')} noenhanced", "plot " + ", ".join(parts)]
    return "\n".join([*lines, "unset multiplot", ""])


def tidied(svg):
    """With a licence, and without tabs and blanks at ends of lines, so that it may be kept among sources."""
    first, *rest = (line.replace("\t", " ").rstrip() for line in svg.splitlines())
    return "\n".join([first, "<!-- SPDX-License-Identifier: MIT -->", *rest, ""])


def draw(rows, plot, target):
    try:
        done = subprocess.run(["gnuplot"], input=script(rows, plot, target), capture_output=True, text=True, timeout=60)
    except FileNotFoundError:
        raise Failed("draw the plots: there is no gnuplot; Debian's package gnuplot-nox has it") from None
    if done.returncode != 0:
        raise Failed(f"draw {plot['name']}: gnuplot: {done.stderr.strip().splitlines()[-1]}")
    target.write_text(tidied(target.read_text()))
