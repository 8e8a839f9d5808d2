#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/random.hpp"

namespace normlab {

// Sentences and their translations: target[i] translates source[i].
struct ParallelText {
  std::vector<std::string> source, target;

  std::int64_t size() const { return static_cast<std::int64_t>(source.size()); }  // in pairs
};

// `count` different numbers from 0 to `largest` in random order, German to English
// (data/text/number_names.hpp). All numbers are equally likely, so nine of ten have as many digits
// as `largest`. Throws std::invalid_argument unless `largest` lies in 0 .. 999,999 and `count` in
// 1 .. largest + 1.
ParallelText number_pairs(std::int64_t count, std::int64_t largest, Generator& generator);

// `count` different days from 1100 to 2099 in random order, German to English
// (data/text/date_names.hpp). Throws std::invalid_argument unless `count` lies in
// 1 .. date_count().
ParallelText date_pairs(std::int64_t count, Generator& generator);
std::int64_t date_count();  // the number of days from 1100 to 2099: 365,243

struct ParallelSplit {
  ParallelText train, test;
};

// Sends `train_fraction` (0 to 1) of the different source sentences, rounded down, to train and the
// others to test. All pairs with the same source sentence go to the same side. (Two sources may
// have the same translation; in generated text they do not.) Pairs keep their order. Throws
// std::invalid_argument if the fraction is not a probability or a source has no target.
ParallelSplit split(const ParallelText& text, double train_fraction, Generator& generator);

// 64-bit FNV-1a (Fowler, Noll, Vo; draft-eastlake-fnv) of all sentences, each source before its
// target and a line feed after each sentence. Differs for another order of the pairs.
std::uint64_t fingerprint(const ParallelText& text);

// Pairs that the reader skips. With the defaults it skips none, and an empty line is a fault.
struct PairFilter {
  // Pairs with a side that is empty or holds only spaces and tabs.
  bool skip_empty = false;
  // Pairs with a side of more characters (code points) than this, which must be positive.
  std::optional<std::int64_t> max_length = std::nullopt;
};

struct FilteredText {
  ParallelText text;
  std::int64_t empty = 0, too_long = 0;  // skipped pairs; a pair that is both counts as empty
};

// Reads two files of UTF-8 text, one sentence a line; line i of one translates line i of the other.
// Lines end in LF or CRLF (the last one may end in neither) and in no other character, and a byte
// order mark at the start is dropped. Throws std::runtime_error if a file cannot be read or is
// empty, if a line is empty or not UTF-8, if a line has no partner, or if the filter leaves no
// pair. The message names file, line and byte of up to ten faults and says how many there are.
FilteredText read_parallel_text(const std::string& source_path, const std::string& target_path,
                                const PairFilter& filter);
ParallelText read_parallel_text(const std::string& source_path, const std::string& target_path);

}  // namespace normlab
