#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/random.hpp"

namespace normlab {

// Sentences and their translations: target[i] translates source[i].
struct ParallelText {
  std::vector<std::string> source, target;

  std::int64_t size() const { return static_cast<std::int64_t>(source.size()); }
};

// `count` different numbers of 0 .. largest in random order, German to English
// (data/text/number_names.hpp). All numbers are equally likely, so that nine of ten have as many
// digits as `largest` can have. Throws std::invalid_argument if there are not so many.
ParallelText number_pairs(std::int64_t count, std::int64_t largest, Generator& generator);

// `count` different days from 1100 to 2099 (data/text/date_names.hpp).
ParallelText date_pairs(std::int64_t count, Generator& generator);
std::int64_t date_count();  // so many there are: 365,243

struct ParallelSplit {
  ParallelText train, test;
};

// Sends `train_fraction` of the different source sentences, rounded down, to train and the others
// to test. Every line follows its source sentence, so that none is on both sides, however often it
// occurs. (Two sources may have the same translation; in generated data they do not.) The lines
// keep their order.
ParallelSplit split(const ParallelText& text, double train_fraction, Generator& generator);

// 64-bit FNV-1a over the sentences, each source before its target and each with a line end behind
// it: tells one text from another, or from the same lines in another order.
std::uint64_t fingerprint(const ParallelText& text);

// Two files of UTF-8 text, a sentence a line; line i of one translates line i of the other. Lines
// may end in LF or CRLF, the last one may end in nothing, and a byte order mark is dropped. Throws
// std::runtime_error naming file, line and fault: a file that cannot be read or is empty, a line
// that is empty or not UTF-8, and a line without a partner.
ParallelText read_parallel_text(const std::string& source_path, const std::string& target_path);

}  // namespace normlab
