"""Converts a public header for Doxygen: gives a comment to the declarations that share one.

So the headers stay short. The lines keep their numbers:
- An overload without a comment gets the comment of the overload before it in its class or namespace: a getter
  gets the setter's. `name_` gets the comment of `name`, and `name3d` that of `name1d` or `name2d`.
- AMBIT_OPTION and AMBIT_MODULE become declarations; an option's comment ends with its default.
- The lines at the top of a header become the description of the file.
- Members that every module or option class has get the comments of standard.py.
- Parts between @cond and @endcond are dropped.
A comment that a declaration has itself always wins, and so does that of a group between @{ and @}.
"""
import re

import scan
from standard import STANDARD


def escaped(comment):
    """Return a comment in which Doxygen sees no HTML tags, such as in `#include <ambit/ambit.h>`."""
    parts = comment.split("`")
    parts[::2] = [re.sub(r"<(?=[a-zA-Z/])", r"\\<", part) for part in parts[::2]]
    return "`".join(parts)


def family(function):
    """Return a name without its number of dims: max_pool2d and max_pool3d are one family."""
    return re.sub(r"[123]d", "d", function)


def lines(text, at, end):
    """Return as many line ends as text has from `at` to `end`."""
    return "\n" * text.count("\n", at, end)


class Scope:
    """A class or namespace while it is converted."""

    def __init__(self, name):
        self.name = name
        self.docs = {}  # the last comment of each function's name
        self.pending = []  # lines of the comment before the next declaration
        self.in_group = False  # between @{ and @}: Doxygen applies the comment of the group

    def note(self, comment):
        """Note a comment for the next declaration."""
        if re.match(r"///? ?[@\\][{}]", comment):
            self.in_group = "{" in comment
        elif comment.startswith("///") and not comment.startswith("///<"):
            self.pending.append(re.sub(r"/\*.*?\*/", "", comment[3:]).strip())
        elif comment.startswith("/**") and not comment.startswith("/**<"):
            self.pending.append(comment[3:-2].strip())

    def comment_for(self, head, function, whole=""):
        """Return the comment that a declaration without its own shares or implies, or None. `whole` is the
        declaration with its body."""
        if function in self.docs:
            return self.docs[function]
        if function:
            if same := [name for name in self.docs if family(name) == family(function)]:
                return self.docs[same[-1]]
            if function.endswith("_") and function[:-1] in self.docs:
                return f"In place. {self.docs[function[:-1]]}"
        for name, declaration, comment in STANDARD:
            match = re.fullmatch(name, self.name) and re.match(declaration.format(c=self.name), head)
            if match:
                call = re.search(r"return ([\w:]+)\(", whole)
                return comment.format(call=call[1] if call else function, **match.groupdict())
        return None


def convert(text):
    """Return the text of a header with comments for declarations that share or imply one."""
    text = re.sub(r"//[^\n]*", lambda comment: escaped(comment[0]), text)
    text = text.replace("/// Options of ", "/// %Options of ")  # no link to the class Options
    # The brief description ends with the first sentence.
    text = re.sub(r"\.(\s+(?:/// )?)Default: ", r";\1default: ", text)
    text = re.sub(r"/// @cond$.*?/// @endcond$", lambda part: "\n" * part[0].count("\n"), text,
                  flags=re.M | re.S)
    top = re.match(r"((?://(?!/)[^\n]*\n)+)#pragma once\n", text)
    if top:
        description = top[1][2:-1].replace("\n//", "\n")
        text = f"/** @file\n{description} */\n{text[top.end():]}"
    return converted_scope(text, 0, Scope(""))[0]


def converted_scope(text, at, scope):
    """Convert declarations up to the bracket that closes the scope. Return them and its position."""
    out, notes = [], []  # notes: where in `out` the comment of the next declaration is
    while at < len(text) and text[at] != "}":
        start = at
        if text[at].isspace():
            at += 1
        elif text.startswith(("//", "/*"), at):
            at = scan.LITERAL.match(text, at).end()
            scope.note(text[start:at])
            notes.append(len(out))
        elif text[at] == "#":
            at = re.compile(r"(?:[^\n]*\\\n)*[^\n]*").match(text, at).end()
            if text.startswith("#define", start):
                scope.pending = []
        elif access := re.compile(r"(public|protected|private):").match(text, at):
            at = access.end()
        else:
            if text.startswith("AMBIT_OPTION(", at) and scope.pending:
                for note in notes:  # each function of the option gets it
                    out[note] = ""
            declaration, at = converted_declaration(text, at, scope)
            out.append(declaration)
            scope.pending, notes = [], []
            continue
        out.append(text[start:at])
    return "".join(out), at


def converted_declaration(text, at, scope):
    """Convert the declaration at `at`. Return it and the position after it."""
    if use := re.compile(r"AMBIT_(?!API\b)\w+\(").match(text, at):
        return converted_macro(text, at, use, scope)
    end = scan.end_of_head(text, at)
    head = " ".join(text[at:end].split())
    name = scan.scope_name(head, text, end)
    if name is None:
        end = scan.end_of_declaration(text, at)
        return commented(head, text[at:end], text[end:], scope), end
    if name.startswith("std::"):  # a specialisation of the standard's templates
        end = scan.end_of_declaration(text, at)
        return lines(text, at, end), end
    body, closing = converted_scope(text, end + 1, Scope(name.split("::")[-1]))
    last = closing if head.startswith("namespace") else scan.end_of_head(text, closing)
    begin = commented(head, text[at:end], None, scope)
    return f"{begin}{{{body}{text[closing:last + 1]}", last + 1


def commented(head, declaration, following, scope):
    """Return a declaration with the comment that it lacks; remember its own for later ones. `following`
    is None for the head of a class or namespace."""
    own = " ".join(scope.pending)
    trailing = following and re.match(r"[ \t]*///<([^\n]*)", following)
    if scope.in_group:
        return declaration
    if following is not None and (own or trailing) and (names := scan.variables(declaration)):
        comment = trailing[1] if trailing else own
        every = " ".join(f"/** {comment} */ {name}" for name in names)
        every = every if trailing else every.removeprefix(f"/** {comment} */ ")
        return every + lines(declaration, 0, len(declaration))
    function = scan.function_name(head)
    if own:
        if function:
            scope.docs[function] = own
        return declaration
    if trailing or re.match(r"(static_assert|friend (class|struct)|using namespace)", head):
        return declaration
    if scan.is_plain(head, scope.name):
        return lines(declaration, 0, len(declaration))
    comment = scope.comment_for(head, function, declaration)
    return f"/** {comment} */ {declaration}" if comment else declaration


def converted_macro(text, at, use, scope):
    """Convert the use of a macro. Return its declarations and the position after it."""
    end = scan.closing(text, use.end() - 1)
    values = scan.arguments(text[use.end() : end - 1])
    if use[0] == "AMBIT_MODULE(":
        end = text.index(";", end) + 1
        name = values[0]
        return (f"/** The holder of {name}Impl, which has the documentation. */ "
                f"using {name} = NamedHolder<{name}Impl, {name}>;"), end
    if use[0] == "AMBIT_OPTION(":
        last = scan.end_of_declaration(text, end)
        return option(values, text[end:last], scope) + lines(text, at, last), last
    # Doxygen expands it. Without `;` it would lose a comment that follows.
    return text[at:end] + ("" if text.startswith(";", end) else ";"), end


def option(values, initializer, scope):
    """Return the declarations of an option: its setter, its getters and its field."""
    owner, kind, name = values[0], ", ".join(values[1:-1]), values[-1]
    doc = " ".join(scope.pending) or scope.comment_for(f"{name}(", name)
    default = " ".join(re.sub(r"^\s*=\s*|;$|(?<=\d)\.(?= )", "", initializer).split())
    if doc and default and "efault" not in doc:
        doc = f"{doc.removesuffix('.')}; default: `{default}`."
    comment = f"/** {doc} */ " if doc else ""
    return (f"public: {comment}{owner}& {name}({kind} value); {comment}const {kind}& {name}() const; "
            f"{comment}{kind}& {name}(); private: {kind} {name}_;")

