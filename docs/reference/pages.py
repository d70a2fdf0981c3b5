"""Converts a Markdown page for Doxygen: GitHub's links and anchors become Doxygen's.

A heading gets an anchor that names its page, links to headings use it, and a link to a file that is not
a page of the reference becomes the file's path.
"""
import os
import re

PAGES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")


def anchor(page, heading):
    """GitHub's anchor of a heading, after the name of its page."""
    name = re.sub(r"[^a-z0-9 _-]", "", heading.lower()).replace(" ", "-")
    return page.replace("/", "-").removesuffix(".md").lower() + "-" + name


def convert(line, page):
    """Return a line outside of code blocks with its anchors and links converted."""

    def link(match):
        text, target = match.groups()
        if re.match(r"(https?|mailto):", target):
            return match.group()
        path, _, heading = target.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if path not in PAGES and not re.fullmatch(r"docs/[^/]+\.md", path):
            return f"{text} (`{path}`)"
        if heading:
            return f"[{text}](@ref {anchor(path, heading)})"
        return f"[{text}]({os.path.relpath(path, os.path.dirname(page))})"

    heading = re.match(r"##+ +(.*)", line)
    if heading:
        line = f"{line} {{#{anchor(page, heading.group(1))}}}"
    return re.sub(r"(?<!!)\[([^][]*)\]\(([^) ]+)\)", link, line)


def convert_page(text, page):
    """Return the text of a page, which is named by its path from the root of the project."""
    out, in_code = [], False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            in_code = not in_code
        out.append(line if in_code else convert(line, page))
    return "\n".join(out) + "\n"
