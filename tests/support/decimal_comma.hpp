#pragma once

#include <filesystem>
#include <locale>
#include <optional>
#include <string>

namespace normlab {

// Gives the process a locale with a decimal comma, for C (strtod, printf) and for C++ (streams),
// and restores the former one at the end of its life. The locale is made by glibc's localedef from
// a source of our own, so none has to be installed.
class DecimalComma {
 public:
  DecimalComma();
  ~DecimalComma();
  DecimalComma(const DecimalComma&) = delete;
  DecimalComma& operator=(const DecimalComma&) = delete;

  // False where there is no localedef: the test has to be skipped, visibly.
  bool is_set() const { return is_set_; }

 private:
  std::filesystem::path folder_;
  std::locale former_;
  std::optional<std::string> former_path_;  // LOCPATH
  bool is_set_ = false;
};

}  // namespace normlab
