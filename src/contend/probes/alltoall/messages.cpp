#include "alltoall/messages.hpp"

#include "compat/large_count.hpp"
#include "timing/clock.hpp"
#include "timing/waiting.hpp"

namespace contend::probe::alltoall {

void Messages::receive(const Blocks& blocks, int source) {
  if (const Incoming in = blocks.from(source); in.bytes != 0) {
    add(receive_bytes(in.data, in.bytes, source, kTag, blocks.comm()));
  }
}

void Messages::send(const Blocks& blocks, int destination) {
  if (const Outgoing out = blocks.to(destination); out.bytes != 0) {
    add(send_bytes(out.data, out.bytes, destination, kTag, blocks.comm()));
  }
}

void Messages::finish() {
  wait_all(requests_);
  requests_.clear();
}

void send_and_receive(const Blocks& blocks, int destination, int source) {
  const Outgoing out = blocks.to(destination);
  const Incoming in = blocks.from(source);
  send_and_receive_bytes(out.data, out.bytes, out.bytes == 0 ? MPI_PROC_NULL : destination, in.data,
                         in.bytes, in.bytes == 0 ? MPI_PROC_NULL : source, kTag, blocks.comm());
}

void Barriers::pass() {
  const std::int64_t begin = local_now();
  pass_barrier(comm_);
  spent_ns_ += local_now() - begin;
}

double Barriers::take() {
  const double seconds = static_cast<double>(spent_ns_) * 1e-9;
  spent_ns_ = 0;
  return seconds;
}

}  // namespace contend::probe::alltoall
