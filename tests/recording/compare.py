"""What differs between the numbers that are recorded and those of a run, as sentences."""

import math
import re
from collections import Counter
from decimal import Decimal, InvalidOperation

import store

# On a machine of other kernels sums are rounded otherwise. A number of a JSON file may then differ
# by this much relative to its size. Below NOISE it may be nothing but rounding around a true 0.
RELATIVE = 1e-9
NOISE = 1e-9
PRINTED_NOISE = Decimal("1e-6")
# Whether a sum that overflows ends as inf or as nan depends on the kernel, too.

SHOWN = 3  # differences that are told of one place


class Comparison:
    """Compares the outcomes of one run; renamed is a list of (pattern, replacement)."""

    def __init__(self, exact, renamed=()):
        self.exact = exact
        self.renamed = renamed

    def differences(self, old, new, notes):
        """Sentences, none if no number differs. What was matched with what goes to notes."""
        found = []
        if old.exit != new.exit:
            found.append(f"the exit code was {old.exit} and is {new.exit}")
        found += self._lines("standard error", old.err, new.err)
        found += self._lines("standard output", old.out, new.out)
        found += self._columns(old.columns, new.columns, notes)
        found += self._tables(old.tables, new.tables)
        return found

    # --- Two numbers

    def _same(self, old, new):
        """Of JSON files."""
        if old == new or self.exact:
            return old == new
        try:
            a, b = float(old.strip('"')), float(new.strip('"'))
        except ValueError:
            return False
        if not (math.isfinite(a) and math.isfinite(b)):
            return not (math.isfinite(a) or math.isfinite(b))
        return abs(a - b) <= RELATIVE * max(abs(a), abs(b)) or max(abs(a), abs(b)) < NOISE

    def _same_printed(self, old, new):
        if old == new or self.exact:
            return old == new
        try:
            a, b = (Decimal(x.replace(",", "").rstrip("%")) for x in (old, new))
        except InvalidOperation:
            return False
        if not (a.is_finite() and b.is_finite()):
            return not (a.is_finite() or b.is_finite())
        last_digit = max(Decimal((0, (1,), x.as_tuple().exponent)) for x in (a, b))
        return abs(a - b) <= last_digit or max(abs(a), abs(b)) < PRINTED_NOISE

    # --- Text and tables

    def _lines(self, where, old, new):
        """Numbers in their order, whatever the lines they stand in."""
        old_flat = [(n, i) for i, line in enumerate(old) for n in line]
        new_flat = [number for line in new for number in line]
        found = []
        for (number, line), now in zip(old_flat, new_flat):
            if not self._same_printed(number, now):
                found.append(f"{where}: {number} became {now}, in the line of numbers "
                             f"{' '.join(old[line])}")
        if len(old_flat) != len(new_flat):
            found = found[:1] + [f"{where}: there were {len(old_flat)} numbers, and are "
                                 f"{len(new_flat)}"]
        return _some(found, where)

    def _tables(self, old, new):
        """The numbers of all tables of a page, in any order."""
        before = [number for table in old for number in table]
        after = [number for table in new for number in table]
        gone, come = Counter(before) - Counter(after), Counter(after) - Counter(before)
        if not self.exact and len(before) == len(after):
            pairs = zip(sorted(gone.elements(), key=_size), sorted(come.elements(), key=_size))
            if all(self._same_printed(a, b) for a, b in pairs):
                return []
        found = []
        for numbers, what in ((gone, "are gone"), (come, "are new")):
            if numbers:
                listed = list(numbers.elements())
                found.append(f"tables of the page: {len(listed)} numbers {what}: "
                             f"{' '.join(listed[:8])}{' ...' if len(listed) > 8 else ''}")
        return found

    # --- JSON

    def _columns(self, old, new, notes):
        """Every column of old numbers must be one of the new ones, of whatever name.

        A path that the list of renamed keys knows must lead to the same number under its new name.
        Else a column of the same path is taken, and else any that no other column was matched with.
        """
        leaves = {path: value for column in new for path, value in column.leaves}
        left = {column.path: column for column in new}
        found, homeless = [], []
        for column in old:
            if any(self._renamed(path, value, leaves) for path, value in column.leaves):
                found += self._renamed_column(column, leaves, notes)
            elif column.path in left and self._same_column(column, left[column.path]):
                del left[column.path]
            else:
                homeless.append(column)
        for column in homeless:
            for path, other in left.items():
                if self._same_column(column, other):
                    notes.append(f"json: {column.path} is now {path}")
                    del left[path]
                    break
            else:
                found.append(f"json: no column has the {column.count} numbers of {column.path}"
                             + self._hint(column, new))
        notes += [f"json: {path} is new" for path in left]
        return found

    def _same_column(self, old, new):
        if old.count != new.count:
            return False
        values = new.values()
        if old.checksum:
            if old.checksum == store.checksum_of(values):
                return True
            if self.exact:
                return False
            values = store.sampled(values)
        return all(self._same(a, b) for a, b in zip(old.values(), values))

    def _renamed(self, path, value, leaves):
        """Of several lines that match, the first whose new path is there and has the number."""
        names = [match.expand(replacement) for pattern, replacement in self.renamed
                 if (match := re.fullmatch(pattern, path))]
        there = [name for name in names if name in leaves]
        equal = [name for name in there if self._same(value, leaves[name])]
        return next(iter(equal + there + names), None)

    def _renamed_column(self, column, leaves, notes):
        found = []
        for path, value in column.leaves:
            now = self._renamed(path, value, leaves) or path
            if now not in leaves:
                found.append(f"json: {path} should now be {now}, which is not there")
            elif not self._same(value, leaves[now]):
                found.append(f"json: {path} was {value}, and {now} is {leaves[now]}")
        if not found:
            notes.append(f"json: {column.path} was renamed and has the same {column.count} numbers")
        return _some(found, "json: " + column.path)

    def _hint(self, column, new):
        """Why, as far as it can be told."""
        for other in new:
            if other.path == column.path:
                if other.count != column.count:
                    return f": there are {other.count} of that name"
                values = store.sampled(other.values()) if column.checksum else other.values()
                for (path, value), now in zip(column.leaves, values):
                    if not self._same(value, now):
                        return f": {path or 'of the sample, one'} was {value} and is {now}"
                return ": it differs between the numbers of the sample"
        return ", nor is there one of that name"


def _size(number):
    try:
        return float(number.replace(",", "").rstrip("%"))
    except ValueError:
        return 0.0


def _some(found, where):
    if len(found) <= SHOWN:
        return found
    return found[:SHOWN] + [f"{where}: {len(found) - SHOWN} differences more"]


def read_renamed(path):
    """Lines "pattern -> replacement"; regular expressions of whole paths, as cells[3].loss."""
    rules = []
    for line in path.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            pattern, _, replacement = line.partition(" -> ")
            rules.append((pattern.strip(), replacement.strip()))
    return rules
