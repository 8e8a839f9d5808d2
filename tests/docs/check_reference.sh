# check_reference.sh <program> <page>
# The page is what the program says of its options now.
set -eu
if ! "$1" --reference | diff "$2" -; then
  echo "write it again: scripts/reference"
  exit 1
fi
