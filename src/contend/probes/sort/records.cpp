#include "sort/records.hpp"

#include <cstdio>

#include "common/ranks.hpp"
#include "timing/waiting.hpp"

namespace contend::probe::sort {

void wait_for_all(MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  CHECKED(MPI_Ibarrier, comm, &request);
  wait(request);
}

int first_refusing(bool refuses, MPI_Comm comm) {
  const int none = size_of(comm);
  const int mine = refuses ? rank_in(comm) : none;
  int first = none;
  MPI_Request request = MPI_REQUEST_NULL;
  CHECKED(MPI_Iallreduce, &mine, &first, 1, MPI_INT, MPI_MIN, comm, &request);
  wait(request);
  return first;
}

void print_keys(const std::string& title, const Records& records, MPI_Comm comm) {
  std::string row;
  for (std::int64_t record = 0; record < records.count; ++record) {
    char key[32];
    std::snprintf(key, sizeof key, " %.10g", records.key(record));
    row += key;
  }
  std::string page = title + "\n";
  for (const std::string& other : gather_everywhere(row, comm)) {
    page += other + "\n";
  }
  if (rank_in(comm) == 0) {
    std::fwrite(page.data(), 1, page.size(), stdout);
    std::fflush(stdout);
  }
}

}  // namespace contend::probe::sort
