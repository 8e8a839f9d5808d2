#!/bin/sh
# The command lines of mean_field and lemmas on tiny sizes: what is refused, and how; exit codes;
# the same bytes for every number of threads.
#   e2e_theory_programs.sh <mean_field> <lemmas> <empty folder to work in>
set -u
mean_field=$1 lemmas=$2 work=$3
. "$(dirname "$0")/e2e.sh"
work_in "$work"

refused_by "$mean_field" '--layers: must be a whole number from 1 to 1000, got 0' --layers 0
refused_by "$mean_field" '--seeds: must be a whole number from 1 to 100000, got none' --seeds none
refused_by "$mean_field" '--placement: must be one of post, pre, res-post, got sandwich' --placement sandwich
refused_by "$mean_field" '--placement: must differ from one another, got pre twice' --placement pre pre
refused_by "$mean_field" '--input-correlation: must be from 0 to 1, got 1.5' --input-correlation 1.5
refused_by "$mean_field" '--input-correlation: must be a finite number of at least 0, got nan' \
  --input-correlation nan
refused_by "$mean_field" 'weights per layer must be at most' --width 8192 --layers 1000
refused_by "$mean_field" '--width: must not be given with --network article' --network article --width 8
refused_by "$mean_field" '--images: must be given with --network article' --images 8
refused_by "$mean_field" '--images: must be a whole number from 1 to 1797, got 5000' --network article --images 5000
refused_by "$mean_field" '--report: must name another file than --json' --json same --report same
refused_by "$mean_field" 'missing/out.json: cannot be written' --json missing/out.json
refused_by "$lemmas" '--seeds: must be a whole number from 3 to 100000, got 2' --seeds 2
refused_by "$lemmas" '--layers: must name at least two, to fit an exponent, got 1' --layers 6
refused_by "$lemmas" '--widths: must differ from one another, got 8 twice' --widths 8 8
refused_by "$lemmas" '--widths: must be a whole number from 3 to 8192, got 2' --widths 2 8
refused_by "$lemmas" '--input-correlation: must be from 0 to 1, got 2' --input-correlation 2
refused_by "$lemmas" 'not expected: --wat' --wat

small() { "$mean_field" --layers 2 --width 8 --seeds 3 --tokens 2 --sequences 2 "$@"; }
article() { "$mean_field" --network article --layers 1 --images 2 --seeds 2 "$@"; }
claims() { "$lemmas" --layers 1 3 --width 16 --widths 8 16 --seeds 3 --tokens 2 --sequences 2 "$@"; }
for run_small in small article claims; do
  for threads in 1 2 3; do
    run $run_small --threads $threads --json $run_small.$threads.json
    [ "$code" -eq 0 ] || { [ $run_small = claims ] && [ "$code" -eq 1 ]; } || fail "$run_small: exit code $code"
    [ $threads -ne 1 ] || cp out $run_small.txt
    cmp -s $run_small.txt out || fail "the text of $run_small differs on $threads threads"
    cmp -s $run_small.1.json $run_small.$threads.json || fail "the JSON of $run_small differs on $threads threads"
  done
  run $run_small --quiet
  [ ! -s out ] || fail "$run_small --quiet prints"
done
for program in "$mean_field" "$lemmas"; do
  succeeds "$program" --help
  narrow --help
done

finish
