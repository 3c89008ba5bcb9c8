// Says which MPI library a program built with this wrapper runs on, and how many ranks found each
// other. Rank 0 writes one line for each fact: "contend NAME VALUE".

#include <dlfcn.h>
#include <mpi.h>

#include <cstdio>
#include <string>

namespace {

// The file that MPI_Init comes from; empty in a static program.
std::string library_file() {
  Dl_info info{};
  void* const symbol = dlsym(RTLD_DEFAULT, "MPI_Init");
  if (symbol == nullptr || dladdr(symbol, &info) == 0 || info.dli_fname == nullptr) {
    return "";
  }
  return info.dli_fname;
}

// The library's text may have several lines; here it must stay on one.
std::string on_one_line(const std::string& text) {
  std::string made;
  for (const char letter : text) {
    if (letter == '\n') {
      made += "\\n";
    } else if (letter != '\0') {
      made += letter;
    }
  }
  return made;
}

int fail(const char* call, int code) {
  std::fprintf(stderr, "%s failed with code %d\n", call, code);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (const int code = MPI_Init(&argc, &argv); code != MPI_SUCCESS) {
    return fail("MPI_Init", code);
  }
  int rank = 0;
  int size = 0;
  if (const int code = MPI_Comm_rank(MPI_COMM_WORLD, &rank); code != MPI_SUCCESS) {
    return fail("MPI_Comm_rank", code);
  }
  if (const int code = MPI_Comm_size(MPI_COMM_WORLD, &size); code != MPI_SUCCESS) {
    return fail("MPI_Comm_size", code);
  }
  int major = 0;
  int minor = 0;
  if (const int code = MPI_Get_version(&major, &minor); code != MPI_SUCCESS) {
    return fail("MPI_Get_version", code);
  }
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  if (const int code = MPI_Get_library_version(version, &length); code != MPI_SUCCESS) {
    return fail("MPI_Get_library_version", code);
  }
  // A size is only a claim until messages have met: every rank counts for one.
  const int one = 1;
  int met = 0;
  if (const int code = MPI_Allreduce(&one, &met, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      code != MPI_SUCCESS) {
    return fail("MPI_Allreduce", code);
  }
  if (rank == 0) {
    const std::string said = "contend size " + std::to_string(size) + "\ncontend met " +
                             std::to_string(met) + "\ncontend standard " + std::to_string(major) +
                             "." + std::to_string(minor) + "\ncontend file " + library_file() +
                             "\ncontend version " + on_one_line(version) + "\n";
    // In one piece, so that the lines of ranks that do not know each other cannot mix.
    std::fwrite(said.data(), 1, said.size(), stdout);
    std::fflush(stdout);
  }
  if (const int code = MPI_Finalize(); code != MPI_SUCCESS) {
    return fail("MPI_Finalize", code);
  }
  return 0;
}
