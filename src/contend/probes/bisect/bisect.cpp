#include "bisect/bisect.hpp"

#include <algorithm>
#include <optional>

#include "common/ranks.hpp"
#include "io/pattern_file.hpp"
#include "timing/waiting.hpp"

namespace contend::probe {

namespace {

/// Packets under way at a time in each direction.
constexpr std::int64_t under_way = 4;
constexpr int tag = 7;
constexpr auto wiped = std::byte{0xA5};

/// What stands at a place of the packets that a rank sends: no two ranks' packets are alike.
std::byte content(int rank, std::int64_t place) {
  const auto mixed = (static_cast<std::uint64_t>(rank) + 1) * 0x9E3779B97F4A7C15U +
                     static_cast<std::uint64_t>(place) * 0xBF58476D1CE4E5B9U;
  return static_cast<std::byte>(mixed >> 56);
}

std::size_t in_memory(std::int64_t bytes) { return static_cast<std::size_t>(bytes); }

}  // namespace

Transfer::Transfer(std::int64_t bytes, std::int64_t packets, MPI_Comm comm)
    : bytes_(bytes), packets_(packets), comm_(comm), rank_(rank_in(comm)) {
  const std::int64_t slots = std::min(under_way, packets);
  sent_.resize(in_memory(bytes));
  for (std::int64_t place = 0; place < bytes; ++place) {
    sent_[in_memory(place)] = content(rank_, place);
  }
  received_.assign(in_memory(bytes * slots), wiped);
  sends_.assign(in_memory(slots), MPI_REQUEST_NULL);
  receives_.assign(in_memory(slots), MPI_REQUEST_NULL);
}

void Transfer::prepare(int destination, int source, bool verified) {
  destination_ = destination;
  source_ = source;
  if (verified) {
    std::fill(received_.begin(), received_.end(), wiped);
  }
}

void Transfer::receive_all() {
  // A rank waits only for packets that lie a whole ring behind the one it is about to post. The
  // rank that is furthest behind therefore waits for packets that everybody has posted.
  for (std::int64_t packet = 0; packet < packets_; ++packet) {
    const auto slot = static_cast<std::size_t>(packet) % sends_.size();
    wait(receives_[slot]);
    wait(sends_[slot]);
    post(slot);
  }
  wait_all(receives_);
}

void Transfer::finish_sending() { wait_all(sends_); }

std::optional<std::string> Transfer::verify() const {
  if (source_ < 0) {
    return std::nullopt;
  }
  for (std::size_t place = 0; place < received_.size(); ++place) {
    const auto within = static_cast<std::int64_t>(place) % bytes_;
    if (received_[place] != content(source_, within)) {
      return "byte " + std::to_string(within) + " of a packet from rank " +
             std::to_string(source_) + " is wrong";
    }
  }
  return std::nullopt;
}

void Transfer::post(std::size_t slot) {
  const int count = static_cast<int>(bytes_);
  if (source_ >= 0) {
    std::byte* const place = received_.data() + slot * in_memory(bytes_);
    check("MPI_Irecv", MPI_Irecv(place, count, MPI_BYTE, source_, tag, comm_, &receives_[slot]));
  }
  if (destination_ >= 0) {
    check("MPI_Isend",
          MPI_Isend(sent_.data(), count, MPI_BYTE, destination_, tag, comm_, &sends_[slot]));
  }
}

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
