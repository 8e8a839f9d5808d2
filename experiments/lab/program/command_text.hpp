#pragma once

#include <string>
#include <vector>

namespace normlab::lab {

// The command line to print on a page, quoted for a shell. The values of `path_options` lose their
// folders, so that pages do not leak local paths.
std::string command_text(const std::string& program, int argc, const char* const* argv,
                         const std::vector<std::string>& path_options);

}  // namespace normlab::lab
