// Says what memory a tree of files that looks like a machine's has left.

#include <cstdio>

#include "io/host_memory.hpp"

int main(int argc, char** argv) {
  const std::string root = argc > 1 ? argv[1] : "";
  std::printf("%lld\n", static_cast<long long>(contend::probe::available_memory(root)));
  return 0;
}
