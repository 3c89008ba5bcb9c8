#pragma once

#include <mpi.h>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/operation.hpp"
#include "common/pages.hpp"

namespace contend::probe {

/// Packets that a rank sends to one rank while it receives as many from another.
///
/// A few are under way at a time, so that the line never idles between two. The sends read one
/// buffer; the receives go round a ring of slots.
class Transfer {
 public:
  /// Takes the memory: throws std::bad_alloc where there is not enough.
  Transfer(std::int64_t bytes, std::int64_t packets, MPI_Comm comm);

  /// Sets the ranks at the other ends, -1 for none, and wipes the slots when they are looked at.
  void prepare(int destination, int source, bool verified);
  /// Sends and receives all packets. Ends when all that was to come is here.
  void receive_all();
  /// Waits until all own packets are on their way; after receive_all().
  void finish_sending();
  /// What is wrong with the packets that came last; nothing when they are right.
  [[nodiscard]] std::optional<std::string> verify() const;

 private:
  void post(std::size_t slot);

  std::int64_t bytes_;
  std::int64_t packets_;
  MPI_Comm comm_;
  int rank_;
  int destination_ = -1;
  int source_ = -1;
  Pages<std::byte> sent_;
  Pages<std::byte> received_;
  std::vector<MPI_Request> sends_;
  std::vector<MPI_Request> receives_;
};

/// One pattern of a file in every sample: all its messages at once, each of some packets.
///
/// Rank 0 reads the patterns and scatters them; no rank holds more than its own part of each.
/// A rank without a part in the pattern starts with the others and has ended at once.
/// Source: Hoefler, Schneider, Lumsdaine, CLUSTER 2008, section 3.2.3, which does not say whether
/// both of a pair send; they do in `ebb` of Netgauge, which one of the authors published in 2009.
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
