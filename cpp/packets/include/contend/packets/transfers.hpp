#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>

#include "contend/packets/packet_routes.hpp"
#include "contend/packets/packets.hpp"
#include "contend/packets/transport.hpp"

namespace contend {

namespace packets {
class Network;
}

/// Streams that are for short packets alone: those from a number on. One takes as much of a buffer
/// as any other.
struct ShortStreams {
  std::uint32_t first = std::numeric_limits<std::uint32_t>::max();
  double bytes = 64;  ///< of each of their packets
};

/// A lossless network whose messages are streams: each has packets when they are written. Nobody
/// asks whether a packet has come: its sender knows at once.
class Transfers final : public Transport {
 public:
  /// As of packet_flows(), whose messages of a length there are none of.
  Transfers(const PacketRoutes& routes, std::span<const double> rate, const PacketModel& model,
            const ShortStreams& shorts);
  ~Transfers() override;

  void listen(Listener& listener);
  double now() const override;
  /// Bytes go in whole packets.
  std::uint32_t write(std::uint32_t stream, double bytes) override;
  bool step(double until) override;
  /// What channels carried until now, and who waits for whom for ever.
  PacketFlows results();

 private:
  std::unique_ptr<packets::Network> network_;
  std::uint32_t first_short_;
  double packet_bytes_;
};

}  // namespace contend
