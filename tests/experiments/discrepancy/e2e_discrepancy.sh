#!/bin/sh
# discrepancy, as a user runs it: a killed run is continued to the bytes of an uninterrupted one.
#   e2e_discrepancy.sh <program> <empty folder to work in>
set -u
program=$1 work=$2
. "$(dirname "$0")/../e2e.sh"
work_in "$work"

small='--ablations article gaussian --layers 2 4 --seeds 0 1 2 --quiet'
# shellcheck disable=SC2086  # several arguments
tiny() { "$program" $small "$@"; }

succeeds tiny --json whole

# Killed as soon as some configurations are in the log.
# shellcheck disable=SC2086
"$program" $small --threads 1 --resume log --json never &
pid=$!
wait_for_lines log 4 $pid
kill -9 $pid 2>/dev/null
wait $pid 2>/dev/null
kept=$(($(wc -l <log) - 1))
[ "$kept" -ge 3 ] && [ "$kept" -lt 24 ] || fail "killed too early or too late: $kept configurations"
[ ! -e never ] || fail 'a killed run wrote its result'
printf '{"configuration":{"ablation":"article","placem' >>log # as if it had died while writing
succeeds tiny --resume log --json continued
cmp -s whole continued || fail "the continued run's file differs"
[ "$(wc -l <log)" -eq 25 ] || fail "$(wc -l <log) lines for 24 configurations and a header"

# A log with a digit changed is not believed.
sed 's/"heads":4/"heads":2/' log >changed
refused_by "$program" 'has been changed in line 2' --ablations article gaussian --layers 2 4 --seeds 0 1 2 --resume changed

for refused in '--ablations nonsense' '--layers 3' '--layers 2 x' '--json no/such' '--resume whole'; do
  # shellcheck disable=SC2086
  refused_by "$program" '' $refused
done

succeeds "$program" --ablations article zero_qk --layers 2 3 --seeds 0 1 --report page.html
grep -q '^zero_qk ' out && grep -q '>zero_qk</th>' page.html || fail "the tables lack an ablation"
succeeds "$program" --help
narrow --help

finish
