#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace normlab {

// A file of lines that a long run writes as it goes: a header, which says what the run is, and a
// line for each finished cell. A killed run leaves the lines that it finished and at most a piece
// of one more, which the next run drops.
class CellJournal {
 public:
  // Begins the file anew; with `resume` takes up one that is there. Throws std::runtime_error if it
  // cannot be written, or if its header is another: a run of other options cannot be continued.
  CellJournal(std::string path, std::string header, bool resume);

  // The cells that were there.
  const std::vector<std::string>& found() const { return found_; }
  // One call at a time.
  void append(std::string_view line);
  // Puts header and lines in the place of the file, atomically: in the order of the cells, whatever
  // order they were finished in.
  void finish(const std::vector<std::string>& lines);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::string path_, header_;
  std::vector<std::string> found_;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace normlab
