#!/bin/sh
# The command line of init_gradients on tiny sizes: what is refused, and how; what is printed where.
#   e2e_command_line.sh <program> <empty folder to work in>
set -u
program=$1 work=$2
. "$(dirname "$0")/e2e.sh"
work_in "$work"

tiny() { "$program" --images 2 --layers 1 --width 4 --heads 2 --ffn 3 "$@"; }

# --images 1797 with these sizes would take minutes.
refused() {
  part=$1
  shift
  refused_by "$program" "$part" "$@"
}

# --- Numbers and names
refused '--width: must be a positive multiple of --heads, got 50 with 4 heads' --width 50
refused '--width: must be a whole number from 1 to 65536, got 0' --width 0
refused '--width: must be a whole number from 1 to 65536, got 1000000000000' --width 1000000000000
refused 'weights per layer must be at most 1073741824 weights' --width 65536 --ffn 65536
refused '--width: must be a whole number from 1 to 65536, got 6.5' --width 6.5
refused '--width: must be given once' --width 4 --width 8
refused '--heads: must be a whole number from 1 to 65536, got 0' --heads 0
refused '--ffn: must be a whole number from 1 to 65536, got -3' --ffn -3
refused '--seeds: needs a value, got none' --seeds
refused '--seeds: must be a whole number from 0 to 18446744073709551615, got abc' --seeds 0 abc
refused '--seeds: must be a whole number from 0 to 18446744073709551615, got -1' --seeds -1
refused ', got 18446744073709551616' --seeds 18446744073709551616
refused '--seeds: must be a whole number from 0 to 18446744073709551615, got out.json' \
  --seeds 0 1 out.json
refused '--seeds: must differ from one another, got 7 twice' --seeds 7 1 7
refused '--images: must be a whole number from 1 to' --images 0
refused '--images: must be at most 1797, as many as there are, got 5000' --images 5000
refused '--layers: must be a whole number from 1 to 10000, got 0' --layers 6 0
refused '--layers: must be a whole number from 1 to 10000, got 99999999999999999999' \
  --layers 99999999999999999999
refused '--layers: must differ from one another, got 3 twice' --layers 3 3
refused '--profile-layers: must be a whole number from 1 to 10000, got 0' --profile-layers 0
refused '--threads: must be a whole number from 1 to 1024, got 0' --threads 0
refused '--threads: must be a whole number from 1 to 1024, got 99999999999' --threads 99999999999
refused '--norm: must be' --norm foo
refused ', got foo' --norm foo
refused '--norm: must be' --norm 0
refused '--placement: must be' --placement sideways
refused ', got sideways' --placement sideways
refused '--placement: must differ from one another, got pre twice' --placement pre pre
for scale in 0 -1 -.5 nan inf; do
  refused "--input-scale: must be positive numbers, got $scale" --input-scale $scale
done
for scale in abc 1e400 1,5 0x10; do
  refused "--input-scale: must be unit, 1/sqrt(d) or positive numbers, got $scale" \
    --input-scale $scale
done
refused ', got nothing' --input-scale ''
refused '--input-scale: must differ from one another, got unit and 1.0, which are both 1' \
  --input-scale unit 1.0
refused 'not expected: --wat' --wat
refused 'not expected: stray' stray

# --- Files
refused 'no/such.csv: cannot be read. HINT: ' --digits no/such.csv
refused "$work: cannot be read. HINT: " --digits "$work"
refused '--digits: must name a file, got nothing' --digits ''
image=$(awk 'BEGIN { for (i = 0; i < 64; ++i) printf "0,"; print "3" }')
printf '%s\n%s\n1,2,x\n' "$image" "$image" >bad.csv
refused 'bad.csv:3: ' --digits bad.csv
: >empty.csv
refused 'empty.csv' --digits empty.csv
refused 'missing/out.json: cannot be written: No such file or directory. HINT: ' \
  --json missing/out.json
refused "$work: cannot be written: Is a directory. HINT: " --json "$work"
refused '--json: must name a file, got nothing' --json ''

# --- Standard output
run tiny
cp out text
[ "$code" -eq 0 ] && [ -s text ] && [ ! -s err ] || fail "a tiny run: $code $(cat err)"
run tiny --quiet
[ "$code" -eq 0 ] && [ ! -s out ] && [ ! -s err ] || fail "--quiet: $code, output or errors"
checks=$((checks + 4))
tiny 2>err >/dev/full
[ $? -eq 2 ] && grep -q 'standard output: cannot be written. HINT: ' err || fail "/dev/full"
"$program" 2>err >&-
[ $? -eq 2 ] && grep -q 'standard output: is closed. HINT: ' err || fail "closed output: $(cat err)"
"$program" --help 2>err >/dev/full
[ $? -eq 2 ] || fail "--help into /dev/full"
tiny --quiet --json /dev/full 2>err
[ $? -eq 2 ] && grep -q '/dev/full: cannot be written: No space left' err || fail "JSON: $(cat err)"

succeeds "$program" --version
grep -Eqx 'normlab [0-9]+\.[0-9]+\.[0-9]+' out || fail "--version: $(cat out)"
succeeds "$program" --help
narrow --help
for option in --seeds --layers --profile-layers --width --heads --ffn --images --input-scale \
  --placement --norm --digits --threads --json --quiet --version --help 'Exit code'; do
  grep -q -e "$option" out || fail "--help does not tell of $option"
done

# --- JSON and threads
for threads in 1 2 3; do
  succeeds tiny --threads $threads --json $threads.json
  cmp -s text out || fail "the text of $threads threads differs"
  cmp -s 1.json $threads.json || fail "the JSON of $threads threads differs"
done
succeeds tiny --quiet --json /dev/stdout
cmp -s 1.json out || fail "--json /dev/stdout"
[ "$(ls ./*.tmp* 2>/dev/null)" = "" ] || fail "temporary files are left: $(ls ./*.tmp*)"

succeeds "$program" --layers 3 7 --width 48 --heads 3 --ffn 7 --images 2 --seeds 4294967301 \
  --quiet --json depths.json
depths=$(sed -n '/"points"/,$s/^ *"layers": \([0-9]*\),$/\1/p' depths.json | sort -n | uniq -c | tr -s ' \n' ' ')
[ "$depths" = " 4 3 4 7 " ] || fail "--layers 3 7 computed (count depth):$depths"
grep -q '"seed": 4294967301,' depths.json || fail "the seed is not in the JSON"

# An overflowing stream: the run ends, its JSON holds strings for what is not finite, and it says so.
run tiny --quiet --placement pre --seeds 0 --input-scale 1e200 --json overflow.json
[ "$code" -eq 1 ] && grep -q '"inf"' overflow.json && ! grep -q null overflow.json &&
  [ "$(cat err)" = 'init_gradients: some numbers are not finite: use a smaller --input-scale' ] ||
  fail "--input-scale 1e200: $code: $(cat err)"

# The input is not overwritten, and no output by another.
refused '--json: must name another file than --digits' --digits same.csv --json same.csv
refused '--report: must name another file than --json' --json same --report same

# --- Progress, on a terminal only: the bar comes, and its line is wiped in the end
if command -v script >/dev/null; then
  checks=$((checks + 2))
  line="'$program' --images 2 --layers 1 --width 4 --heads 2 --ffn 3"
  script -qec "$line 2>&1 >/dev/null" typescript >terminal </dev/null
  grep -q '\[####' terminal && grep -q '100 %' terminal || fail "no bar on a terminal"
  wiped=$(printf '\r\033[K')
  [ "$(tail -c 4 terminal)" = "$wiped" ] || fail "the bar is not wiped: $(tail -c 20 terminal)"
  script -qec "$line --quiet" typescript >terminal </dev/null
  [ ! -s terminal ] || fail "--quiet writes to a terminal: $(cat terminal)"
else
  echo "no script(1): the progress bar on a terminal is not checked"
fi

finish
