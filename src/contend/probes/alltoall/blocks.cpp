#include "alltoall/blocks.hpp"

#include <cstring>

#include "common/check.hpp"

namespace contend::probe::alltoall {

Blocks::Blocks(MPI_Comm comm, const Counts& counts)
    : comm_(comm), rank_(rank_in(comm)), ranks_(size_of(comm)), counts_(counts) {
  send_begin_.push_back(0);
  receive_begin_.push_back(0);
  for (int other = 0; other < ranks_; ++other) {
    send_begin_.push_back(send_begin_.back() + counts.of(rank_, other));
    receive_begin_.push_back(receive_begin_.back() + counts.of(other, rank_));
  }
}

void Blocks::place(std::byte* send, std::byte* receive) {
  send_ = send;
  receive_ = receive;
}

Outgoing Blocks::to(int destination) const {
  const auto index = static_cast<std::size_t>(destination);
  return {send_ + send_begin_[index], send_begin_[index + 1] - send_begin_[index]};
}

Incoming Blocks::from(int source) const {
  const auto index = static_cast<std::size_t>(source);
  return {receive_ + receive_begin_[index], receive_begin_[index + 1] - receive_begin_[index]};
}

void Blocks::copy_own() const {
  if (const Outgoing own = to(rank_); own.bytes != 0) {
    std::memcpy(from(rank_).data, own.data, own.bytes);
  }
}

}  // namespace contend::probe::alltoall
