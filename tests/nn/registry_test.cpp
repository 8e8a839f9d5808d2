#include "nn/registry.hpp"

#include <iterator>

#include <doctest/doctest.h>

#include "tests/support/op_checks.hpp"

using namespace normlab;

namespace {

struct Animal {
  std::string name, description;
};

Registry<Animal> two_animals() {
  Registry<Animal> animals("animal");
  animals.add({"zebra", "striped"});
  animals.add({"ant", "small"});
  return animals;
}

}  // namespace

TEST_CASE("Registry: entries are found by name and kept in the order of adding") {
  const Registry<Animal> animals = two_animals();
  CHECK(animals.at("ant").description == "small");
  CHECK(animals.names() == std::vector<std::string>{"zebra", "ant"});
  CHECK(std::distance(animals.begin(), animals.end()) == 2);
}

TEST_CASE("Registry: an unknown name is refused with the known ones") {
  const Registry<Animal> animals = two_animals();
  check_refused([&] { animals.at("an"); }, "[Registry] animal: must be one of zebra, ant, got an");
}

TEST_CASE("Registry: a name that is taken and an empty one are refused and change nothing") {
  Registry<Animal> animals = two_animals();
  check_refused(
      [&] {
        animals.add({"ant", "another"});
      },
      "[Registry] animal: must have a name of its own, got ant");
  check_refused([&] { animals.add({"", "nameless"}); }, "[Registry] animal: must have a name");
  CHECK(animals.names().size() == 2);
  CHECK(animals.at("ant").description == "small");
}
