#include "contend/packets/transfers.hpp"

#include <algorithm>
#include <cmath>

#include "network.hpp"

namespace contend {

using packets::kTicksPerSecond;

Transfers::Transfers(const PacketRoutes& routes, std::span<const double> rate,
                     const PacketModel& model, const ShortStreams& shorts)
    : network_(std::make_unique<packets::Network>(routes, rate, model, shorts)),
      first_short_(shorts.first),
      packet_bytes_(model.packet_bytes) {}

Transfers::~Transfers() = default;

void Transfers::listen(Listener& listener) { network_->listen(listener); }

double Transfers::now() const { return static_cast<double>(network_->now()) / kTicksPerSecond; }

std::uint32_t Transfers::write(std::uint32_t stream, double bytes) {
  // Of what is a whole number of packets, rounding makes none more.
  const double packets = stream < first_short_ ? std::ceil(bytes / packet_bytes_ - 1e-9) : 1;
  return network_->write(stream, static_cast<std::uint32_t>(std::max(1.0, packets)));
}

bool Transfers::step(double until) {
  return network_->step(std::isfinite(until) ? packets::ticks(until) : packets::kForGood);
}

PacketFlows Transfers::results() { return network_->results(); }

}  // namespace contend
