// Measures many patterns of simultaneous messages, each pattern once (or as often as asked).

#include <mpi.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/operation.hpp"
#include "common/pages.hpp"
#include "common/probe.hpp"
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

/// Packets that a rank sends to one rank while it receives as many from another.
///
/// A few are under way at a time, so that the line never idles between two. The sends read one
/// buffer; the receives go round a ring of slots.
class Transfer {
 public:
  /// Takes the memory: throws std::bad_alloc where there is not enough.
  Transfer(std::int64_t bytes, std::int64_t packets, MPI_Comm comm)
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

  /// Sets the ranks at the other ends, -1 for none, and wipes the slots when they are looked at.
  void prepare(int destination, int source, bool verified) {
    destination_ = destination;
    source_ = source;
    if (verified) {
      std::fill(received_.begin(), received_.end(), wiped);
    }
  }

  /// Sends and receives all packets. Ends when all that was to come is here.
  void receive_all() {
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

  /// Waits until all own packets are on their way; after receive_all().
  void finish_sending() { wait_all(sends_); }
  /// What is wrong with the packets that came last; nothing when they are right.
  [[nodiscard]] std::optional<std::string> verify() const {
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

 private:
  void post(std::size_t slot) {
    const int count = static_cast<int>(bytes_);
    if (source_ >= 0) {
      std::byte* const place = received_.data() + slot * in_memory(bytes_);
      CHECKED(MPI_Irecv, place, count, MPI_BYTE, source_, tag, comm_, &receives_[slot]);
    }
    if (destination_ >= 0) {
      CHECKED(MPI_Isend, sent_.data(), count, MPI_BYTE, destination_, tag, comm_, &sends_[slot]);
    }
  }

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
         MPI_Comm comm)
      : order_(order), transfer_(bytes, packets, comm), parts_(read_parts(patterns, comm)) {}

  /// "received": the instant at which the last packet was here, on ranks that receive.
  [[nodiscard]] std::vector<std::string> columns() const override { return {"received"}; }
  void reset(bool verified) override {
    // The warm-ups, and the samples after them, begin with the first pattern.
    const std::int64_t timed = std::max<std::int64_t>(samples_++ - order_.warm_ups, 0);
    const auto pattern = static_cast<std::size_t>(timed / order_.repeats) % parts_.to.size();
    transfer_.prepare(parts_.to[pattern], parts_.from[pattern], verified);
  }

  void run(Stamps& stamps) override {
    transfer_.receive_all();
    stamps.mark();
    transfer_.finish_sending();
  }

  [[nodiscard]] std::optional<std::string> verify() override { return transfer_.verify(); }

 private:
  Order order_;
  Transfer transfer_;
  PatternParts parts_;
  std::int64_t samples_ = 0;
};

/// Checks the whole file before anything is measured, and says in the cell how long it is.
std::vector<Cell> with_patterns(const Cell& cell, const Arguments& arguments, int ranks) {
  const std::string& path = arguments.text("patterns");
  if (path.empty()) {
    throw BadInput("--patterns: expected a file");
  }
  for (const char* const name : {"bytes", "packets"}) {
    if (cell.integer(name) < 1 || cell.integer(name) > std::numeric_limits<int>::max()) {
      throw BadInput(std::string("--") + name + ": expected 1 to 2147483647");
    }
  }
  std::int64_t count = 0;
  if (rank_in(MPI_COMM_WORLD) == 0) {
    count = PatternFile(path, ranks).count();
  }
  CHECKED(MPI_Bcast, &count, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
  if (count == 0) {
    throw BadInput(path + ": expected at least one pattern, got none");
  }
  Cell longer = cell;
  longer.labels.emplace_back("patterns", count);
  longer.labels.emplace_back("repeats", arguments.integer("repeats"));
  return {longer};
}

std::unique_ptr<Operation> make(const Cell& cell, const Context& context, MPI_Comm comm) {
  const Bisect::Order order{cell.integer("repeats"), context.arguments.integer("warmups")};
  return std::make_unique<Bisect>(context.arguments.text("patterns"), order, cell.integer("bytes"),
                                  cell.integer("packets"), comm);
}

}  // namespace

}  // namespace contend::probe

int main(int argc, char** argv) {
  using namespace contend::probe;
  Probe probe;
  probe.name = "bisect";
  probe.about =
      "Sends all messages of a pattern at once, one pattern after the other. Each line of the file "
      "is a pattern: for each rank, the rank that it sends to, or - if it sends nothing.";
  probe.example =
      "--patterns pairs.txt --bytes 1048576 --packets 10 --repetitions 100 --precision 0";
  probe.axes = {
      {"bytes", Kind::integers, "1048576", "Bytes of a packet."},
      {"packets", Kind::integers, "100", "Packets in each message."},
  };
  probe.options = {
      {"patterns", Kind::word, "", "File of patterns, which rank 0 reads."},
      {"repeats", Kind::integer, "1", "Samples of each pattern in a row."},
  };
  probe.expand = with_patterns;
  probe.make = make;
  return run_probe(argc, argv, probe);
}
