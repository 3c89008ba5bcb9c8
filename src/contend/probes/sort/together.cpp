#include "sort/together.hpp"

#include "common/check.hpp"
#include "common/waiting.hpp"

namespace contend::probe::sort {

void wait_for_all(MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  check("MPI_Ibarrier", MPI_Ibarrier(comm, &request));
  wait(request);
}

int first_refusing(bool refuses, MPI_Comm comm) {
  const int none = size_of(comm);
  const int mine = refuses ? rank_in(comm) : none;
  int first = none;
  MPI_Request request = MPI_REQUEST_NULL;
  check("MPI_Iallreduce", MPI_Iallreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm, &request));
  wait(request);
  return first;
}

}  // namespace contend::probe::sort
