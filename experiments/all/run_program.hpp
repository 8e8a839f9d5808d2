#pragma once

namespace normlab {

// All experiments in one program, for those that register a norm of their own first:
//
//   my_norm norm_card --norm mynorm        is        norm_card --norm mynorm
//
// argv[1] names the experiment, the rest are its arguments. Returns its exit code; 2, with a line
// on standard error, for an unknown name; --help lists the names.
int run_program(int argc, const char* const* argv);

}  // namespace normlab
