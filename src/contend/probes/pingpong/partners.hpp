#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace contend::probe::pingpong {

/// Whom a rank sends its first message to, and whom it gets one from; MPI_PROC_NULL for nobody.
struct Partners {
  int to;
  int from;

  [[nodiscard]] bool any() const;
};

/// Names of the cells that `--pairs` asks for: "0-1" as it is, "all-shifts" as "shift-1",
/// "shift-2", ... up to half of the ranks; beyond, the same pairs come again.
///
/// Throws BadInput for what is no pair of these ranks.
[[nodiscard]] std::vector<std::string> name_pairs(const std::string& text, int ranks);

/// What a rank has to do in a pair "A-B", where A sends first, or in "shift-S", where every rank
/// sends to the one S above it.
[[nodiscard]] Partners partners_in(const std::string& pairs, int rank, int ranks);

}  // namespace contend::probe::pingpong
