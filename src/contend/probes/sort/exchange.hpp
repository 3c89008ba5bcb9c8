#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace contend::probe::sort {

/// How many doubles go to and come from every rank; blocks lie in the order of ranks without gaps.
struct Counts {
  std::vector<std::int64_t> to;
  std::vector<std::int64_t> from;
};

/// One way to bring every rank its blocks.
class Exchange {
 public:
  Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  virtual ~Exchange() = default;

  virtual void run(const double* unsorted, double* sorted) = 0;
};

/// The names of all ways.
[[nodiscard]] const std::vector<std::string>& exchange_names();

/// Makes what exchanges doubles again and again by the same counts. Collective.
[[nodiscard]] std::unique_ptr<Exchange> make_exchange(const std::string& name, const Counts& counts,
                                                      MPI_Comm comm);

}  // namespace contend::probe::sort
