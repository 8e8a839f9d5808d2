#pragma once

#include <string>
#include <string_view>

namespace normlab {

// Throws std::runtime_error, saying why, if a file could not be written at `path`. Call it before a
// long computation.
void check_writable(const std::string& path);

// Writes the whole text or leaves what was there: into a temporary file in the same folder, flushed
// to disk and then renamed. A file that is replaced keeps its permissions, and a symbolic link goes
// on naming it. A device such as /dev/stdout is written to directly. Throws std::runtime_error if
// it fails.
void write_atomically(const std::string& path, std::string_view text);

}  // namespace normlab
