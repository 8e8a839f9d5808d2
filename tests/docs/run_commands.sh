# run_commands.sh <root> <document> <build folder> <work folder>
# Runs the shell blocks marked <!-- run -->, in order and in one shell, in an empty folder where
# build/release is the build under test. The first command that fails ends it.
set -eu
rm -rf "$4"
mkdir -p "$4/build"
ln -s "$3" "$4/build/release"
awk '
/^<!-- run -->$/ { marked = 1; next }
/^```/ && !inside { inside = 1; next }
/^```/ { inside = 0; marked = 0; next }
inside && marked { print }' "$1/$2" >"$4/commands.sh"
cd "$4"
sh -eux commands.sh
