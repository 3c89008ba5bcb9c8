#!/bin/sh
# Says in one line what this machine lacks to build contend; silent when it lacks nothing.
# Environment: PYTHON (default python3), CXX (default c++).
python=${PYTHON:-python3}
compiler=${CXX:-c++}

lacks() {
  echo "contend: $1" >&2
  exit 3
}

command -v "$python" >/dev/null ||
  lacks "$python not found: install Python 3.11 or newer (Debian: python3), or set PYTHON"
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
"$python" -c 'import sys; raise SystemExit(sys.version_info < (3, 11))' ||
  lacks "Python 3.11 or newer is needed, $python is $version: set PYTHON to a newer one"
"$python" -c 'import ensurepip, venv' 2>/dev/null ||
  lacks "$python cannot make virtual environments: install them (Debian: python3-venv)"
"$python" -c 'import os, sysconfig
headers = os.path.join(sysconfig.get_path("include"), "Python.h")
raise SystemExit(not os.path.exists(headers))' ||
  lacks "the headers of Python $version are missing: install them (Debian: python3-dev)"

command -v "$compiler" >/dev/null ||
  lacks "$compiler not found: install a C++20 compiler (Debian: g++), or set CXX"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
printf '#include <span>\n#include <concepts>\nint main() { return std::span<int>{}.size() != 0; }\n' \
  >"$scratch/try.cpp"
"$compiler" -std=c++20 "$scratch/try.cpp" -o "$scratch/try" 2>/dev/null ||
  lacks "$compiler does not compile C++20: install GCC 11 or Clang 14 or newer, or set CXX"
"$compiler" -std=c++20 -fopenmp "$scratch/try.cpp" -o "$scratch/try" 2>/dev/null ||
  lacks "$compiler does not compile OpenMP: install its library (Debian with Clang: libomp-dev)"
