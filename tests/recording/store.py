"""The files of numbers in expected/: what an outcome is turned into, written and read again.

A file has sections. A column of JSON numbers stands in brackets as deep as its arrays are, so that
the path of every number can be told: [[1 2] [3 4]] under cells[].loss[] has cells[1].loss[0] = 3.
_ is an index that the column does not have. Of a column that is longer than LONG_COLUMN only every
so-many-th number stands there, behind the count of all of them and a checksum over all of them.
"""

import hashlib
import re
import textwrap
from dataclasses import dataclass, field

import extract

LONG_COLUMN = 600
SAMPLE = 60  # numbers kept of a longer one, about


@dataclass
class Column:
    path: str  # cells[].loss
    leaves: list  # (cells[0].loss, number) in document order; a sample of a long column
    count: int
    checksum: str = ""  # of a long column
    nested: str = ""  # the leaves in brackets, when they come from an outcome

    def values(self):
        return [value for _, value in self.leaves]


@dataclass
class Numbers:
    exit: int = 0
    err: list = field(default_factory=list)  # a list of numbers, as written, for each line
    out: list = field(default_factory=list)
    columns: list = field(default_factory=list)
    tables: list = field(default_factory=list)  # a list of numbers for each table


def numbers_of(outcome):
    """The numbers of an outcome, and the words of its JSON file as lines of text."""
    numbers = Numbers(outcome.exit,
                      extract.numbers_of_text(extract.normalised_error(outcome.err)),
                      extract.numbers_of_text(outcome.out))
    words = ""
    if outcome.json:
        for path, leaves in extract.columns_of_json(extract.leaves_of_json(outcome.json)).items():
            if any(extract.is_word(value) for _, value in leaves):
                words += f"{path}: {_nested(leaves)}\n"
            if not all(extract.is_word(value) for _, value in leaves):
                numbers.columns.append(_column(path, leaves))
    if outcome.page:
        numbers.tables = extract.numbers_of_page(outcome.page)
    return numbers, words


def checksum_of(values):
    return hashlib.sha256("\n".join(values).encode()).hexdigest()[:32]


def sampled(values):
    """The same ones of a column of this length, whenever it is asked."""
    return values[::-(-len(values) // SAMPLE)] if len(values) > LONG_COLUMN else values


def _column(path, leaves):
    named = [(extract.path_text(full), _escaped(value)) for full, value in leaves]
    checksum = checksum_of([v for _, v in named]) if len(named) > LONG_COLUMN else ""
    return Column(path, named, len(named), checksum, _nested(leaves))


def _escaped(value):
    """A leaf as one token: spaces and brackets of a string are escaped as JSON allows."""
    return value.replace(" ", "\\u0020").replace("[", "\\u005b").replace("]", "\\u005d")


def _nested(leaves):
    indexes = [([part for part in path if isinstance(part, int)], _escaped(value))
               for path, value in leaves]
    return _brackets(indexes, 0)


def _brackets(leaves, depth):
    if depth == len(leaves[0][0]):
        return leaves[0][1]
    groups = {}
    for leaf in leaves:
        groups.setdefault(leaf[0][depth], []).append(leaf)
    parts = [_brackets(groups[i], depth + 1) if i in groups else "_"
             for i in range(max(groups) + 1)]
    return "[" + " ".join(parts) + "]"


def _read_brackets(path, text):
    """The leaves of a column from its brackets."""
    leaves = []
    indexes = []  # where the next element stands, one for each open bracket
    for token in re.findall(r"[\[\]]|[^\s\[\]]+", text):
        if token == "[":
            indexes.append(0)
            continue
        if token == "]":
            indexes.pop()
        elif token != "_":
            places = iter(indexes)
            full = re.sub(r"\[\]", lambda _, p=places: f"[{next(p)}]", path)
            leaves.append((full, token))
        if indexes:
            indexes[-1] += 1
    return leaves


def _wrapped(text):
    return textwrap.fill(text, 100, break_long_words=False, break_on_hyphens=False) + "\n"


def to_text(numbers):
    parts = [f"# exit {numbers.exit}\n", "# standard error\n"]
    parts += [" ".join(line) + "\n" for line in numbers.err]
    parts.append("# standard output\n")
    parts += [" ".join(line) + "\n" for line in numbers.out]
    for column in numbers.columns:
        if column.checksum:
            parts.append(f"# long json {column.count} {column.checksum} {column.path}\n")
            parts.append(_wrapped(" ".join(sampled(column.values()))))
        else:
            parts.append(f"# json {column.path}\n" + _wrapped(column.nested))
    for table in numbers.tables:
        parts.append("# table\n" + _wrapped(" ".join(table)))
    return "".join(parts)


def from_text(text):
    numbers = Numbers()
    for section in text.removeprefix("# ").split("\n# "):
        head, _, body = section.partition("\n")
        kind, _, rest = head.partition(" ")
        if kind == "exit":
            numbers.exit = int(rest)
        elif kind == "standard":
            lines = [line.split() for line in body.splitlines()]
            setattr(numbers, "err" if rest == "error" else "out", lines)
        elif kind == "table":
            numbers.tables.append(body.split())
        elif kind == "long":
            _, count, checksum, path = rest.split(" ", 3)
            sample = [("", value) for value in body.split()]
            numbers.columns.append(Column(path, sample, int(count), checksum))
        elif kind == "json":
            leaves = _read_brackets(rest, body)
            numbers.columns.append(Column(rest, leaves, len(leaves)))
        else:
            raise ValueError(f"a section of no known kind: {head}")
    return numbers
