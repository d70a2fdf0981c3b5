#!/usr/bin/env python3
"""Write an SVG picture of a terminal: standard input is a program's output, the argument its
command line.

  ambit check -- ./masked cuda 2>/dev/null | docs/terminal_picture.py 'ambit check -- ./masked cuda' > docs/check.svg
"""
import html
import re
import sys

WIDTH, LINE, MARGIN = 8.4, 18, 16  # pixels of a character, between lines, around the text


def colour(line):
    if re.match(r"\S+:\d+ in ", line) or re.search(r"device mistakes?$", line):
        return "#ff7b72"
    return "#7ee787" if line.lstrip().startswith("try:") else "#e6edf3"


lines = [f"$ {sys.argv[1]}"] + sys.stdin.read().rstrip("\n").split("\n")
width = 2 * MARGIN + WIDTH * max(map(len, lines))
height = 2 * MARGIN + LINE * len(lines)
print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
      'font-family="monospace" font-size="14">')
print('<rect width="100%" height="100%" rx="8" fill="#0d1117"/>')
for i, line in enumerate(lines):
    if line:
        print(f'<text x="{MARGIN}" y="{MARGIN + LINE * i + 13}" xml:space="preserve" '
              f'textLength="{WIDTH * len(line):.1f}" fill="{colour(line)}">'
              f'{html.escape(line)}</text>')
print("</svg>")
