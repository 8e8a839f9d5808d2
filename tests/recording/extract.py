"""What is recorded of an output: its numbers, apart from its words.

A text, a JSON file and a report page each become numbers in an order that does not depend on any
word, so that headers, captions, sentences and names of keys can change while no number does.
"""

import json
import re
from html.parser import HTMLParser

# A number that stands by itself: 12, -0.5, +3.1e-06, 10,000, 97.2%, inf, nan. Brackets, commas and
# the like around it are taken off before. W2, L2, x^2, 2x and 0.1.0 are words.
_NUMBER = re.compile(
    r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?%?|[+-]?(?:inf|nan)")
_AROUND = "()[]{}<>,;:'\"|*"

# Of these lines on standard error every number depends on the clock.
_TIMED = re.compile(r"tokens per second")


def numbers_of_text(text):
    """The numbers of a text as they are written, a list for each line that has any."""
    lines = ([number for word in line.split() for number in _numbers_of_word(word)]
             for line in text.splitlines())
    return [line for line in lines if line]


def _numbers_of_word(word):
    """One number, or several as in 27.3/3.1 and 0.90(0.18), or none."""
    core = word.strip(_AROUND)
    if core.endswith(".") and _NUMBER.fullmatch(core[:-1]):  # the end of a sentence
        core = core[:-1]
    parts = [part for part in re.split(r"[/()\[\]]", core) if part]
    return parts if all(_NUMBER.fullmatch(part) for part in parts) else []


def normalised_error(text):
    """Standard error without what a clock says."""
    return "".join(re.sub(r"\d+(\.\d+)?", "#", line) if _TIMED.search(line) else line
                   for line in text.splitlines(keepends=True))


# --- JSON


def leaves_of_json(text):
    """A list of (path, value) in document order.

    A path is a tuple of keys (str) and indexes (int). A value is text: a number in all of its
    digits, or a literal, or a string in quotes. A file of JSON lines counts as one array.
    """
    try:
        document = json.loads(text, parse_constant=str)
    except json.JSONDecodeError:
        document = [json.loads(line, parse_constant=str) for line in text.splitlines() if line]
    leaves = []
    _collect(document, (), leaves)
    return leaves


def _collect(value, path, leaves):
    if isinstance(value, dict):
        for key, child in value.items():
            _collect(child, path + (key,), leaves)
    elif isinstance(value, list):
        for index, child in enumerate(value):
            _collect(child, path + (index,), leaves)
    else:
        leaves.append((path, _leaf(value)))


def _leaf(value):
    # repr() of a float is the shortest text that reads back as the same 64 bits. 1.0 and 1 are the
    # same number, written by different hands.
    if isinstance(value, float):
        return repr(value)[:-2] if repr(value).endswith(".0") else repr(value)
    return json.dumps(value)


def is_word(value):
    """Whether a leaf is a string that says something other than a number."""
    return value.startswith('"') and value.strip('"') not in ("inf", "-inf", "nan", "-nan")


def path_text(path, indexes=True):
    """cells[3].loss, or cells[].loss for the column of all cells."""
    parts = []
    for part in path:
        if isinstance(part, int):
            parts.append(f"[{part}]" if indexes else "[]")
        else:
            parts.append(("." if parts else "") + part)
    return "".join(parts)


def columns_of_json(leaves):
    """Leaves whose paths differ in indexes only, together: {"cells[].loss": [leaf, ...]}."""
    columns = {}
    for leaf in leaves:
        columns.setdefault(path_text(leaf[0], indexes=False), []).append(leaf)
    return columns


# --- Report pages


class _Cells(HTMLParser):
    """The texts of all table cells of a page, a list for each table."""

    def __init__(self):
        super().__init__()
        self.tables = []
        self.in_cell = False

    def handle_starttag(self, tag, attrs):
        if tag == "table":
            self.tables.append([])
        elif tag in ("td", "th") and self.tables:
            self.tables[-1].append("")
            self.in_cell = True

    def handle_endtag(self, tag):
        if tag in ("td", "th", "table"):
            self.in_cell = False

    def handle_data(self, data):
        if self.in_cell:
            self.tables[-1][-1] += data


def numbers_of_page(text):
    """The numbers in the cells of each table of a page."""
    cells = _Cells()
    cells.feed(text)
    cells.close()
    return [[number for cell in table for line in numbers_of_text(cell) for number in line]
            for table in cells.tables]
