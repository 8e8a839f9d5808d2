#!/bin/sh
# The tests of norm_weight_gradients: norm_weight_gradients_test.sh <program> <empty folder>
set -eu
mkdir -p "$2" && cd "$2"
small='--layers 2 --images 2 --seeds 0'
"$1" $small --json a.json --report a.html >text
grep -q '^post-norm$' text
grep -q '"placement": "pre"' a.json
grep -q '<table>' a.html
"$1" $small --threads 1 --json b.json --quiet
cmp a.json b.json
refused() {
  expected=$1
  shift
  if "$@" 2>message; then exit 1; else [ $? -eq 2 ]; fi
  grep -q -e "$expected" message || { cat message; exit 1; }
}
refused '--layers: must be a whole number from 1 to 100, got 0' "$1" --layers 0
refused '--seeds: must differ from one another, got 1 twice' "$1" --seeds 1 1
refused '--placement: must be one of post, pre, res-post, got side' "$1" --placement side
