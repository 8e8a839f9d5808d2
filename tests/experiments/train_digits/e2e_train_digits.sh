#!/bin/sh
# train_digits on tiny sizes, as a user runs it: resumed after it was killed, diverging, refusing.
#   e2e_train_digits.sh <program> <empty folder to work in>
set -u
program=$1 work=$2
. "$(dirname "$0")/../e2e.sh"
work_in "$work"

refused() {
  part=$1
  shift
  refused_by "$program" "$part" --epochs 100000 "$@"
}

tiny() { "$program" --layers 1 --width 8 --epochs 3 --warmup 5 --lr 0.01 --dropout 0.1 --batch-size 64 "$@"; }

# --- The same bytes for any number of threads, and with checkpoints
succeeds tiny --quiet --threads 1 --json whole.json --checkpoint whole.safetensors
[ ! -s out ] && [ ! -s err ] || fail "--quiet: $(cat out err)"
for threads in 2 3; do
  succeeds tiny --threads $threads --json threads.json --checkpoint threads.safetensors \
    --checkpoint-every 7
  cmp -s whole.json threads.json || fail "the JSON of $threads threads differs"
  cmp -s whole.safetensors threads.safetensors || fail "the weights of $threads threads differ"
done
grep -q '^    3    69 ' out && grep -q '^test accuracy [0-9.]* %$' out || fail "text: $(cat out)"
grep -q 'tokens per second' err || fail "no speed on standard error: $(cat err)"

# --- Killed at any moment, and resumed: the file is whole, and the end is the same byte for byte
interrupted=0
for pause in 0.05 0.15 0.3; do
  checks=$((checks + 1))
  rm -f killed.safetensors
  "$program" --layers 1 --width 8 --epochs 3 --warmup 5 --lr 0.01 --dropout 0.1 --batch-size 64 --quiet \
    --checkpoint killed.safetensors --checkpoint-every 1 &
  pid=$!
  tries=0
  while [ ! -s killed.safetensors ] && [ $tries -lt 600 ]; do
    sleep 0.02
    tries=$((tries + 1))
  done
  sleep $pause
  kill -9 $pid 2>/dev/null || true
  wait $pid 2>/dev/null
  cmp -s whole.safetensors killed.safetensors || interrupted=$((interrupted + 1))
  succeeds "$program" --quiet --resume killed.safetensors --checkpoint killed.safetensors \
    --json killed.json
  cmp -s whole.safetensors killed.safetensors || fail "resumed weights differ (killed after $pause s)"
  cmp -s whole.json killed.json || fail "resumed JSON differs (killed after $pause s)"
done
[ $interrupted -gt 0 ] || fail "every run was over before it was killed"

# --- Stopped by a signal: it keeps where it is, and says how to go on
"$program" --layers 1 --width 8 --epochs 100000 --warmup 5 --quiet --checkpoint stopped.safetensors \
  --checkpoint-every 1 2>err &
pid=$!
while [ ! -s stopped.safetensors ] && kill -0 $pid 2>/dev/null; do sleep 0.01; done
kill -TERM $pid
wait $pid
code=$?
checks=$((checks + 1))
[ $code -eq 75 ] && grep -q 'interrupted: --resume goes on from stopped.safetensors' err ||
  fail "a signal: $code: $(cat err)"

# --- Standard error that is full or closed loses its line and nothing else
for where in full closed; do
  checks=$((checks + 1))
  if [ $where = full ]; then tiny --json $where.json 2>/dev/full >out; else tiny --json $where.json 2>&- >out; fi
  code=$?
  [ $code -eq 0 ] && grep -q '^test accuracy' out && cmp -s whole.json $where.json ||
    fail "standard error is $where: exit code $code"
done

# --- A run that was over: its options come from the file, and those that are given must agree
succeeds "$program" --quiet --resume whole.safetensors --json again.json --lr 0.01
cmp -s whole.json again.json || fail "the JSON of a run that was over differs"
refused '--lr: must be as in the checkpoint, 0.01, got 0.02' --resume whole.safetensors --lr 0.02
refused '--placement: must be as in the checkpoint, pre, got post' \
  --resume whole.safetensors --placement post
refused '--epochs: must be as in the checkpoint, 3, got 100000' --resume whole.safetensors

# --- Divergence
run "$program" --layers 1 --width 8 --quiet --optimizer sgd --lr 1e300 --warmup 0 --clip 0 \
  --json diverged.json
[ "$code" -eq 3 ] && [ "$(wc -l <err)" -eq 1 ] &&
  grep -q '^train_digits: diverged at step 2: \[anomaly\] #[0-9]* ' err &&
  grep -q '"diverged_step": 2' diverged.json || fail "divergence: $code: $(cat err)"

# --- What is refused
refused 'no/such: cannot be read' --resume no/such
head -c 1000 whole.safetensors >cut.safetensors
refused 'cut.safetensors: ends within its header' --resume cut.safetensors
refused '--width: must be a multiple of the 4 heads, got 10' --width 10
refused '--norm: must be' --norm foo
refused '--placement: must be' --placement foo
refused '--optimizer: must be one of sgd, adam' --optimizer foo
refused '--schedule: must be one of constant' --schedule foo
refused '--lr: must be a finite number' --lr nan
refused '--dropout: must be' --dropout 1.5
refused '--batch-size: must be a whole number' --batch-size 0
refused '--warmup: must be at most' --warmup 100000000
refused 'missing/c: cannot be written' --checkpoint missing/c
refused '--json: must name another file than --checkpoint' --checkpoint same --json same
refused '--report: must name another file than --resume' --resume whole.safetensors \
  --report whole.safetensors
refused 'not expected: --wat' --wat

succeeds "$program" --help
narrow --help
succeeds tiny --report page.html
grep -q 'Every epoch' page.html || fail "the page has no table"

finish
