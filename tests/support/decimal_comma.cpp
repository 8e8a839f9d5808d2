#include "tests/support/decimal_comma.hpp"

#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <tuple>

#include <fmt/format.h>

// LeakSanitizer asks this function what to overlook: glibc never frees its list of LOCPATH's
// folders.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:argz_add_sep\n"; }

namespace normlab {

namespace {

constexpr const char* kName = "normlab_comma";

constexpr const char* kSource = R"(LC_NUMERIC
decimal_point ","
thousands_sep "."
grouping 3;3
END LC_NUMERIC
)";

// ASCII. localedef would read its own from the package locales, which need not be there.
constexpr const char* kCharacters = R"(<escape_char> /
CHARMAP
<U0000>..<U007F> /x00 ASCII
END CHARMAP
)";

}  // namespace

DecimalComma::DecimalComma()
    : folder_(std::filesystem::temp_directory_path() /
              fmt::format("normlab_decimal_comma_{}", static_cast<const void*>(this))) {
  if (const char* path = std::getenv("LOCPATH")) former_path_ = path;
  std::filesystem::create_directory(folder_);
  std::ofstream(folder_ / "source") << kSource;
  std::ofstream(folder_ / "characters") << kCharacters;
  // The status is 1 even when the locale was made: all categories but numbers are missing.
  std::ignore = std::system(fmt::format("cd '{}' && localedef -c -f ./characters -i ./source ./{} "
                                        ">messages 2>&1",
                                        folder_.string(), kName)
                                .c_str());
  setenv("LOCPATH", folder_.c_str(), 1);
  try {
    std::locale::global(std::locale(std::locale::classic(), kName, std::locale::numeric));
    is_set_ = true;
  } catch (const std::runtime_error&) {  // there is no such locale
  }
}

DecimalComma::~DecimalComma() {
  std::locale::global(former_);
  if (former_path_) {
    setenv("LOCPATH", former_path_->c_str(), 1);
  } else {
    unsetenv("LOCPATH");
  }
  std::filesystem::remove_all(folder_);
}

}  // namespace normlab
