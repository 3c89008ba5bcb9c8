#include "bisect/bisect.hpp"

#include <algorithm>

#include "common/check.hpp"

namespace contend::probe {

Bisect::Bisect(const std::string& patterns, const Order& order, std::int64_t bytes,
               std::int64_t packets, MPI_Comm comm)
    : order_(order), comm_(comm), rank_(rank_in(comm)), transfer_(bytes, packets, comm) {
  if (rank_ == 0) {
    file_ = std::make_unique<PatternFile>(patterns, size_of(comm));
  }
}

void Bisect::reset(bool verified) {
  // The warm-ups and the samples after them begin with the first pattern.
  const std::int64_t timed = samples_++ - order_.warm_ups;
  if (samples_ == 1 || (timed > 0 && timed % order_.repeats == 0)) {
    advance();
  }
  transfer_.prepare(mine_[0], mine_[1], verified);
}

void Bisect::run(Stamps& stamps) {
  transfer_.receive_all();
  stamps.mark();
  transfer_.finish_sending();
}

void Bisect::advance() {
  if (rank_ == 0) {
    if (!file_->next(destination_)) {
      file_->rewind();
      file_->next(destination_);
    }
    // Pairs of where a rank sends to and where it receives from, rank after rank.
    ends_.assign(2 * destination_.size(), -1);
    for (std::size_t from = 0; from < destination_.size(); ++from) {
      ends_[2 * from] = destination_[from];
      if (destination_[from] >= 0) {
        ends_[2 * static_cast<std::size_t>(destination_[from]) + 1] = static_cast<int>(from);
      }
    }
  }
  check("MPI_Scatter",
        MPI_Scatter(ends_.data(), 2, MPI_INT, mine_, 2, MPI_INT, 0, comm_));
}

}  // namespace contend::probe
