#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <queue>
#include <span>
#include <vector>

#include "contend/congestion/crossings.hpp"
#include "contend/packets/dropping_ports.hpp"
#include "contend/packets/ring.hpp"
#include "contend/packets/transport.hpp"

namespace contend {

/// TCP as hosts speak it, over queues that drop. Sizes in bytes, times in seconds.
struct StreamModel {
  QueueLimits queues;
  double payload = 1448;  ///< of a packet
  double headers = 90;    ///< of a packet, with Ethernet's preamble, checksum and gap
  double least_timeout = 0.2;
  double first_window = 10;  ///< packets
  double most_window = 4096;
  /// Packets that leave a stream as one piece, and pieces of a stream that its host queues
  /// (TCP small queues), or what it sends in a millisecond.
  std::uint32_t piece = 10;
  std::uint32_t pieces = 2;
  /// The least time after which a stream that hears nothing sends its last packet again (tail loss
  /// probe): two ticks of a kernel of 250 Hz.
  double probe = 8e-3;
};

/// What became of packets.
struct StreamCounts {
  std::vector<std::uint64_t> drops;  ///< by channel
  std::uint64_t timeouts = 0;        ///< after which data was sent again that had been lost
  /// The first packet that was dropped since this was last set to none.
  std::uint32_t first_channel = std::numeric_limits<std::uint32_t>::max();
  double first_at = 0;
};

/// Connections between places, each carrying bytes one way. Reno with slow start and selective
/// acknowledgements (RFC 5681, 6675): packets of a stream never overtake each other, so that what
/// was sent before a packet that has come, and has not come, is lost (RFC 8985). Time-outs by
/// RFC 6298 with Linux's least variation, tail loss probes by RFC 8985, section 7. A packet that
/// finds its own host's queue full was not sent: the stream halves its window and tries again at
/// the next acknowledgement, or after a time-out.
class Streams final : public Transport {
 public:
  /// A stream for each message of `routes`; `back` is the one that goes the other way.
  Streams(const Crossings& routes, std::vector<std::uint32_t> back, const StreamModel& model,
          DroppingPorts ports);

  void listen(Listener& listener) { listener_ = &listener; }
  double now() const override { return now_; }
  std::uint32_t write(std::uint32_t stream, double bytes) override;
  bool step(double until) override;
  StreamCounts& counts() { return counts_; }
  const DroppingPorts& ports() const { return ports_; }

 private:
  struct Sent {
    std::uint32_t packet;
    bool dropped;
    double at;
  };
  struct Written {
    std::uint32_t end;
    std::uint16_t last;  ///< bytes of its last packet
  };
  struct Stream {
    // The sender's.
    std::uint32_t written = 0;    ///< packets
    std::uint32_t next = 0;       ///< never sent
    std::uint32_t known = 0;      ///< come in order
    std::uint32_t first = 0;      ///< number of the first transmission under way
    std::uint32_t queued = 0;     ///< packets in its host's queue
    std::uint32_t pieces = 0;     ///< likewise
    std::uint32_t recovered = 0;  ///< the packet at which a loss is made good
    std::uint8_t backoff = 0;
    bool recovers = false;
    bool reduced = false;  ///< because of its host's queue
    bool probed = false;   ///< since something came
    bool probes = false;   ///< at its deadline
    double window = 0;
    double threshold = std::numeric_limits<double>::infinity();
    double round = 0;  ///< trip; 0 before the first
    double variation = 0;
    double deadline = std::numeric_limits<double>::infinity();
    double entry = std::numeric_limits<double>::infinity();  ///< when its timer is looked at
    packets::Ring<Sent> under_way;
    packets::Ring<std::uint32_t> lost;
    packets::Ring<Written> writes;
    // The receiver's.
    std::uint32_t come = 0;  ///< in order
    bool unanswered = false;
    std::vector<std::uint32_t> ahead;  ///< ascending
  };
  enum class Kind : std::uint8_t { port, timer };
  struct Event {
    double time;
    std::uint64_t order;
    std::uint32_t index;
    Kind kind;
    bool operator<(const Event& other) const {
      return time != other.time ? time > other.time : order > other.order;
    }
  };

  void push(double time, Kind kind, std::uint32_t index);
  void pass(std::uint32_t channel);
  bool enter(const Datagram& datagram);
  void receive(const Datagram& datagram, bool followed);
  void answer(std::uint32_t number, std::uint32_t transmission);
  void hear(const Datagram& datagram);
  void grow(Stream& stream, double delivered, double under_way) const;
  void lose(Stream& stream) const;
  bool may_queue(const Stream& stream) const;
  void send(std::uint32_t number, bool one = false);
  bool send_piece(std::uint32_t number, std::span<const std::uint32_t> packets);
  void time_round(Stream& stream, double taken) const;
  double timeout(const Stream& stream) const;
  void set_timer(std::uint32_t number);
  void expire(std::uint32_t number);
  void count_drop(std::uint32_t channel, std::uint64_t packets);
  static bool has(const Stream& stream, std::uint32_t packet);
  double bytes_of(const Stream& stream, std::uint32_t packet) const;
  std::span<const std::uint32_t> route(const Datagram& datagram) const;

  const Crossings& routes_;
  std::vector<std::uint32_t> back_;
  StreamModel model_;
  DroppingPorts ports_;
  Listener* listener_ = nullptr;
  std::vector<Stream> streams_;
  std::priority_queue<Event> events_;
  std::uint64_t order_ = 0;
  double now_ = 0;
  std::vector<std::uint32_t> chosen_;  ///< of one piece
  StreamCounts counts_;
};

}  // namespace contend
