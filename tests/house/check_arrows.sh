#!/bin/sh
# Do the includes go down only? arrows.txt says which folder may include which.
#   check_arrows.sh <root of the project> [<a folder with sources to check instead>]
set -u
rules=$(cd "$(dirname "$0")" && pwd)/arrows.txt
cd "${2:-$1}" || exit 2
find core nn data experiments -name '*.[ch]pp' -exec grep -H '^#include' {} + |
  awk -v rules="$rules" '
    function folder(path) { sub("/[^/]*$", "", path); return path }
    function matches(to, pattern) {
      if (pattern ~ /\/\*$/) {
        sub("/\\*$", "", pattern)
        return to == pattern || index(to, pattern "/") == 1
      }
      return to == pattern
    }
    BEGIN {
      while ((getline line < rules) > 0) {
        if (line ~ /^#/ || split(line, part, ":") < 2) continue
        gsub(" ", "", part[1])
        allowed[part[1]] = part[2]
      }
      shared = "core/* nn/* data/* experiments/lab/* experiments/untrained experiments/theory experiments/tasks"
    }
    {
      file = $0; sub(":#include.*", "", file)
      included = $0; sub(".*:#include *", "", included)
      checked++
      if (included == "<cblas.h>" && file != "core/kernels/blas.cpp") {
        print file " includes cblas.h: only core/kernels/blas.cpp may"; wrong++
      }
      if (included !~ /^"/) next
      gsub("\"", "", included)
      from = folder(file); to = folder(included)
      if (from == to) next
      count = split((from in allowed) ? allowed[from] : shared, list, " ")
      for (i = 1; i <= count; i++) if (matches(to, list[i])) next
      print file " includes " included ": " from " may not see " to; wrong++
    }
    END {
      if (checked == 0) { print "no include was found"; exit 1 }
      exit wrong > 0
    }'
