# check_options_and_keys.sh <init_gradients> <document> <JSON file to write>
# Every option that --help names, and every key that --json writes, is in the document as `code`.
set -eu
"$1" --seeds 0 --layers 1 --images 16 --width 8 --heads 2 --ffn 8 --quiet --json "$3" || [ $? = 1 ]
options=$("$1" --help | grep -oE -- '--[a-z][a-z-]+' | sort -u)
keys=$(grep -oE '"[a-z0-9_]+":' "$3" | tr -d '":' | sort -u)
[ -n "$options" ] && [ -n "$keys" ]
status=0
for word in $options $keys; do
  if ! grep -qF "\`$word" "$2"; then
    echo "$2 does not name $word"
    status=1
  fi
done
exit $status
