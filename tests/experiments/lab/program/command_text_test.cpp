#include "experiments/lab/program/command_text.hpp"

#include <doctest/doctest.h>

using namespace normlab::lab;

TEST_CASE("command_text: words are quoted for a shell, and folders stay private") {
  const char* arguments[] = {"/home/me/bin/x", "--seeds",           "0",
                             "--input-scale",  "1/sqrt(d)",         "it's",
                             "--json",         "/home/me/a b.json", "--report=/home/me/page.html"};
  CHECK(command_text("x", 9, arguments, {"--json", "--report"}) ==
        "x --seeds 0 --input-scale '1/sqrt(d)' 'it'\\''s' --json 'a b.json' --report=page.html");
}
