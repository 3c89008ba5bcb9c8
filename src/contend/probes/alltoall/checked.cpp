#include "alltoall/checked.hpp"

#include "alltoall/data.hpp"

namespace contend::probe::alltoall {

namespace {

std::string place(std::size_t at, std::size_t bytes) {
  return "byte " + std::to_string(at) + " of " + std::to_string(bytes);
}

}  // namespace

CheckedAlltoall::CheckedAlltoall(const Blocks& blocks) : blocks_(blocks) {
  std::byte* next = blocks_.send();
  for (int other = 0; other < blocks_.ranks(); ++other) {
    const std::size_t bytes = blocks_.to(other).bytes;
    fill_block(next, bytes, blocks_.rank(), other);
    next += bytes;
  }
  fill_guard(blocks_.send() + blocks_.sent_bytes(), kGuardBytes);
  fill_guard(blocks_.receive() + blocks_.received_bytes(), kGuardBytes);
}

void CheckedAlltoall::reset(bool verified) {
  if (!verified) {
    return;
  }
  for (int other = 0; other < blocks_.ranks(); ++other) {
    const Incoming block = blocks_.from(other);
    poison_block(block.data, block.bytes, other, blocks_.rank());
  }
}

std::optional<std::string> CheckedAlltoall::verify() {
  for (int other = 0; other < blocks_.ranks(); ++other) {
    const Incoming in = blocks_.from(other);
    if (const auto at = first_wrong(in.data, in.bytes, other, blocks_.rank())) {
      return place(*at, in.bytes) + " from rank " + std::to_string(other) + " is wrong";
    }
    const Outgoing out = blocks_.to(other);
    if (const auto at = first_wrong(out.data, out.bytes, blocks_.rank(), other)) {
      return place(*at, out.bytes) + " to rank " + std::to_string(other) +
             " has changed in the send buffer";
    }
  }
  if (const auto at = first_touched(blocks_.receive() + blocks_.received_bytes(), kGuardBytes)) {
    return "something wrote " + std::to_string(*at + 1) + " bytes beyond the receive buffer";
  }
  if (const auto at = first_touched(blocks_.send() + blocks_.sent_bytes(), kGuardBytes)) {
    return "something wrote " + std::to_string(*at + 1) + " bytes beyond the send buffer";
  }
  return std::nullopt;
}

}  // namespace contend::probe::alltoall
