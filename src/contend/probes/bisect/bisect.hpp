#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bisect/transfer.hpp"
#include "common/operation.hpp"

namespace contend::probe {

/// One pattern of a file in every sample: all its messages at once, each of some packets.
///
/// Rank 0 reads the patterns and scatters them; no rank holds more than its own part of each.
/// A rank without a part in the pattern starts with the others and has ended at once.
/// Source: Hoefler, Schneider, Lumsdaine, CLUSTER 2008, section 3.2.3.
class Bisect : public Operation {
 public:
  /// How often each pattern of the file is run, and how many warm-ups run the first.
  struct Order {
    std::int64_t repeats;
    std::int64_t warm_ups;
  };

  Bisect(const std::string& patterns, const Order& order, std::int64_t bytes, std::int64_t packets,
         MPI_Comm comm);

  /// "received": the instant at which the last packet was here, on ranks that receive.
  [[nodiscard]] std::vector<std::string> columns() const override { return {"received"}; }
  void reset(bool verified) override;
  void run(Stamps& stamps) override;
  [[nodiscard]] std::optional<std::string> verify() override { return transfer_.verify(); }

 private:
  /// Where this rank sends to and receives from in a pattern, -1 for nowhere.
  struct Part {
    int destination = -1;
    int source = -1;
  };

  void scatter(const std::string& patterns, MPI_Comm comm);

  Order order_;
  Transfer transfer_;
  std::vector<Part> parts_;
  std::int64_t samples_ = 0;
};

}  // namespace contend::probe
