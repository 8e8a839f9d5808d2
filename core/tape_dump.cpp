// Tested by tests/core/tape_dump_test.cpp.
#include <ostream>

#include <fmt/format.h>
#include <fmt/ostream.h>

#include "core/tape.hpp"

namespace normlab {

void Tape::dump(std::ostream& out) const {
  fmt::print(out, "{:>5}  {:<20} {:<18} {}\n", "#", "op", "shape", "inputs");
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    std::string line =
        fmt::format("{:>5}  {:<20} {:<18} {}", i, node.op, node.shape.str(), node.label);
    for (std::size_t input : node.inputs) {
      line += input == Var::kNoNode ? "const " : fmt::format("#{} ", input);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    fmt::print(out, "{}\n", line);
  }
}

void Tape::dump_dot(std::ostream& out) const {
  fmt::print(out, "digraph tape {{\n  rankdir=BT;\n  node [shape=box, fontname=\"sans-serif\"];\n");
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    fmt::print(out, "  n{} [label=\"{}\\n{}\"{}];\n", i, node.label.empty() ? node.op : node.label,
               node.shape.str(), node.backward ? "" : ", style=rounded");
    for (std::size_t input : node.inputs) {
      if (input != Var::kNoNode) fmt::print(out, "  n{} -> n{};\n", input, i);
    }
  }
  fmt::print(out, "}}\n");
}

}  // namespace normlab
