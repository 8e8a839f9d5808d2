# check_options_and_keys.sh <program> <document> <JSON file to write> <arguments of a small run>...
# Every option that --help names, and every key that --json writes, is in the document as `code`.
set -eu
program=$1 document=$2 json=$3
shift 3
"$program" "$@" --quiet --json "$json" 2>/dev/null || [ $? = 1 ]
options=$("$program" --help | grep -oE -- '--[a-z][a-z-]+' | sort -u)
keys=$(grep -oE '"[a-z0-9_]+":' "$json" | tr -d '":' | sort -u)
[ -n "$options" ] && [ -n "$keys" ]
status=0
for word in $options $keys; do
  if ! grep -qF "\`$word" "$document"; then
    echo "$document does not name $word"
    status=1
  fi
done
exit $status
