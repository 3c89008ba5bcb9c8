#include "pingpong/stream.hpp"

#include "common/ranks.hpp"
#include "compat/large_count.hpp"
#include "timing/waiting.hpp"

namespace contend::probe::pingpong {

namespace {

constexpr int kUp = 1;
constexpr int kDown = 2;
// Added to a message's tag.
constexpr int kAcknowledged = 10;

}  // namespace

Stream::Stream(Partners partners, bool both_ways, std::size_t bytes, std::size_t window,
               std::int64_t inner, MPI_Comm comm)
    : takes_part_(partners.any()), window_(window), inner_(inner), comm_(comm) {
  const int rank = rank_in(comm);
  if (partners.to != MPI_PROC_NULL) {
    out_.emplace_back(rank, partners.to, kUp, bytes, 1);
    if (both_ways) {
      in_.emplace_back(partners.to, rank, kDown, bytes, window);
    }
  }
  if (partners.from != MPI_PROC_NULL) {
    in_.emplace_back(partners.from, rank, kUp, bytes, window);
    if (both_ways) {
      out_.emplace_back(rank, partners.from, kDown, bytes, 1);
    }
  }
  for (Messages& messages : out_) {
    messages.fill();
  }
  for (Messages& messages : in_) {
    messages.clear();
  }
  requests_.reserve((in_.size() + out_.size()) * window);
}

void Stream::reset(bool verified) {
  if (verified) {
    for (Messages& messages : in_) {
      messages.clear();
    }
  }
}

void Stream::run(Stamps&) {
  for (std::int64_t turn = 0; turn < inner_; ++turn) {
    transfer();
    acknowledge();
  }
}

void Stream::transfer() {
  requests_.clear();
  for (Messages& messages : in_) {
    for (std::size_t number = 0; number < window_; ++number) {
      requests_.push_back(receive_bytes(messages.message(number), messages.bytes(),
                                        messages.source(), messages.way(), comm_));
    }
  }
  for (Messages& messages : out_) {
    for (std::size_t number = 0; number < window_; ++number) {
      requests_.push_back(send_bytes(messages.message(0), messages.bytes(), messages.destination(),
                                     messages.way(), comm_));
    }
  }
  wait_all(requests_);
}

void Stream::acknowledge() {
  requests_.clear();
  for (const Messages& messages : out_) {
    requests_.push_back(
        receive_bytes(nullptr, 0, messages.destination(), messages.way() + kAcknowledged, comm_));
  }
  for (const Messages& messages : in_) {
    requests_.push_back(
        send_bytes(nullptr, 0, messages.source(), messages.way() + kAcknowledged, comm_));
  }
  wait_all(requests_);
}

std::optional<std::string> Stream::verify() {
  for (const Messages& messages : in_) {
    if (const std::optional<std::string> wrong = messages.verify()) {
      return wrong;
    }
  }
  return std::nullopt;
}

}  // namespace contend::probe::pingpong
