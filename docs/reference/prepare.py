#!/usr/bin/env python3
"""Prepares the input of Doxygen: prepare.py SOURCE OUTPUT writes the public headers and the pages of the
project in SOURCE, converted, to OUTPUT, under the same paths. OUTPUT/local_macros, which Doxyfile.in
includes, hides the macros that a header undefines at its end.
"""
import os
import re
import sys

import headers
import pages

ROOTS = ("core/include/ambit", "backends/include/ambit", "nn/include/ambit")


def inputs(source):
    """Return the paths of the public headers and of the pages."""
    found = list(pages.PAGES)
    for root in ROOTS:
        for folder, folders, files in os.walk(os.path.join(source, root)):
            folders[:] = sorted(set(folders) - {"detail"})
            found += [os.path.relpath(os.path.join(folder, name), source) for name in sorted(files)]
    for folder in ("docs", "docs/reference"):
        found += [f"{folder}/{name}" for name in sorted(os.listdir(os.path.join(source, folder)))
                  if re.search(r"\.(md|dox)$", name)]
    return found


def main(source, output):
    local_macros = set()
    for path in inputs(source):
        with open(os.path.join(source, path), encoding="utf-8") as file:
            text = file.read()
        if path.endswith(".h"):
            local_macros |= set(re.findall(r"^ *#undef (AMBIT_\w+)", text, re.M))
            text = headers.convert(text)
        elif path.endswith(".md"):
            text = pages.convert_page(text, path)
        os.makedirs(os.path.dirname(os.path.join(output, path)), exist_ok=True)
        with open(os.path.join(output, path), "w", encoding="utf-8") as file:
            file.write(text)
    with open(os.path.join(output, "local_macros"), "w", encoding="utf-8") as file:
        file.write(f"EXCLUDE_SYMBOLS += {' '.join(sorted(local_macros))}\n")


main(*sys.argv[1:])
