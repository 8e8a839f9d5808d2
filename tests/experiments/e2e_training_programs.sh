#!/bin/sh
# warmup, gradient_flow and train_translation on tiny sizes, as a user runs them: the same bytes for
# every number of threads and after a kill, what is refused, and what is written.
#   e2e_training_programs.sh <warmup> <gradient_flow> <train_translation> <empty folder to work in>
set -u
warmup=$1 gradient_flow=$2 train_translation=$3 work=$4
. "$(dirname "$0")/e2e.sh"
work_in "$work"

# same_for_threads <name of a function that runs a program>: its text and JSON.
same_for_threads() {
  for threads in 1 2 3; do
    succeeds "$1" --threads $threads --json "$1.$threads.json"
    [ $threads -ne 1 ] || cp out "$1.txt"
    cmp -s "$1.txt" out || fail "the text of $1 differs on $threads threads"
    cmp -s "$1.1.json" "$1.$threads.json" || fail "the JSON of $1 differs on $threads threads"
  done
  [ -s "$1.txt" ] || fail "$1 prints nothing"
  grep -v '^  [^(]' "$1.txt" >out # without translations, which are as long as they are
  narrow "the text of $1"
}

# --- warmup
# 2 placements x 2 lengths x 2 rates of a run of 15 steps.
small='--task digits --layers 1 --optimizer adam --warmup 0 5 --lr 0.001 1e200 --seeds 1
  --epochs 1 --batch-size 100 --width 4'
# shellcheck disable=SC2086  # several arguments
grid() { "$warmup" $small "$@"; }
same_for_threads grid
[ "$(grep -c '"outcome"' grid.1.json)" -eq 8 ] || fail 'not one row for each of 8 runs'
[ "$(grep -c '"outcome": "diverged"' grid.1.json)" -eq 4 ] || fail 'a rate of 1e200 does not diverge'
[ "$(grep -c '"epoch": ' grid.1.json)" -eq 4 ] || fail 'not one row for each epoch'

succeeds "$warmup" --task numbers --layers 2 --placement post --optimizer radam --warmup 0 --lr 0.001 \
  --seeds 0 --epochs 1 --batch-size 200 --width 4 --quiet

# shellcheck disable=SC2086
"$warmup" $small --quiet --threads 1 --resume runs --json never &
pid=$!
wait_for_lines runs 3 $pid
kill -9 $pid 2>/dev/null
wait $pid 2>/dev/null
kept=$(($(wc -l <runs) - 1))
[ "$kept" -ge 2 ] && [ "$kept" -lt 8 ] || fail "killed too early or too late: $kept runs"
[ ! -e never ] || fail 'a killed run wrote its result'
printf '{"configuration":{"task":"numb' >>runs # as if it had died while writing
succeeds grid --resume runs --json resumed.json
cmp -s grid.1.json resumed.json || fail 'the resumed grid differs'
[ "$(wc -l <runs)" -eq 9 ] || fail "$(wc -l <runs) lines for 8 runs and a header"
sed '2s/"chance_loss":[^,]*/"chance_loss":null/' runs >broken
for log in broken grid.txt grid.1.json; do
  cp $log before
  run grid --resume $log
  [ "$code" -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] && [ ! -s out ] || fail "$log is resumed from: $(cat err)"
  cmp -s before $log || fail "$log was changed"
done
refused_by "$warmup" 'epochs is 1 in place of 3' --resume runs

refused_by "$warmup" '--task: must be digits or numbers, got letters' --task letters
refused_by "$warmup" '--task: must differ from one another, got digits twice' --task digits digits
refused_by "$warmup" '--placement: must be one of post, pre' --placement sideways
refused_by "$warmup" '--placement: must be post or pre for a decoder, got sandwich' \
  --placement sandwich
refused_by "$warmup" '--layers: must be even for numbers, half of them in the decoder, got 3' --layers 3
refused_by "$warmup" '--layers: must be a whole number from 1 to 1000, got 0' --layers 0
refused_by "$warmup" '--optimizer: must be one of sgd, adam' --optimizer lion
refused_by "$warmup" '--warmup: must be at most the' --warmup 100000
refused_by "$warmup" '--warmup: must differ from one another, got 5 twice' --warmup 5 5
refused_by "$warmup" '--lr: must be a finite number of at least 0, got nan' --lr nan
refused_by "$warmup" '--sgd-lr: must be a finite number of at least 0, got -1' --sgd-lr -1
refused_by "$warmup" '--seeds: must differ from one another' --seeds 1 4294967297
refused_by "$warmup" '--epochs: must be a whole number from 1 to' --epochs 0
refused_by "$warmup" '--batch-size: must be a whole number from 1 to' --batch-size none
refused_by "$warmup" '--width: must be a multiple of the 4 heads, got 10' --width 10
refused_by "$warmup" '--threads: must be a whole number from 1 to 1024, got 0' --threads 0
refused_by "$warmup" 'missing/out.json: cannot be written' --json missing/out.json
refused_by "$warmup" '--json: must name another file than --resume' --json same --resume ./same

# --- gradient_flow
flow() { "$gradient_flow" --layers 2 --width 4 --steps 6 --every 3 --warmup 0 3 "$@"; }
same_for_threads flow
[ "$(grep -c '"w2_update_ratio"' flow.1.json)" -eq 12 ] || fail 'not three snapshots of each of four runs'
refused_by "$gradient_flow" '--warmup: must be at most the 5 steps of the run' --steps 5 --warmup 6
refused_by "$gradient_flow" '--steps: must be a whole number from 1 to' --steps 0
refused_by "$gradient_flow" '--every: must be a whole number from 1 to' --every 0
refused_by "$gradient_flow" '--lr: must be a finite number of at least 0, got nan' --lr nan
refused_by "$gradient_flow" '--width: must be a multiple of the 4 heads, got 10' --width 10
refused_by "$gradient_flow" '--norm: must be one of layernorm' --norm foo
refused_by "$gradient_flow" '--placement: must differ from one another, got pre twice' \
  --placement pre pre
refused_by "$gradient_flow" '--optimizer: must be one of sgd, adam' --optimizer lion
refused_by "$gradient_flow" '--seed: must be a whole number from 0 to' --seed -1
refused_by "$gradient_flow" 'must name another file than --json' --json same --report same

# --- train_translation
model='--merges 30 --layers 1 --width 8 --batch-size 20'
# shellcheck disable=SC2086
tiny() { "$train_translation" $model --examples 60 --warmup 2 --epochs 3 "$@"; }
same_for_threads tiny
for line in 'numbers: 54 sentences to train on, 6 to test' '^ *BLEU .* exact %  *sentences$'; do
  grep -q "$line" tiny.txt || fail "the text has no line with $line: $(cat tiny.txt)"
done
succeeds tiny --text dates --tokens characters --tied all --beam 1 --label-smoothing 0

succeeds tiny --quiet --json whole.json --checkpoint whole.safetensors --checkpoint-every 2
cmp -s whole.json tiny.1.json || fail 'a checkpoint changes the run'
# shellcheck disable=SC2086
longer() { exec "$train_translation" $model --examples 60 --warmup 2 --epochs 10 --quiet --checkpoint-every 1 "$@"; }
(longer --checkpoint longer.safetensors --json longer.json) || fail "a longer run: exit code $?"
longer --checkpoint killed.safetensors --json never &
pid=$!
while [ ! -s killed.safetensors ] && kill -0 $pid 2>/dev/null; do sleep 0.01; done
kill -9 $pid 2>/dev/null
wait $pid 2>/dev/null
[ ! -e never ] || fail 'a killed run wrote its result'
cmp -s longer.safetensors killed.safetensors && fail 'the run was over before it was killed'
rm -f normlab-*.tmp  # of the killed run, if it was writing (docs/checkpoints.md)
succeeds "$train_translation" --quiet --resume killed.safetensors --checkpoint killed.safetensors \
  --json killed.json
cmp -s longer.safetensors killed.safetensors || fail 'the weights of a resumed run differ'
cmp -s longer.json killed.json || fail 'the JSON of a resumed run differs'

for other in '--text dates' '--examples 61' '--tokens characters' '--merges 31' '--norm rmsnorm' \
  '--placement post' '--layers 2' '--width 4' '--tied all' '--label-smoothing 0.2' '--beam 3' \
  '--dropout 0' '--optimizer sgd' '--lr 1' '--schedule linear' '--warmup 3' '--epochs 4' \
  '--batch-size 10' '--clip 2' '--seed 1'; do
  # shellcheck disable=SC2086  # the option and its value
  refused_by "$train_translation" "${other%% *}: must be as in the checkpoint, " $other \
    --resume whole.safetensors
done
head -c 1000 whole.safetensors >cut.safetensors
refused_by "$train_translation" 'cut.safetensors: ends within its header' --resume cut.safetensors
refused_by "$train_translation" 'no/such: cannot be read' --resume no/such

# shellcheck disable=SC2086
run "$train_translation" $model --examples 60 --quiet --optimizer sgd --lr 1e300 --warmup 0 --clip 0 \
  --json diverged.json --report diverged.html
[ "$code" -eq 3 ] && [ "$(wc -l <err)" -eq 1 ] &&
  grep -q '^train_translation: diverged at step 2: \[anomaly\] #[0-9]* ' err &&
  grep -q '"bleu": null' diverged.json || fail "divergence: $code: $(cat err)"

refused_by "$train_translation" '--examples: must be from 2 to 1000000, as many numbers as there are' \
  --examples 2000000
refused_by "$train_translation" '--examples: must be from 2 to 365243, as many dates as there are' \
  --text dates --examples 365244
refused_by "$train_translation" '--examples: must be a whole number from 2 to' --examples 1
refused_by "$train_translation" '--text: must be numbers or dates, got poems' --text poems
refused_by "$train_translation" '--tokens: must be characters or subwords, got words' --tokens words
refused_by "$train_translation" '--merges: must be a whole number from 0 to' --merges -1
refused_by "$train_translation" '--norm: must be one of layernorm' --norm foo
refused_by "$train_translation" '--placement: must be post or pre, got sandwich' --placement sandwich
refused_by "$train_translation" '--layers: must be a whole number from 1 to' --layers 0
refused_by "$train_translation" '--width: must be a multiple of the 4 heads, got 10' --width 10
refused_by "$train_translation" '--tied: must be one of none, output, all, got some' --tied some
refused_by "$train_translation" '--beam: must be a whole number from 1 to 1000, got 0' --beam 0
for option in --label-smoothing --dropout --lr --clip; do
  refused_by "$train_translation" "$option: must be a finite number of at least 0, got nan" $option nan
done
# Before the text of a million sentences is made.
for option in --label-smoothing --dropout; do
  refused_by "$train_translation" "$option: must be" $option 1.5 --examples 1000000
done
refused_by "$train_translation" '--warmup: must be at most the' --examples 60 --warmup 100000
refused_by "$train_translation" 'missing/c: cannot be written' --checkpoint missing/c
refused_by "$train_translation" '--json: must name another file than --checkpoint' --checkpoint same \
  --json same
refused_by "$train_translation" 'not expected: --wat' --wat

# --- Two files of aligned sentences
number=0
while [ $number -lt 20 ]; do
  number=$((number + 1))
  echo "der Satz $number" >>text.de
  echo "sentence $number" >>text.en
done
# shellcheck disable=SC2086
files() {
  "$train_translation" $model --epochs 1 --warmup 0 --tokens characters --source text.de --target text.en "$@"
}
succeeds files --quiet --checkpoint files.safetensors
refused_text() { refused_by "$train_translation" "$1" --source "$2" --target "$3"; }
(cat text.en && echo 'one more') >longer.en
refused_text 'longer.en:21: the line has no partner' text.de longer.en
sed '7s/.*//' text.de >gap.de
refused_text 'gap.de:7: the line is empty' gap.de text.en
sed '9s/.*//' gap.de >gaps.de
refused_text '7: the line is empty (the first of 2 faults); gaps.de:9: the line is empty' gaps.de text.en
printf 'gut\nsch\366n\n' >latin.de
refused_text 'latin.de:2: byte 4 of the line, 0xf6, is not UTF-8' latin.de text.en
: >empty.en
refused_text 'empty.en: the file is empty' text.de empty.en
refused_text 'no/such: cannot be read' text.de no/such
printf 'immer\nimmer\n' >same.de
printf 'always\never\n' >same.en
refused_text '--source: must have enough different sentences' same.de same.en
refused_by "$train_translation" '--target: must be given with the other file' --source text.de
refused_by "$train_translation" '--source: must be given with the other file' --target text.en
refused_by "$train_translation" '--examples: must not be given with --source' --source text.de \
  --target text.en --examples 5
refused_by "$train_translation" '--checkpoint: must name another file than --target' \
  --source text.de --target text.en --checkpoint ./text.en
refused_by "$train_translation" '--source: must be given again' --resume files.safetensors
refused_by "$train_translation" '--source: must be given again' --resume whole.safetensors \
  --source text.de --target text.en
succeeds files --quiet --resume files.safetensors
# The same characters in the same number of sentences, and yet another text.
sed -n '1!G;h;$p' text.de >backwards.de
sed -n '1!G;h;$p' text.en >backwards.en
refused_by "$train_translation" 'was trained on another text' --resume files.safetensors \
  --source backwards.de --target backwards.en

# --- What every program has
for program in "$warmup" "$gradient_flow" "$train_translation"; do
  succeeds "$program" --help
  narrow "$(basename "$program") --help"
  for word in --threads --json --report --figures --quiet 'Exit code'; do
    grep -qF -e "$word" out || fail "$(basename "$program") --help does not name $word"
  done
  succeeds "$program" --version
done
for each in grid flow tiny; do
  figures=
  ! command -v gnuplot >/dev/null || figures="--figures $each.svgs"
  # shellcheck disable=SC2086  # the option and its value
  succeeds $each --quiet --report $each.html $figures
  [ ! -s out ] && [ ! -s err ] || fail "$each --quiet: $(cat out err)"
  grep -q '<table' $each.html || fail "the page of $each has no table"
  [ "$figures" = "" ] || { grep -q '<svg' $each.html && [ -n "$(ls $each.svgs)" ]; } ||
    fail "$each draws no figures"
done
# A rate of 0 has updates of 0, which no logarithmic axis shows.
if [ "$figures" != "" ]; then
  succeeds flow --quiet --lr 0 --figures still.svgs
  [ -e still.svgs/flow_loss.svg ] && [ ! -e still.svgs/flow_update.svg ] ||
    fail "figures of a rate of 0: $(ls still.svgs)"
fi
[ "$(find . -name '*.tmp*')" = "" ] || fail "temporary files are left: $(find . -name '*.tmp*')"

finish
