#!/bin/sh
# The other programs as a user runs them: what --help shows, what is refused and how, and that a
# killed run goes on where it stopped.
#   e2e_programs.sh <folder of the programs> <empty folder to work in>
set -u
programs=$1 work=$2
. "$(dirname "$0")/e2e.sh"
work_in "$work"

refused() {
  program=$1
  shift
  refused_by "$programs/$program" "$@"
}

for program in attention_logits compare_norms norm_card; do
  succeeds "$programs/$program" --help
  narrow "$program --help"
  for word in layernorm dyt --json --report --figures 'Exit code'; do
    grep -qF -e "$word" out || fail "$program --help does not name $word"
  done
  succeeds "$programs/$program" --version
  refused "$program" 'not expected' --nonsense
  refused "$program" '--width: must be a whole number' --width -1
  refused "$program" 'cannot be written' --json nowhere/cells.json
  refused "$program" 'must name another file than --json' --json same --report same
  refused "$program" 'must name a file' --json ''
done
grep -q adaln-zero out && fail 'norm_card has no placements'

refused norm_card '--norm: must be one of layernorm' --norm foo
refused norm_card '--eps: must be a finite number of at least 0, got -1' --eps -1
refused attention_logits '--qk-norm: must be one of none, cosine' --qk-norm batchnorm
refused attention_logits '--scale: must be a finite number of at least 0, got nan' --scale nan
refused attention_logits 'must be a positive multiple of --heads, got 10 with 4 heads' --width 10
refused compare_norms '--placement: must be one of post, pre' --placement sideways
refused compare_norms '--layers: must differ from one another' --layers 2 2
run "$programs/compare_norms" --norm layernorm --placement pre --layers 1 --seeds 0 --images 2 \
  --quiet --resume one.jsonl
sed 's/"w2_grad_norm":\[[^]]*\]/"w2_grad_norm":[]/' one.jsonl >broken.jsonl
refused compare_norms 'has been changed in line 2' --norm \
  layernorm --placement pre --layers 1 --seeds 0 --images 2 --resume broken.jsonl
mkfifo pipe
for path in pipe /dev/zero /dev/full; do
  refused compare_norms 'is no regular file' --norm layernorm --placement pre --layers 1 --seeds 0 \
    --images 2 --resume $path
done
refused compare_norms 'must name another file than --json' --json a --report ./a
refused compare_norms '--images: must be a whole number from 2 to 1797, got 1' --images 1
echo 'a,b' >not_a_log
refused compare_norms 'is no log of an experiment' --resume not_a_log
[ "$(cat not_a_log)" = 'a,b' ] || fail 'a file that is no log was changed'

# A norm and placement that init_gradients did not have from the start.
for option in '--norm batchnorm' '--norm dyt' '--placement adaln-zero rezero' '--placement deepnorm'; do
  # shellcheck disable=SC2086  # the option and its values
  succeeds "$programs/init_gradients" --images 2 --layers 2 --seeds 0 --width 8 --heads 2 --ffn 8 \
    $option
done

# A run that is killed leaves the configurations it had; the next one computes the rest and prints the same.
small='--norm layernorm rmsnorm --placement post pre --layers 6 12 --seeds 0 1 --images 16 --quiet'
# shellcheck disable=SC2086  # several arguments
succeeds "$programs/compare_norms" $small --threads 1 --json whole.json
# shellcheck disable=SC2086
"$programs/compare_norms" $small --threads 1 --resume log.jsonl --json never.json &
running=$!
wait_for_lines log.jsonl 4 $running
kill -9 $running 2>/dev/null
wait $running 2>/dev/null
before=$(wc -l <log.jsonl)
[ "$before" -ge 4 ] && [ "$before" -lt 17 ] || fail "killed with $before lines in the log"
[ ! -e never.json ] || fail 'a killed run wrote its result'
printf '{"configuration":{"norm"' >>log.jsonl # as if it had been killed while writing
# shellcheck disable=SC2086
succeeds "$programs/compare_norms" $small --resume log.jsonl --json resumed.json --threads 2
cmp -s whole.json resumed.json || fail 'a resumed run differs from an uninterrupted one'
[ "$(wc -l <log.jsonl)" -eq 17 ] || fail "the log has $(wc -l <log.jsonl) lines, not 17"
refused compare_norms 'belongs to a run of other options' --resume log.jsonl --images 32

finish
