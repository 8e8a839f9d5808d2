# check_quotes.sh <root> <document>
# A fenced block says where its text comes from by an HTML comment on the line before:
#
#   <!-- example: x.cpp -->   is literally contained in docs/examples/x.cpp
#   <!-- output: x.txt -->    equals docs/examples/x.txt
#   <!-- from: core/x.cpp -->  is literally contained in that file
#   <!-- run -->              is run (run_commands.sh)
#
# Blocks of cpp and text need one of the first three. Relative links must lead to a file.
set -eu
cd "$1"
awk '
function complain(message) {
  printf "%s:%d: %s\n", FILENAME, opened, message
  bad = 1
}
function slurp(path,    text, line, status) {
  text = ""
  while ((status = (getline line < path)) > 0) text = text line "\n"
  close(path)
  if (status < 0) complain("there is no file " path)
  return text
}
function judge(    found) {
  if (marker == "" && (language == "cpp" || language == "text"))
    complain("a block of " language " must say where its text comes from (tests/docs/check_quotes.sh)")
  if (marker == "example" && index(slurp("docs/examples/" source), block) == 0)
    complain("this is not in docs/examples/" source)
  if (marker == "output" && slurp("docs/examples/" source) != block)
    complain("this is not docs/examples/" source)
  if (marker == "from" && index(slurp(source), block) == 0)
    complain("this is not in " source)
}
/^```/ && !inside {
  inside = 1; opened = FNR; language = substr($0, 4); block = ""
  next
}
/^```/ {
  inside = 0
  judge()
  marker = ""; source = ""
  next
}
inside { block = block $0 "\n"; next }
/^<!-- (example|output|from): [^ ]+ -->$/ { marker = substr($2, 1, length($2) - 1); source = $3; next }
/^<!-- run -->$/ { marker = "run"; next }
{
  if (marker != "") { opened = FNR; complain("a marker must stand right above its block"); marker = "" }
  rest = $0
  while (match(rest, /\]\([^)#]+/)) {
    target = substr(rest, RSTART + 2, RLENGTH - 2)
    rest = substr(rest, RSTART + RLENGTH)
    if (target !~ /^[a-z]+:/) print FILENAME ":" FNR "\t" target > links
  }
}
END {
  if (inside) complain("a block is not closed")
  exit bad
}' links=/dev/fd/3 "$2" 3>"${TMPDIR:-/tmp}/normlab_links.$$" || status=$?
trap 'rm -f "${TMPDIR:-/tmp}/normlab_links.$$"' EXIT
while IFS='	' read -r place target; do
  if [ ! -e "$(dirname "$2")/$target" ]; then
    echo "$place: the link $target leads nowhere"
    status=1
  fi
done <"${TMPDIR:-/tmp}/normlab_links.$$"
exit "${status:-0}"
