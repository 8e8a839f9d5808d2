#pragma once

#include <string>
#include <string_view>

namespace normlab {

// Throws std::runtime_error, saying why, if a file could not be written at `path`. Call it before a
// long computation.
void check_writable(const std::string& path);

// Writes the whole text or leaves what was there: into a temporary file in the same folder, flushed
// to disk and then renamed. A file that is replaced keeps its permissions. A symbolic link stays,
// and the file that it names is written, whether it existed or not. The temporary file is created
// exclusively, under a short name of its own, so no other file is touched and `path` may have the
// longest name that the file system allows. A device such as /dev/stdout is written to directly.
// Throws std::runtime_error with the cause if any step fails.
void write_atomically(const std::string& path, std::string_view text);

}  // namespace normlab
