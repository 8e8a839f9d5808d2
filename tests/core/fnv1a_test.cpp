#include "core/fnv1a.hpp"

#include <doctest/doctest.h>

using namespace normlab;

// The values are those of the algorithm's reference (Fowler, Noll, Vo; RFC 9923).
TEST_CASE("fnv1a: the reference's values, in one piece and in two") {
  CHECK(fnv1a("") == 0xcbf29ce484222325);
  CHECK(fnv1a("a") == 0xaf63dc4c8601ec8c);
  CHECK(fnv1a("foobar") == 0x85944171f73967e8);
  CHECK(fnv1a("bar", fnv1a("foo")) == fnv1a("foobar"));
}
