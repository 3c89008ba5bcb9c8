#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bisect/pattern_file.hpp"
#include "bisect/transfer.hpp"
#include "common/operation.hpp"

namespace contend::probe {

/// One pattern of a file in every sample: all its messages at once, each of some packets.
///
/// Rank 0 reads a pattern before its sample and scatters it; no rank holds more than its own part.
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
  void advance();

  Order order_;
  MPI_Comm comm_;
  int rank_;
  Transfer transfer_;
  std::unique_ptr<PatternFile> file_;
  std::vector<int> destination_;
  std::vector<int> ends_;
  std::int64_t samples_ = 0;
  int mine_[2] = {-1, -1};
};

}  // namespace contend::probe
