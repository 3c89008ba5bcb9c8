#include "bisect/bisect.hpp"

#include <algorithm>
#include <optional>

#include "bisect/pattern_file.hpp"
#include "common/check.hpp"

namespace contend::probe {

Bisect::Bisect(const std::string& patterns, const Order& order, std::int64_t bytes,
               std::int64_t packets, MPI_Comm comm)
    : order_(order), transfer_(bytes, packets, comm) {
  scatter(patterns, comm);
}

void Bisect::reset(bool verified) {
  // The warm-ups, and the samples after them, begin with the first pattern.
  const std::int64_t timed = std::max<std::int64_t>(samples_++ - order_.warm_ups, 0);
  const auto pattern = static_cast<std::size_t>(timed / order_.repeats) % parts_.size();
  transfer_.prepare(parts_[pattern].destination, parts_[pattern].source, verified);
}

void Bisect::run(Stamps& stamps) {
  transfer_.receive_all();
  stamps.mark();
  transfer_.finish_sending();
}

void Bisect::scatter(const std::string& patterns, MPI_Comm comm) {
  const auto ranks = static_cast<std::size_t>(size_of(comm));
  std::optional<PatternFile> file;
  if (rank_in(comm) == 0) {
    file.emplace(patterns, size_of(comm));
  }
  std::vector<int> destination;
  std::vector<Part> all;
  for (;;) {
    int more = file && file->next(destination) ? 1 : 0;
    check("MPI_Bcast", MPI_Bcast(&more, 1, MPI_INT, 0, comm));
    if (more == 0) {
      return;
    }
    if (file) {
      all.assign(ranks, {});
      for (std::size_t from = 0; from < ranks; ++from) {
        all[from].destination = destination[from];
        if (destination[from] >= 0) {
          all[static_cast<std::size_t>(destination[from])].source = static_cast<int>(from);
        }
      }
    }
    Part mine;
    check("MPI_Scatter", MPI_Scatter(all.data(), 2, MPI_INT, &mine, 2, MPI_INT, 0, comm));
    parts_.push_back(mine);
  }
}

}  // namespace contend::probe
