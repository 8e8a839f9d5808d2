#include <sstream>
#include <string>

#include <doctest/doctest.h>

#include "core/ops/arithmetic.hpp"
#include "core/ops/linear.hpp"
#include "core/ops/reduce.hpp"
#include "core/tape.hpp"

namespace normlab {
namespace {

struct Example {
  Parameter weight{"linear1.weight", Tensor::ones({3, 2})};
  Tape tape;

  Example() {
    const Var x = tape.variable(Tensor::ones({4, 2}));
    const Var y = linear(x, tape.watch(weight), tape.constant(Tensor::ones({3})));
    mean(y * y);
  }
};

TEST_CASE("tape: dump prints the recorded graph as a table") {
  const Example example;
  std::ostringstream out;
  example.tape.dump(out);
  CHECK(out.str() ==
        "    #  op                   shape              inputs\n"
        "    0  variable             (4, 2)\n"
        "    1  parameter            (3, 2)             linear1.weight\n"
        "    2  linear               (4, 3)             #0 #1 const\n"
        "    3  mul                  (4, 3)             #2 #2\n"
        "    4  mean                 ()                 #3\n");
}

TEST_CASE("tape: dump_dot prints the recorded graph for Graphviz") {
  const Example example;
  std::ostringstream out;
  example.tape.dump_dot(out);
  CHECK(out.str() ==
        "digraph tape {\n"
        "  rankdir=BT;\n"
        "  node [shape=box, fontname=\"sans-serif\"];\n"
        "  n0 [label=\"variable\\n(4, 2)\", style=rounded];\n"
        "  n1 [label=\"linear1.weight\\n(3, 2)\", style=rounded];\n"
        "  n2 [label=\"linear\\n(4, 3)\"];\n"
        "  n0 -> n2;\n"
        "  n1 -> n2;\n"
        "  n3 [label=\"mul\\n(4, 3)\"];\n"
        "  n2 -> n3;\n"
        "  n2 -> n3;\n"
        "  n4 [label=\"mean\\n()\"];\n"
        "  n3 -> n4;\n"
        "}\n");
}

TEST_CASE("tape: an empty tape dumps its heading") {
  std::ostringstream table, dot;
  Tape tape;
  tape.dump(table);
  tape.dump_dot(dot);
  CHECK(table.str() == "    #  op                   shape              inputs\n");
  CHECK(dot.str() ==
        "digraph tape {\n  rankdir=BT;\n  node [shape=box, fontname=\"sans-serif\"];\n}\n");
}

}  // namespace
}  // namespace normlab
