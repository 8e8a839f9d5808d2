#include "experiments/lab/program/options.hpp"

#include <filesystem>
#include <stdexcept>

#include <doctest/doctest.h>
#include <unistd.h>

#include "experiments/lab/program/usage_error.hpp"

using namespace normlab;
using namespace normlab::lab;

namespace {

// One option of each kind.
struct Values {
  std::int64_t width = 64;
  std::vector<std::int64_t> layers{3, 6};
  double rate = 0.001;
  std::vector<double> rates{0.5, 1e-4};
  std::string norm = "layernorm";
  std::vector<std::string> norms{"dyt"};
  Placement placement = Placement::pre;
  std::vector<Placement> placements{Placement::post, Placement::pre};
  std::uint64_t seed = 7;
  std::vector<std::uint64_t> seeds{0, 1};
  std::vector<std::string> names{};
  bool fast = false;
  int threads = 2;
  std::string log, json;

  void describe(Options& options) {
    const OneOf norm_names{{"layernorm", "rmsnorm", "dyt"}};
    const OneOf placement_names{{"post", "pre", "res-post"}};
    options.add("--width", width, Whole{1, 4096}, "width d")
        .add("--layers", layers, Whole{1, 1000}, "depths")
        .add("--rate", rate, AtLeast{0.0}, "learning rate")
        .add("--rates", rates, AtLeast{1e-6}, "learning rates")
        .add("--norm", norm, norm_names, "norm")
        .add("--norms", norms, norm_names, "norms")
        .add("--placement", placement, placement_names, "placement")
        .add("--placements", placements, placement_names, "placements")
        .add("--weight-seed", seed, AnySeed{}, "seed of the weights")
        .add("--seeds", seeds, AnySeed{}, "seeds")
        .add("--names", names, AnyText{}, "labels")
        .add("--fast", fast, "less of everything")
        .add("--log", log, File{File::Use::written, "--json"}, "log")
        .add("--json", json, File{File::Use::written}, "numbers")
        .add_threads("points at a time", threads);
  }
};

struct Parsed {
  Values values;
  Options options{"sample", "A sample of options", "Exit code: 0."};
  bool runs = false;
  std::string answer;

  explicit Parsed(const std::vector<const char*>& arguments) {
    values.describe(options);
    std::vector<const char*> all{"sample"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    runs = options.parse(static_cast<int>(all.size()), all.data(), answer);
  }
  Parsed(const Parsed&) = delete;
  Parsed& operator=(const Parsed&) = delete;
};

void refused(const std::vector<const char*>& arguments, const char* message) {
  CAPTURE(message);
  CHECK_THROWS_WITH_AS(Parsed{arguments}, message, UsageError);
}

Cell setting(const Options& options, const std::string& key) {
  for (const Setting& each : options.settings()) {
    if (each.key == key) return each.value;
  }
  FAIL("no setting " << key);
  return {};
}

const Option& option(const Options& options, const std::string& flag) {
  for (const Option& each : options.all()) {
    if (each.flag == flag) return each;
  }
  throw std::out_of_range(flag);
}

}  // namespace

TEST_CASE("options: without arguments every variable keeps its value, which is the default") {
  const Parsed parsed({});
  CHECK(parsed.runs);
  CHECK(parsed.values.width == 64);
  CHECK(parsed.values.layers == std::vector<std::int64_t>{3, 6});
  CHECK(parsed.values.placement == Placement::pre);
  CHECK_FALSE(parsed.options.given("--width"));
  const auto initial = [&](const char* flag) { return option(parsed.options, flag).initial; };
  CHECK(initial("--width") == "64");
  CHECK(initial("--layers") == "3 6");
  CHECK(initial("--rate") == "0.001");
  CHECK(initial("--rates") == "0.5 0.0001");
  CHECK(initial("--norm") == "layernorm");
  CHECK(initial("--placements") == "post pre");
  CHECK(initial("--weight-seed") == "7");
  CHECK(initial("--json").empty());
}

TEST_CASE("options: a value of each kind is read, and a list replaces its default") {
  const Parsed parsed({"--width",
                       "1",
                       "--layers",
                       "12",
                       "24",
                       "--rate",
                       "1e-2",
                       "--rates",
                       "1",
                       "--norm",
                       "rmsnorm",
                       "--norms",
                       "rmsnorm",
                       "dyt",
                       "--placement",
                       "res-post",
                       "--placements",
                       "pre",
                       "--weight-seed",
                       "18446744073709551615",
                       "--seeds",
                       "5",
                       "--names",
                       "a b",
                       "",
                       "--fast",
                       "--threads",
                       "1024",
                       "--log=x.log",
                       "--json",
                       "y.json"});
  const Values& values = parsed.values;
  CHECK(values.width == 1);
  CHECK(values.layers == std::vector<std::int64_t>{12, 24});
  CHECK(values.rate == 0.01);
  CHECK(values.rates == std::vector<double>{1.0});
  CHECK(values.norm == "rmsnorm");
  CHECK(values.norms == std::vector<std::string>{"rmsnorm", "dyt"});
  CHECK(values.placement == Placement::res_post);
  CHECK(values.placements == std::vector<Placement>{Placement::pre});
  CHECK(values.seed == 18446744073709551615u);
  CHECK(values.seeds == std::vector<std::uint64_t>{5});
  CHECK(values.names == std::vector<std::string>{"a b", ""});
  CHECK(values.fast);
  CHECK(values.threads == 1024);
  CHECK(values.log == "x.log");
  CHECK(values.json == "y.json");
  CHECK(parsed.options.given("--width"));
}

TEST_CASE("options: a refused value is named with what was expected") {
  refused({"--width", "0"}, "--width: must be a whole number from 1 to 4096, got 0 (see --help)");
  refused({"--width", "4097"},
          "--width: must be a whole number from 1 to 4096, got 4097 (see --help)");
  for (const char* text : {"1.5", "1e2", " 1", "+1", "0x10", "99999999999999999999"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(Parsed({"--width", text}), UsageError);
  }
  refused({"--layers", "3", "x"},
          "--layers: must be a whole number from 1 to 1000, got x (see --help)");
  refused({"--width", ""},
          "--width: must be a whole number from 1 to 4096, got nothing (see --help)");
  refused({"--rate", "-1"}, "--rate: must be a finite number of at least 0, got -1 (see --help)");
  refused({"--rate", "nan"}, "--rate: must be a finite number of at least 0, got nan (see --help)");
  refused({"--rates", "1", "inf"},
          "--rates: must be a finite number of at least 1e-06, got inf (see --help)");
  refused({"--rate", "0,5"}, "--rate: must be a finite number of at least 0, got 0,5 (see --help)");
  refused(
      {"--weight-seed", "-1"},
      "--weight-seed: must be a whole number from 0 to 18446744073709551615, got -1 (see --help)");
  refused({"--threads", "0"},
          "--threads: must be a whole number from 1 to 1024, got 0 (see --help)");
  refused({"--json", ""}, "--json: must name a file, got nothing (see --help)");
}

TEST_CASE("options: a name outside the closed set is refused, with the nearest one if it is near") {
  refused({"--norm", "batch"},
          "--norm: must be one of layernorm, rmsnorm, dyt, got batch (see --help)");
  refused({"--norms", "dyt", "layernom"},
          "--norms: must be one of layernorm, rmsnorm, dyt, got layernom; did you mean layernorm? "
          "(see --help)");
  refused({"--placement", "respost"},
          "--placement: must be one of post, pre, res-post, got respost; did you mean res-post? "
          "(see --help)");
  // A placement that the library has and this program does not.
  refused({"--placements", "sandwich"},
          "--placements: must be one of post, pre, res-post, got sandwich (see --help)");
  std::string side = "left";
  Options two("sample", "", "");
  two.add("--side", side, OneOf{{"left", "right"}}, "side");
  const char* arguments[] = {"sample", "--side", "up"};
  std::string answer;
  CHECK_THROWS_WITH_AS(two.parse(3, arguments, answer),
                       "--side: must be left or right, got up (see --help)", UsageError);
}

TEST_CASE("options: an unknown option is named, with the nearest one if it is near") {
  refused({"--witdh", "3"},
          "The following argument was not expected: --witdh; did you mean --width? (see --help)");
  refused({"--layer=3"},
          "The following argument was not expected: --layer; did you mean --layers? (see --help)");
  refused({"--hepl"},
          "The following argument was not expected: --hepl; did you mean --help? (see --help)");
  refused({"--wat"}, "The following argument was not expected: --wat (see --help)");
  refused({"stray"}, "The following argument was not expected: stray (see --help)");
}

TEST_CASE("options: an option needs its value, and one value is given once") {
  refused({"--width"}, "--width: needs a value, got none (see --help)");
  refused({"--layers"}, "--layers: needs a value, got none (see --help)");
  refused({"--width", "1", "--width", "2"}, "--width: must be given once (see --help)");
}

TEST_CASE("options: settings are what results depend on, under keys for JSON") {
  const Parsed parsed({"--width", "8", "--placements", "pre", "--fast", "--threads", "1"});
  std::vector<std::string> keys;
  for (const Setting& each : parsed.options.settings()) keys.push_back(each.key);
  // Neither a flag, nor files, nor threads.
  CHECK(keys == std::vector<std::string>{"width", "layers", "rate", "rates", "norm", "norms",
                                         "placement", "placements", "weight_seed", "seeds",
                                         "names"});
  CHECK(std::get<std::int64_t>(setting(parsed.options, "width")) == 8);
  CHECK(std::get<std::string>(setting(parsed.options, "placement")) == "pre");
  CHECK(std::get<std::vector<std::string>>(setting(parsed.options, "placements")) ==
        std::vector<std::string>{"pre"});
  CHECK(std::get<std::uint64_t>(setting(parsed.options, "weight_seed")) == 7);
}

TEST_CASE(
    "options: a default can be shown in other words, and an option left out of the settings") {
  std::vector<std::string> norms{"layernorm", "dyt"};
  std::int64_t images = 3;
  Options options("sample", "About", "End");
  options.add("--norm", norms, OneOf{norms}, "norms").shown_default("all");
  options.add("--images", images, Whole{1, 5}, "images").unlisted();
  CHECK(options.all()[0].initial == "all");
  REQUIRE(options.settings().size() == 1);
  CHECK(options.settings()[0].key == "norm");
  const char* arguments[] = {"sample", "--help"};
  std::string help;
  CHECK_FALSE(options.parse(2, arguments, help));
  for (const char* part : {"About", "--norm=all", "norms, one or more of layernorm, dyt", "End"}) {
    CAPTURE(part);
    CHECK(help.find(part) != std::string::npos);
  }
}

TEST_CASE("options: help and version are answers, and no line of help is wider than 80 columns") {
  const Parsed version({"--version"});
  CHECK_FALSE(version.runs);
  CHECK(version.answer.starts_with("normlab "));
  const Parsed help({"--help"});
  CHECK_FALSE(help.runs);
  CHECK(help.answer.find("--width=64") != std::string::npos);
  std::size_t column = 0;
  for (const char c : help.answer) {
    column = c == '\n' ? 0 : column + 1;
    CHECK(column <= 80);
  }
}

TEST_CASE("options: two options may not name one file, however it is written") {
  const std::string folder = std::filesystem::temp_directory_path().string();
  const std::string name = "normlab_options_" + std::to_string(getpid());
  const std::string path = folder + "/" + name, detour = folder + "/./" + name;
  std::string json, report, log, input, other_input;
  Options options("sample", "", "");
  options.add("--json", json, File{File::Use::written}, "");
  options.add("--report", report, File{File::Use::written}, "");
  options.add("--log", log, File{File::Use::written, "--input"}, "");
  options.add("--input", input, File{File::Use::read}, "");
  options.add("--other", other_input, File{File::Use::read}, "");
  CHECK(options.path_flags() ==
        std::vector<std::string>{"--json", "--report", "--log", "--input", "--other"});
  CHECK_NOTHROW(options.check_files());
  json = path;
  report = detour;
  CHECK_THROWS_WITH_AS(
      options.check_files(),
      ("[sample] --report: must name another file than --json, got " + detour).c_str(),
      std::invalid_argument);
  report.clear();
  input = path;  // what is read would be overwritten
  CHECK_THROWS_AS(options.check_files(), std::invalid_argument);
  json.clear();
  log = path;  // allowed by name
  CHECK_NOTHROW(options.check_files());
  other_input = path;  // two that are only read, but the log is written
  CHECK_THROWS_AS(options.check_files(), std::invalid_argument);
  log.clear();
  CHECK_NOTHROW(options.check_files());
}

TEST_CASE("options: a file that cannot be written is refused before any work") {
  std::string json = "/nonexistent/folder/x.json";
  Options options("sample", "", "");
  options.add("--json", json, File{File::Use::written}, "");
  CHECK_THROWS_AS(options.check_files(), std::runtime_error);
}
