"""Print every sentence that the program can print, with its place: read them from end to end before a release.

    python -m tests.sentences [words that the sentences must contain]

Sentences are collected from the source, not from runs: texts of Python that are not documentation, with ``{...}`` where
a value is put in and ``[one | other]`` where there is a choice, and texts of the pages' scripts.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).resolve().parent.parent / "src" / "robscore"
_FEWEST_WORDS = 3
_MESSAGES = ("Message", "UsageError", "ArgumentError")  # what they are called with, in order, is one text
_WORD = re.compile(r"(?<![\w.-])[A-Za-z][a-z’']*(?![\w-]|\.\w)")
_MARKUP = re.compile(r"<[^<>]*>")
_CODE = re.compile(r"-src '|np\.\w+ \||viewBox=|^\w+( \| \w+)+$|\w\|\w|\\s\*|->|; \w+; |font-size|<i |&& |, aria-")
_SCRIPT_TEXT = re.compile(r"`(?:[^`\\]|\\.)*`|\"(?:[^\"\\\n]|\\.)*\"")
_PAGE_TEXT = re.compile(r">([^<>{}]+)<")


class Sentence(NamedTuple):
    """A text that a reader may see, and where it is made."""

    path: Path
    line: int
    text: str


def sentences() -> Iterator[Sentence]:
    """All sentences, file by file."""
    for path in sorted(SOURCE.rglob("*")):
        if "vendor" in path.parts:
            continue
        if path.suffix == ".py":
            yield from _of_python(path)
        elif path.suffix == ".js":
            yield from _of_text(path, _SCRIPT_TEXT)
        elif path.suffix == ".html":
            yield from _of_text(path, _PAGE_TEXT)


def _of_python(path: Path) -> Iterator[Sentence]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    hidden = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
    for node in _outermost(tree, hidden):
        text = " ".join(_text(node).split())
        if _is_sentence(text):
            yield Sentence(path, node.lineno, text)


def _outermost(node: ast.AST, hidden: set[int]) -> Iterator[ast.expr]:
    """Expressions that are texts, but none that is part of another."""
    for child in ast.iter_child_nodes(node):
        if id(child) in hidden and isinstance(child, ast.Constant):
            continue
        if isinstance(child, ast.expr) and _is_text(child):
            yield child
        else:
            yield from _outermost(child, hidden)


def _is_text(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Add) and (_is_text(node.left) or _is_text(node.right))
    if isinstance(node, ast.IfExp):
        return _is_text(node.body) or _is_text(node.orelse)
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Call) and _called(node) in _MESSAGES)


def _called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")


def _text(node: ast.AST) -> str:
    """The text of an expression, as a reader sees it, with what is not known yet in braces."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(map(_text, values))
        case ast.FormattedValue(value=value):
            return _text(value) if isinstance(value, ast.IfExp) and _is_text(value) else f"{{{ast.unparse(value)}}}"
        case ast.BinOp(left=left, right=right) if _is_text(node):
            return _text(left) + _text(right)
        case ast.IfExp(body=body, orelse=orelse) if _is_text(node):
            return f"[{_text(body)} | {_text(orelse)}]"
        case ast.Call(args=args) if _called(node) == "Phrase":
            return f"[{' | '.join(map(_text, args))}]"
        case ast.Call(args=args) if _called(node) == "Setting":
            values = [*args[1:], *(keyword.value for keyword in node.keywords)]
            return "=".join(map(_text, [args[0], *values]))
        case ast.Call(args=args) if _called(node) == "ArgumentError":
            return " ".join(map(_text, args))
        case ast.Call(args=args) if _called(node) in _MESSAGES:
            return "".join(map(_text, args))
    return f"{{{ast.unparse(node)}}}"


def _of_text(path: Path, pattern: re.Pattern[str]) -> Iterator[Sentence]:
    content = path.read_text(encoding="utf-8")
    for found in pattern.finditer(content):
        text = " ".join((found[1] if found.lastindex else found[0][1:-1]).split())
        if _is_sentence(text):
            yield Sentence(path, content.count("\n", 0, found.start()) + 1, text)


def _is_sentence(text: str) -> bool:
    plain = _MARKUP.sub("", re.sub(r"\{[^{}]*\}", "", text))
    return len(_WORD.findall(plain)) >= _FEWEST_WORDS and not _CODE.search(plain)


def main(wanted: str) -> None:
    """Print the sentences that contain some words."""
    for sentence in sentences():
        if wanted in sentence.text:
            print(f"{sentence.path.relative_to(SOURCE)}:{sentence.line}\n    {sentence.text}")


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]))
