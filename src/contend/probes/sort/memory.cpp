#include "sort/memory.hpp"

#include <algorithm>

#include "common/check.hpp"
#include "common/waiting.hpp"
#include "sort/host_memory.hpp"
#include "sort/local_sort.hpp"

namespace contend::probe::sort {

namespace {

constexpr std::int64_t kMarginShare = 32;
constexpr std::int64_t kMarginOfRank = std::int64_t{32} << 20;

/// The host with the greatest lack of memory, on every rank. Collective.
struct Lack {
  std::int64_t bytes;
  std::int64_t available;
  std::int64_t ranks;
};

Lack greatest_lack(const Lack& here, MPI_Comm comm) {
  struct {
    double lack;
    int rank;
  } worst = {static_cast<double>(here.bytes), rank_in(comm)};
  check("MPI_Allreduce",
        MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_DOUBLE_INT, MPI_MAXLOC, comm));
  std::int64_t told[3] = {here.bytes, here.available, here.ranks};
  if (worst.lack > 0) {
    check("MPI_Bcast", MPI_Bcast(told, 3, MPI_INT64_T, worst.rank, comm));
  }
  return {told[0], told[1], told[2]};
}

}  // namespace

Need need_of(const Shares& shares, std::int64_t doubles) {
  const auto vector = doubles * static_cast<std::int64_t>(sizeof(double));
  return {2 * shares.longest() * vector, LocalSort::index_bytes(doubles, shares.longest())};
}

Hosts::Hosts(MPI_Comm comm) : comm_(comm) {
  MPI_Comm host = MPI_COMM_NULL;
  check("MPI_Comm_split_type",
        MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host));
  ranks_on_host_ = size_of(host);
  check("MPI_Comm_free", MPI_Comm_free(&host));
}

void Hosts::ask(const Need& need) const {
  // Ranks of this host may still be giving back the memory of the cell before.
  MPI_Request request = MPI_REQUEST_NULL;
  check("MPI_Ibarrier", MPI_Ibarrier(comm_, &request));
  wait(request);
  const std::int64_t available = available_memory();
  const std::int64_t usable = std::max<std::int64_t>(
      0, available - available / kMarginShare - kMarginOfRank * ranks_on_host_);
  // Compared by division, as the product may be more than 64 bits hold.
  const bool fits = need.all() <= usable / ranks_on_host_;
  const std::int64_t lack = fits ? 0 : std::max<std::int64_t>(1, need.all() - usable / ranks_on_host_);
  const Lack worst = greatest_lack({lack, available, ranks_on_host_}, comm_);
  if (worst.bytes > 0) {
    throw NoMemory("a rank needs " + std::to_string(need.arrays) + " bytes of arrays and " +
                   std::to_string(need.index) + " of index, and " + std::to_string(worst.ranks) +
                   " ranks share a host with " + std::to_string(worst.available) +
                   " bytes available");
  }
}

}  // namespace contend::probe::sort
