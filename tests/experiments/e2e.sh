# shellcheck shell=sh
# What the end-to-end tests share. POSIX sh, sourced: . "$(dirname "$0")/e2e.sh"
failures=0 checks=0

# work_in <folder>: in an empty folder of that name.
work_in() { rm -rf "$1" && mkdir -p "$1" && cd "$1" || exit 1; }

fail() {
  failures=$((failures + 1))
  echo "FAILED: $*" >&2
}

# run <command...>: sets code; standard output and error are in the files out and err.
run() {
  checks=$((checks + 1))
  "$@" >out 2>err
  code=$?
}

succeeds() {
  run "$@"
  [ "$code" -eq 0 ] || fail "$*: exit code $code: $(cat err)"
}

# refused_by <program> <part of the message> <arguments...>: exit code 2, one line on standard
# error, nothing on standard output, and nothing computed.
refused_by() {
  refusing=$1 part=$2
  shift 2
  run timeout 60 "$refusing" "$@"
  refusing=$(basename "$refusing")
  [ "$code" -eq 2 ] || fail "$refusing $*: exit code $code"
  [ "$(wc -l <err)" -eq 1 ] || fail "$refusing $*: $(wc -l <err) lines on standard error: $(cat err)"
  [ ! -s out ] || fail "$refusing $*: standard output is not empty"
  case $(cat err) in
    "$refusing: "*"$part"*) ;;
    *) fail "$refusing $*: \"$part\" is not in: $(cat err)" ;;
  esac
}

# narrow <what it is>: nothing in the file out is wider than 80 columns.
narrow() { [ "$(awk 'length > 80' out)" = "" ] || fail "$1 is wider than 80 columns: $(awk 'length > 80' out)"; }

# wait_for_lines <file> <count> <process>: until the file has so many lines, or the process ended.
wait_for_lines() {
  while kill -0 "$3" 2>/dev/null; do
    [ -f "$1" ] && [ "$(wc -l <"$1")" -ge "$2" ] && break
    sleep 0.01
  done
}

# The last line of a test.
finish() {
  echo "$checks runs, $failures failures"
  [ "$failures" -eq 0 ]
}
