# check_rejects.sh <root> <work folder>: check_quotes.sh finds what it is there to find.
set -eu
rm -rf "$2"
mkdir -p "$2/docs/examples"
printf 'int one;\nint two;\n' >"$2/docs/examples/x.cpp"
printf 'one\ntwo\n' >"$2/docs/examples/x.txt"
check() {  # check <expected status> <document text>
  printf '%b' "$2" >doc.md
  got=0
  sh "$root/tests/docs/check_quotes.sh" . doc.md || got=1
  if [ "$got" != "$1" ]; then
    echo "expected $1, got $got for:"
    cat doc.md
    exit 1
  fi
}
root=$1
cd "$2"
check 0 '<!-- example: x.cpp -->\n```cpp\nint two;\n```\n'
check 0 '<!-- output: x.txt -->\n```text\none\ntwo\n```\n'
check 0 '[a file](docs/examples/x.txt#part) and [a page](https://example.org)\n'
check 1 '```cpp\nint two;\n```\n'
check 1 '<!-- example: x.cpp -->\n```cpp\nint three;\n```\n'
check 1 '<!-- example: y.cpp -->\n```cpp\nint two;\n```\n'
check 1 '<!-- output: x.txt -->\n```text\none\n```\n'
check 1 '<!-- from: docs/examples/x.cpp -->\n```cpp\nint three;\n```\n'
check 1 '<!-- example: x.cpp -->\ntext between\n```cpp\nint two;\n```\n'
check 1 '```sh\nnot closed\n'
check 1 '[a file](docs/missing.md)\n'
