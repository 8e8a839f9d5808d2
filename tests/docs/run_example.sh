# run_example.sh <program> <expected output>
set -eu
actual=$("$1")
if [ "$actual" != "$(cat "$2")" ]; then
  echo "$1 prints something else than $2:"
  printf '%s\n' "$actual" | diff "$2" - || exit 1
fi
