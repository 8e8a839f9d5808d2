#!/bin/sh
# discrepancy, as a user runs it: a killed run is continued to the bytes of an uninterrupted one.
#   e2e_discrepancy.sh <program> <empty folder to work in>
set -u
program=$1 work=$2
rm -rf "$work" && mkdir -p "$work" && cd "$work" || exit 1
failures=0

fail() {
  failures=$((failures + 1))
  echo "FAILED: $*" >&2
}

run() { "$program" --rungs article gaussian --layers 2 4 --seeds 0 1 2 --quiet "$@"; }

run --json whole || fail "a run: exit code $?"
[ "$(wc -l <whole)" -eq 25 ] || fail "$(wc -l <whole) lines for 24 cells and a header"

# Killed as soon as some cells are in the file.
run --threads 1 --json killed &
pid=$!
while kill -0 $pid 2>/dev/null; do
  [ -f killed ] && [ "$(wc -l <killed)" -ge 4 ] && break
  sleep 0.01
done
kill -9 $pid 2>/dev/null
wait $pid 2>/dev/null
kept=$(($(wc -l <killed) - 1))
[ "$kept" -ge 3 ] && [ "$kept" -lt 24 ] || fail "killed too early or too late: $kept cells"
printf '{"rung":"article","placem' >>killed  # as if it had died while writing
cp killed journal
run --json killed --resume || fail "--resume: exit code $?"
cmp -s whole killed || fail "the continued run's file differs"

# Other options are another run; without --resume it begins anew.
"$program" --rungs article --layers 2 4 --quiet --json journal --resume >out 2>err
[ $? -eq 2 ] && grep -q 'journal: was written by a run with other options' err ||
  fail "other options: $(cat err)"
run --json journal || fail "anew: exit code $?"
cmp -s whole journal || fail "the run that began anew differs"

for refused in '--resume' '--rungs nonsense' '--layers 3' '--layers 2 x' '--json no/such'; do
  # shellcheck disable=SC2086
  "$program" $refused >out 2>err
  [ $? -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] && [ ! -s out ] || fail "$refused: $(cat out err)"
done

"$program" --rungs article zero_qk --layers 2 3 --seeds 0 1 --report page.html >out || fail "report"
grep -q '^zero_qk ' out && grep -q '>zero_qk</th>' page.html || fail "the tables lack a rung"
"$program" --help >out || fail "--help"
[ "$(awk 'length > 80' out)" = "" ] || fail "--help is wider than 80 columns"

echo "$failures failures"
[ "$failures" -eq 0 ]
