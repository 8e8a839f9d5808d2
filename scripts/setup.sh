# Sourced by quickstart and test: checks the tools, installs what is missing, configures the preset
# release. Leaves the working directory at the root of the project. Everything it prints goes to
# stderr.

cd "$(dirname "${BASH_SOURCE[0]}")/.."

die() {
  echo "$(basename "$0"): $*" >&2
  exit 1
}

check_tools() {
  command -v cmake >/dev/null || die "cmake is missing: apt-get install cmake g++"
  command -v "${CXX:-c++}" >/dev/null || command -v g++ >/dev/null || command -v clang++ >/dev/null ||
    die "a C++ compiler is missing: apt-get install g++"
  local version
  version=$(cmake --version | sed -n 's/^cmake version \([0-9.]*\).*/\1/p')
  [ "$(printf '%s\n' 3.25 "$version" | sort -V | head -n 1)" = 3.25 ] ||
    die "cmake $version is too old: 3.25 or later is needed"
}

# configure <preset>. A folder configured earlier keeps its generator.
configure() {
  if [ ! -f "build/$1/CMakeCache.txt" ] && command -v ninja >/dev/null; then
    export CMAKE_GENERATOR=Ninja
  else
    unset CMAKE_GENERATOR
  fi
  cmake --preset "$1" >&2 || die "cmake could not configure the preset $1 (see above)"
}

# build <preset> [cmake --build arguments]
build() {
  local preset=$1
  shift
  cmake --build --preset "$preset" --parallel "$(nproc)" "$@" >&2 ||
    die "the build failed (see above)"
}

check_tools
scripts/install-dependencies.sh || die "the dependencies are not installed (see above)"
configure release
