#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "contend/packets/ring.hpp"

namespace contend {

/// What queues hold before they drop what comes last.
struct QueueLimits {
  /// Bytes in front of a switch's channel; 0 for any number.
  double buffer = 0;
  /// Bytes of all queues of one switch together, each of which may take as much as the others leave
  /// free (dynamic thresholds: Choudhury and Hahne, IEEE/ACM Transactions on Networking, 1998, with
  /// a factor of 1); 0 where they have a memory each.
  double shared = 0;
  /// Bytes that wait for a host's own port; 0 for `pieces`.
  double host = 0;
  /// Pieces of streams that wait there, as Linux counts (txqueuelen).
  std::uint32_t pieces = 1000;
  /// From a packet's last bit on a channel until it is in the queue behind it.
  double latency = 1e-6;
};

/// A packet of a stream, or its receiver's word of what has come.
struct Datagram {
  std::uint32_t stream;
  std::uint32_t number;  ///< of the transmission that this is, or that has come
  std::uint32_t packet;  ///< which of the stream's; of a word, how many have come in order
  std::uint16_t at;      ///< place in its route
  std::uint16_t bytes;   ///< on the wire
  bool answers;
  bool ends_piece;
};

/// Channels with queues that send what comes first, each at its rate, and drop what finds no room.
/// How full a queue is follows from when it will be empty: an event for each packet and channel.
class DroppingPorts {
 public:
  /// `rate`: of channels between switches, then injection and ejection by place, in bytes per
  /// second. `switch_of`: whose memory a channel's queue is in; only looked at where it is shared.
  DroppingPorts(std::span<const double> rate, std::size_t places, const QueueLimits& limits,
                std::span<const std::uint32_t> switch_of);

  std::size_t channels() const { return ports_.size(); }
  bool injects(std::uint32_t channel) const {
    return channel >= first_injection_ && channel < first_ejection_;
  }
  /// Whether bytes more, of one piece, find room.
  bool has_room(std::uint32_t channel, double bytes, double now) const;
  /// Puts a packet in line and returns when it is at the far end.
  double put(std::uint32_t channel, const Datagram& datagram, double now);
  /// Whether it is the only one on its way there.
  bool alone(std::uint32_t channel) const { return ports_[channel].line.size() == 1; }
  /// The first packet has come to the far end. `more` is when the next one will; infinite without.
  Datagram take(std::uint32_t channel, double& more);
  /// The packet that comes to the far end next; null if none is on its way.
  const Datagram* first(std::uint32_t channel) const {
    const auto& line = ports_[channel].line;
    return line.empty() ? nullptr : &line.front().datagram;
  }
  /// The most bytes that waited for a channel.
  double most(std::uint32_t channel) const { return ports_[channel].most; }

 private:
  struct Underway {
    double arrives;
    Datagram datagram;
  };
  struct Port {
    double rate = 0;
    double free_at = 0;
    double most = 0;
    std::uint32_t pieces = 0;
    packets::Ring<Underway> line;
  };

  double waiting(const Port& port, double now) const {
    return port.free_at > now ? (port.free_at - now) * port.rate : 0;
  }

  QueueLimits limits_;
  std::uint32_t first_injection_;
  std::uint32_t first_ejection_;
  std::vector<Port> ports_;
  std::vector<std::uint32_t> switch_of_;
  std::vector<double> used_;  ///< bytes by switch
};

}  // namespace contend
