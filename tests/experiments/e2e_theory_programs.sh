#!/bin/sh
# The command lines of mean_field and lemmas on tiny sizes: what is refused, and how; exit codes;
# the same bytes for every number of threads.
#   e2e_theory_programs.sh <mean_field> <lemmas> <empty folder to work in>
set -u
mean_field=$1 lemmas=$2 work=$3
rm -rf "$work" && mkdir -p "$work" && cd "$work" || exit 1
failures=0

fail() {
  failures=$((failures + 1))
  echo "FAILED: $*" >&2
}

# refused <program> <part of the message> <arguments...>: exit code 2, one line on standard error,
# nothing on standard output, nothing computed.
refused() {
  program=$1 part=$2
  shift 2
  timeout 60 "$program" "$@" >out 2>err
  code=$?
  [ "$code" -eq 2 ] || fail "$*: exit code $code"
  [ "$(wc -l <err)" -eq 1 ] || fail "$*: $(wc -l <err) lines on standard error: $(cat err)"
  [ ! -s out ] || fail "$*: standard output is not empty"
  case $(cat err) in
    "$(basename "$program"): "*"$part"*) ;;
    *) fail "$*: \"$part\" is not in: $(cat err)" ;;
  esac
}

refused "$mean_field" '--layers: must be a whole number from 1 to 1000, got 0' --layers 0
refused "$mean_field" '--seeds: must be a whole number from 1 to 100000, got none' --seeds none
refused "$mean_field" '--placement: must be one of post, pre, res-post, got sandwich' --placement sandwich
refused "$mean_field" '--placement: must differ from one another, got pre twice' --placement pre pre
refused "$mean_field" '--input-correlation: must be from 0 to 1, got 1.5' --input-correlation 1.5
refused "$mean_field" '--input-correlation: must be a finite number of at least 0, got nan' \
  --input-correlation nan
refused "$mean_field" 'weights per layer must be at most' --width 8192 --layers 1000
refused "$mean_field" '--width: must not be given with --network article' --network article --width 8
refused "$mean_field" '--images: must be given with --network article' --images 8
refused "$mean_field" '--images: must be from 1 to 1797, got 5000' --network article --images 5000
refused "$mean_field" '--report: must name another file than --json' --json same --report same
refused "$mean_field" 'missing/out.json: cannot be written' --json missing/out.json
refused "$lemmas" '--seeds: must be a whole number from 3 to 100000, got 2' --seeds 2
refused "$lemmas" '--layers: must name at least two, to fit an exponent, got 1' --layers 6
refused "$lemmas" '--widths: must differ from one another, got 8 twice' --widths 8 8
refused "$lemmas" '--widths: must be a whole number from 3 to 8192, got 2' --widths 2 8
refused "$lemmas" '--input-correlation: must be from 0 to 1, got 2' --input-correlation 2
refused "$lemmas" 'not expected: --wat' --wat

small() { "$mean_field" --layers 2 --width 8 --seeds 3 --tokens 2 --sequences 2 "$@"; }
article() { "$mean_field" --network article --layers 1 --images 2 --seeds 2 "$@"; }
claims() { "$lemmas" --layers 1 3 --width 16 --widths 8 16 --seeds 3 --tokens 2 --sequences 2 "$@"; }
for run in small article claims; do
  for threads in 1 2 3; do
    $run --threads $threads --json $run.$threads.json >$run.$threads.txt 2>err
    code=$?
    [ "$code" -eq 0 ] || { [ $run = claims ] && [ "$code" -eq 1 ]; } || fail "$run: exit code $code"
    cmp -s $run.1.txt $run.$threads.txt || fail "the text of $run differs on $threads threads"
    cmp -s $run.1.json $run.$threads.json || fail "the JSON of $run differs on $threads threads"
  done
  $run --quiet >out 2>err
  [ ! -s out ] || fail "$run --quiet prints"
done
for program in "$mean_field" "$lemmas"; do
  "$program" --help >out || fail "$program --help"
  [ "$(awk 'length > 80' out)" = "" ] || fail "--help is wider than 80 columns: $(awk 'length > 80' out)"
done
[ "$failures" -eq 0 ] || exit 1
echo "all as expected"
