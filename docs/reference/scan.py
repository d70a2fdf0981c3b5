"""Finds declarations in a header: where they end, what they are called, which brackets close."""
import re

LITERAL = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|\d[\d\']*', re.S)
CLOSING = {"(": ")", "{": "}"}
VARIABLE = r"[\w:<>, ]+ \w+(?:\{.*\}| = .*)?"


def closing(text, start):
    """Return the position after the bracket that closes the one at start."""
    depth, at = 0, start
    while at < len(text):
        if literal := LITERAL.match(text, at):
            at = literal.end()
            continue
        depth += (text[at] == text[start]) - (text[at] == CLOSING[text[start]])
        at += 1
        if depth == 0:
            break
    return at


def end_of_head(text, at):
    """Return the position of the `;`, or of the `{` of the body, of the declaration at `at`."""
    while at < len(text) and text[at] not in ";{":
        if literal := LITERAL.match(text, at):
            at = literal.end()
        elif text[at] == "(":
            at = closing(text, at)
        else:
            at += 1
    return at


def end_of_declaration(text, at):
    """Return the position after the declaration at `at`, with its body."""
    while True:
        at = end_of_head(text, at)
        if at >= len(text) or text[at] == ";":
            return min(at + 1, len(text))
        at = closing(text, at)
        following = re.compile(r"\s*(.)", re.S).match(text, at)
        if not following or following[1] not in ";,{=":
            return at


def arguments(text):
    """Split text at the commas outside of brackets."""
    parts, depth = [""], 0
    for char in text:
        depth += (char in "([{<") - (char in ")]}>")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts]


def without_template(head):
    """Return a declaration without `template <...>`."""
    if not head.startswith("template"):
        return head
    depth = 0
    for at in range(head.index("<"), len(head)):
        depth += (head[at] == "<") - (head[at] == ">")
        if depth == 0:
            return without_template(head[at + 1 :].lstrip())
    return head


def scope_name(head, text, end):
    """Return the name of the class or namespace that begins with head and a `{` at end, or None."""
    if text[end : end + 1] != "{":
        return None
    match = re.match(r"(?:inline )?(?:namespace|class|struct|union)\b(?: AMBIT_API)? ?([\w:]*)",
                     re.sub(r"^requires ?\(.*?\) ", "", without_template(head)))
    return match and match[1]


def function_name(head):
    """Return the name of the function that head declares, or None."""
    text = re.sub(r"\b(requires|decltype|noexcept|explicit|alignas|__attribute__)\b ?\(+", "",
                  without_template(head))
    match = re.search(
        r"(operator ?(?:\(\)|\[\]|[^\s\w(]+|(?:const )?[\w:<>]+[&*]*)|~?\w+) ?\(", text)
    if not match or "=" in text[: match.start()]:
        return None
    return match[1].replace(" const ", "").replace(" ", "")


def variables(declaration):
    """Split `Tensor weight, bias;` into declarations of one variable; [] if it declares fewer."""
    names = arguments(" ".join(declaration.rstrip("; \n").split()))
    if len(names) < 2 or "(" in declaration or not re.fullmatch(VARIABLE, names[0]):
        return []
    kind = re.match(r"(.+) \w+(\{.*\}| = .*)?$", names[0])[1]
    return [f"{names[0]};"] + [f"{kind} {name};" for name in names[1:]]


def is_plain(head, name):
    """Whether a declaration needs no comment: a deleted one, a copy, a move, a destructor."""
    name = re.escape(name)
    return bool(re.search(r"= delete;?$", head) or re.match(
        rf"(virtual )?(constexpr )?(~{name}\(|{name}\((const )?{name}(<.*>)?&&?( \w+)?\)|"
        rf"{name}(<.*>)?& operator=\((const )?{name}(<.*>)?&&?( \w+)?\))", head))
