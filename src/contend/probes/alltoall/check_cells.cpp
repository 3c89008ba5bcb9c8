#include "alltoall/check_cells.hpp"

#include <cstdio>
#include <new>
#include <string>

#include "common/check.hpp"
#include "common/exchange.hpp"
#include "common/waiting.hpp"

namespace contend::probe::alltoall {

namespace {

enum class Found { right, skipped, wrong };

struct Verdict {
  Found found;
  // Why, where it is not right.
  std::string said;
};

Verdict check_here(const Cell& cell, const MakeOperation& make, MPI_Comm comm) {
  try {
    const std::unique_ptr<Operation> operation = make(cell, comm);
    operation->reset(true);
    Stamps stamps;
    operation->run(stamps);
    if (const auto problem = operation->verify()) {
      return {Found::wrong, *problem};
    }
    return {Found::right, ""};
  } catch (const Unsupported& reason) {
    return {Found::skipped, reason.what()};
  } catch (const std::bad_alloc&) {
    return {Found::wrong, "not enough memory for the data"};
  }
}

// The worst of all ranks' verdicts, with the words of the first rank that has it.
Verdict worst_of(const Verdict& mine, MPI_Comm comm) {
  const int code = static_cast<int>(mine.found);
  int worst = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  check("MPI_Iallreduce", MPI_Iallreduce(&code, &worst, 1, MPI_INT, MPI_MAX, comm, &request));
  wait(request);
  if (worst == static_cast<int>(Found::right)) {
    return {Found::right, ""};
  }
  const std::vector<std::string> said =
      gather_everywhere(code == worst ? mine.said : std::string(), comm);
  for (std::size_t rank = 0; rank < said.size(); ++rank) {
    if (!said[rank].empty()) {
      return {static_cast<Found>(worst), "rank " + std::to_string(rank) + ": " + said[rank]};
    }
  }
  return {static_cast<Found>(worst), ""};
}

}  // namespace

int check_cells(const std::vector<Cell>& cells, const MakeOperation& make, MPI_Comm comm) {
  const bool first = rank_in(comm) == 0;
  int wrong = 0;
  int skipped = 0;
  for (const Cell& cell : cells) {
    const Verdict verdict = worst_of(check_here(cell, make, comm), comm);
    wrong += verdict.found == Found::wrong ? 1 : 0;
    skipped += verdict.found == Found::skipped ? 1 : 0;
    if (verdict.found != Found::right && first) {
      std::printf("%s %s, %s\n",
                  verdict.found == Found::wrong ? "wrong:" : "skipped:", cell.name().c_str(),
                  verdict.said.c_str());
    }
  }
  if (first) {
    std::printf("%d ranks, %zu cells: %zu right, %d wrong, %d skipped\n", size_of(comm),
                cells.size(), cells.size() - static_cast<std::size_t>(wrong + skipped), wrong,
                skipped);
    std::fflush(stdout);
  }
  return wrong == 0 ? 0 : 1;
}

}  // namespace contend::probe::alltoall
