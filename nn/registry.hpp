#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/check.hpp"

namespace normlab {

// Entries that are found by name, in the order in which they were added. An Entry has a `name` and
// a one-line `description`. Not synchronized: add all entries before threads read them.
template <typename Entry>
class Registry {
 public:
  // `kind` is what an entry is called in errors: "norm", "placement".
  explicit Registry(std::string kind) : kind_(std::move(kind)) {}

  // Throws std::invalid_argument for an empty name or one that is taken.
  void add(Entry entry) {
    check(!entry.name.empty(), "Registry", kind_, "must have a name", "none");
    check(find(entry.name) == entries_.end(), "Registry", kind_, "must have a name of its own",
          entry.name);
    entries_.push_back(std::move(entry));
  }

  // Throws std::invalid_argument, listing the names there are.
  const Entry& at(const std::string& name) const {
    const auto found = find(name);
    check(found != entries_.end(), "Registry", kind_, "must be one of " + joined_names(), name);
    return *found;
  }

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const Entry& entry : entries_) all.push_back(entry.name);
    return all;
  }

  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

 private:
  auto find(const std::string& name) const {
    return std::find_if(entries_.begin(), entries_.end(),
                        [&](const Entry& entry) { return entry.name == name; });
  }

  std::string joined_names() const {
    std::string text;
    for (const std::string& name : names()) text += (text.empty() ? "" : ", ") + name;
    return text;
  }

  std::string kind_;
  std::vector<Entry> entries_;
};

}  // namespace normlab
