#pragma once

#include <mpi.h>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/operation.hpp"
#include "common/pages.hpp"

namespace contend::probe {

/// A stream of large messages from one rank to another, which lasts until it is told to stop.
class Load {
 public:
  /// Takes the memory: throws std::bad_alloc where there is not enough.
  Load(std::int64_t bytes, MPI_Comm comm);

  /// Sends message after message to a rank until `stopper` says so with an empty message.
  void send_to(int receiver, int stopper);
  /// Receives what send_to() sends, to the last message.
  void receive_from(int sender);

  /// Tells a rank in send_to() to stop.
  static void stop(int sender, MPI_Comm comm);

 private:
  std::int64_t bytes_;
  MPI_Comm comm_;
  Pages<std::byte> buffer_;
};

/// Sender and receiver, by rank.
using Pair = std::pair<int, int>;

/// What the victim pair does while it is measured.
enum class Measured { round_trip, stream };

/// A pair's latency or bandwidth while other pairs keep the network busy.
///
/// The rivals start with everybody; the victim waits until their load has built up, then runs a few
/// single operations, each stamped by itself, and tells the rivals to stop.
/// Source: Hoefler, Schneider, Lumsdaine, CLUSTER 2008, section 2.2.2, figures 2 and 3. There the
/// rivals play ping-pong with 8 MB, so each loads a direction half of the time; here they stream.
class Hotspot : public Operation {
 public:
  struct Settings {
    Measured measured;
    std::int64_t bytes;
    std::int64_t load_bytes;
    double lead;
    std::int64_t operations;
    /// Messages under way at a time in a stream.
    std::int64_t window;
  };

  Hotspot(const Settings& settings, Pair victim, std::vector<Pair> rivals, MPI_Comm comm);

  /// "begin", then an instant after each operation; not-a-number on ranks other than the victim's.
  [[nodiscard]] std::vector<std::string> columns() const override;
  [[nodiscard]] bool takes_part() const override { return role_ != Role::idle; }
  void reset(bool verified) override;
  void run(Stamps& stamps) override;
  [[nodiscard]] std::optional<std::string> verify() override;

 private:
  enum class Role { idle, asks, answers, loads, drains };

  void exchange();
  void send_window();
  void receive_window();
  void skip(Stamps& stamps) const;

  Settings settings_;
  Pair victim_;
  std::vector<Pair> rivals_;
  MPI_Comm comm_;
  Role role_;
  int other_ = -1;
  Pages<std::byte> sent_;
  Pages<std::byte> received_;
  std::vector<MPI_Request> requests_;
  std::optional<Load> load_;
};

}  // namespace contend::probe
