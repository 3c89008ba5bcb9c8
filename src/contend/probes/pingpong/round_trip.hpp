#pragma once

#include <mpi.h>

#include <cstddef>

#include "common/operation.hpp"
#include "pingpong/messages.hpp"

namespace contend::probe::pingpong {

/// Round trips of one message at a time: there, and back again.
///
/// A rank with two partners does both parts at once: sends on and receives, then sends back.
class RoundTrip : public Operation {
 public:
  /// Where a rank keeps messages: in a buffer for each, or in one, so that what arrived is sent
  /// back from where it arrived.
  enum class Keeps { apart, together };

  /// `inner` round trips, one after the other, are a sample.
  RoundTrip(Partners partners, Keeps keeps, std::size_t bytes, std::int64_t inner, MPI_Comm comm);

  [[nodiscard]] bool takes_part() const override { return partners_.any(); }
  void reset(bool verified) override;
  void run(Stamps& stamps) override;
  [[nodiscard]] std::optional<std::string> verify() override;

 private:
  void exchange(Messages& out, Messages& in) const;

  Partners partners_;
  std::int64_t inner_;
  MPI_Comm comm_;
  // What this rank begins with and what comes back, then what it gets and what it answers.
  Messages ping_out_;
  Messages ping_in_;
  Messages pong_in_;
  Messages pong_out_;
};

}  // namespace contend::probe::pingpong
