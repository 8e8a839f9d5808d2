#!/usr/bin/env bash
# Installs the Debian packages that the build needs and that are not there yet, and any further
# ones given as arguments. Needs apt-get, and root or sudo only when something is missing.
set -euo pipefail

packages=(
  libopenblas-pthread-dev
  doctest-dev
  nlohmann-json3-dev
  libcli11-dev
  libfmt-dev
  libbenchmark-dev
  libutfcpp-dev
  "$@"
)
command -v ninja >/dev/null || command -v make >/dev/null || packages+=(ninja-build)

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  echo "install-dependencies: no apt-get here: install OpenBLAS, doctest, nlohmann_json, CLI11, fmt, utfcpp, Google Benchmark and make with your system's package manager" >&2
  exit 0
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "install-dependencies: missing packages; as root, run: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

echo "install-dependencies: installing ${missing[*]}" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() {
  # The lock may be held for a while on a fresh machine (unattended upgrades).
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@" >>"$log" 2>&1
}
# A failed update is no reason to stop: the lists that are there may do.
apt update || true
if ! apt install --yes --no-install-recommends "${missing[@]}"; then
  cat "$log" >&2
  echo "install-dependencies: apt-get could not install ${missing[*]} (see above)" >&2
  exit 1
fi
