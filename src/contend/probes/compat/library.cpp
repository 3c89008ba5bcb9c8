#include "compat/library.hpp"

#include <mpi.h>

#include "common/ranks.hpp"

namespace contend::probe {

std::string library_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  check("MPI_Get_library_version", MPI_Get_library_version(text, &length));
  std::string line;
  for (const char* at = text; *at != '\0'; ++at) {
    line += *at == '\n' || *at == '\t' ? ' ' : *at;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string library_standard() {
  int major = 0;
  int minor = 0;
  check("MPI_Get_version", MPI_Get_version(&major, &minor));
  return std::to_string(major) + "." + std::to_string(minor);
}

}  // namespace contend::probe
