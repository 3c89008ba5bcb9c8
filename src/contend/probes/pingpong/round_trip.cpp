#include "pingpong/round_trip.hpp"

#include <climits>

#include "common/ranks.hpp"
#include "compat/large_count.hpp"
#include "timing/waiting.hpp"

namespace contend::probe::pingpong {

namespace {

constexpr int kThere = 1;
constexpr int kBack = 2;

// A message to or from nobody has no bytes: some libraries look at its place in memory even so.
Messages one(int source, int destination, int way, std::size_t bytes) {
  const bool real = source != MPI_PROC_NULL && destination != MPI_PROC_NULL;
  return {source, destination, way, real ? bytes : 0, real ? std::size_t{1} : std::size_t{0}};
}

}  // namespace

RoundTrip::RoundTrip(Partners partners, Keeps keeps, std::size_t bytes, std::int64_t inner,
                     MPI_Comm comm)
    : partners_(partners),
      inner_(inner),
      comm_(comm),
      ping_out_(one(rank_in(comm), partners.to, kThere, bytes)),
      ping_in_(one(partners.from, rank_in(comm), kThere, bytes)),
      pong_in_(keeps == Keeps::apart ? one(partners.to, rank_in(comm), kBack, bytes)
                                     : Messages(partners.to, rank_in(comm), kBack, ping_out_)),
      pong_out_(keeps == Keeps::apart ? one(rank_in(comm), partners.from, kBack, bytes)
                                      : Messages(rank_in(comm), partners.from, kBack, ping_in_)) {
  ping_out_.fill();
  pong_out_.fill();
  pong_in_.clear();
  ping_in_.clear();
}

void RoundTrip::reset(bool verified) {
  if (verified) {
    pong_in_.clear();
    ping_in_.clear();
  }
}

void RoundTrip::run(Stamps&) {
  for (std::int64_t trip = 0; trip < inner_; ++trip) {
    exchange(ping_out_, ping_in_);
    exchange(pong_out_, pong_in_);
  }
}

// The calls that everybody's ping-pong makes, where they do: they are the fastest.
void RoundTrip::exchange(Messages& out, Messages& in) const {
  if (crowded() || out.bytes() > kLargestCount || (out.count() > 0 && in.count() > 0)) {
    send_and_receive_bytes(out.message(0), out.bytes(), out.destination(), in.message(0),
                           in.bytes(), in.source(), out.way(), comm_);
  } else if (out.count() > 0) {
    check("MPI_Send", MPI_Send(out.message(0), static_cast<int>(out.bytes()), MPI_BYTE,
                               out.destination(), out.way(), comm_));
  } else {
    check("MPI_Recv", MPI_Recv(in.message(0), static_cast<int>(in.bytes()), MPI_BYTE, in.source(),
                               in.way(), comm_, MPI_STATUS_IGNORE));
  }
}

std::optional<std::string> RoundTrip::verify() {
  const std::optional<std::string> wrong = ping_in_.verify();
  return wrong ? wrong : pong_in_.verify();
}

}  // namespace contend::probe::pingpong
