#include "experiments/lab/program/did_you_mean.hpp"

#include <doctest/doctest.h>

using normlab::lab::did_you_mean;

TEST_CASE("did_you_mean: a letter wrong, missing, too many or swapped with its neighbour") {
  const std::vector<std::string> names{"layernorm", "rmsnorm", "dyt"};
  for (const char* text : {"layernorn", "laernorm", "layernoorm", "lyaernorm"}) {
    CAPTURE(text);
    CHECK(did_you_mean(text, names) == "; did you mean layernorm?");
  }
  CHECK(did_you_mean("dty", names) == "; did you mean dyt?");
}

TEST_CASE("did_you_mean: at most a third of the name's letters") {
  CHECK(did_you_mean("xxxdef", {"abcdef"}).empty());
  CHECK(did_you_mean("xxcdef", {"abcdef"}) == "; did you mean abcdef?");
  CHECK(did_you_mean("pe", {"ab"}).empty());
  CHECK(did_you_mean("", {"pre", "post"}).empty());
  CHECK(did_you_mean("pre", {}).empty());
}

TEST_CASE("did_you_mean: the nearest name, and the first of equally near ones") {
  CHECK(did_you_mean("--layer", {"--lawyers", "--layers"}) == "; did you mean --layers?");
  CHECK(did_you_mean("seedx", {"seeda", "seedb"}) == "; did you mean seeda?");
}

TEST_CASE("did_you_mean: a text of any length is answered at once") {
  CHECK(did_you_mean(std::string(1000000, 'a'), {"a", std::string(1000000, 'a')}).empty());
}
