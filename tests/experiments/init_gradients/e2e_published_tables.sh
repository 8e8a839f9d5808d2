#!/bin/sh
# The default run of init_gradients prints the published tables.
#   e2e_published_tables.sh <program> <expected text> <empty folder to work in>
#
# Equal in every character but for: the first line (name and version), the pixel mean (rounding
# noise around 0), the relative errors of C1 (below 1e-7) and centred C2 (below 2e-15).
set -u
program=$1 expected=$2 work=$3
rm -rf "$work" && mkdir -p "$work" || exit 1

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

"$program" >"$work/got" 2>"$work/errors" || fail "exit code $?: $(cat "$work/errors")"
[ ! -s "$work/errors" ] || fail "standard error is not empty: $(cat "$work/errors")"
head -n 1 "$work/got" | grep -Eqx 'normlab [0-9]+\.[0-9]+\.[0-9]+ \| seeds \[0, 1, 2, 3, 4\]' ||
  fail "first line: $(head -n 1 "$work/got")"

# below <limit> <how many> <sed pattern with one group>: the numbers that it finds, checked.
below() {
  numbers=$(sed -n "s/$3/\\1/p" "$work/got")
  echo "$numbers" | awk -v limit="$1" -v count="$2" '
    { value = $1 < 0 ? -$1 : $1 }
    $1 !~ /^-?[0-9.]+e[-+][0-9]+$/ || !(value < limit) { bad = 1 }
    END { exit bad || NR != count }' || fail "not $2 numbers below $1: $numbers"
}
below 1e-14 1 '^patches .* pixel mean \([^ ]*\) std .*'
below 1e-7 4 '^C1 .*, rel err \(.*\)$'
below 2e-15 1 '^C2 .* centred tokens \([^,]*\), .*'

# without_noise <file>: the text with those numbers, and the first line, left out.
without_noise() {
  sed -e 1d -e 's/pixel mean [^ ]*/pixel mean #/' -e '/^C1 /s/rel err .*/rel err #/' \
    -e '/^C2 /s/: centred tokens [^,]*/: centred tokens #/' "$1"
}
without_noise "$expected" >"$work/expected.compared"
without_noise "$work/got" >"$work/got.compared"
[ "$(wc -l <"$work/expected.compared")" -ge 30 ] || fail "$expected is too short to be the tables"
diff "$work/expected.compared" "$work/got.compared" || fail "the tables differ"
