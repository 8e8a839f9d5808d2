#include <doctest/doctest.h>

#include "experiments/lab/program/options.hpp"

using namespace normlab;
using namespace normlab::lab;

TEST_CASE("reference: a page with what the program does, every option and the exit codes") {
  std::vector<std::int64_t> layers{3, 6};
  std::string norm = "dyt", json;
  bool fast = false;
  int threads = 3;
  Options options("sample", "Gradients of\nuntrained networks", "Exit code: 0; 2 for bad_usage.");
  options.add("--layers", layers, Whole{1, 1000}, "depths |L|");
  options.add("--norm", norm, OneOf{{"layernorm", "dyt"}}, "norm");
  options.add("--json", json, File{File::Use::written}, "numbers");
  options.add("--fast", fast, "less of everything");
  options.add_threads("points at a time", threads);
  const char* arguments[] = {"sample", "--reference"};
  std::string page;
  CHECK_FALSE(options.parse(2, arguments, page));
  CHECK(page ==
        "# sample\n"
        "\n"
        "<!-- Made by `sample --reference`. -->\n"
        "\n"
        "Gradients of untrained networks.\n"
        "\n"
        "```\n"
        "sample [OPTIONS]\n"
        "```\n"
        "\n"
        "| option | default | allowed | meaning |\n"
        "| --- | --- | --- | --- |\n"
        "| `--layers` | `3 6` | a whole number from 1 to 1000, one or more | depths \\|L\\| |\n"
        "| `--norm` | `dyt` | one of layernorm, dyt | norm |\n"
        "| `--json` |  | a path | numbers |\n"
        "| `--fast` |  |  | less of everything |\n"
        "| `--threads` | `all cores` | a whole number from 1 to 1024 | points at a time |\n"
        "| `--help` |  |  | show the options and end |\n"
        "| `--version` |  |  | show the version and end |\n"
        "\n"
        "Exit code: 0; 2 for bad\\_usage.\n");
}
