#include "contend/packets/packets.hpp"

#include <algorithm>

#include "circle.hpp"
#include "network.hpp"

namespace contend {

namespace packets {

PacketFlows Network::results() {
  PacketFlows found;
  const bool ends = end_ == kNever;
  const Time until = ends ? now_ : end_;
  const auto time = static_cast<double>(until > begin_ ? until - begin_ : 1);
  found.share.resize(delivered_.size(), 1);
  for (std::size_t m = 0; m < delivered_.size(); ++m) {
    if (!routes_.travels(m)) continue;
    found.share[m] = share(m, ends ? std::min(ended_[m], until) : until - begin_);
  }
  waits_.end(channels_, begin_, until);
  if (ways_) ways_->end_all(end_step());
  waits_.tell(time, found);
  for (std::uint32_t c = 0; c < channels_.size(); ++c) {
    const Time since = channels_[c].blocked_since;
    if (since != kNever) blocked_[c] += until - std::min(until, std::max(since, begin_));
  }
  for (std::uint32_t c = 0; c < links(); ++c) {
    Time taken = channels_[c].sent * paces_.takes(channels_[c].kind);
    if (!saved_.empty()) taken -= std::min(taken, saved_[c]);
    const auto carried = static_cast<double>(taken);
    found.busy.push_back(std::min(1.0, carried / time));
    found.blocked.push_back(static_cast<double>(blocked_[c]) / time);
  }
  found.circle = waiting_circle(channels_, still_coming(), links(), first_injection_);
  found.hops = hops_;
  return found;
}

/// What a message got of the slower of its two ports in some time.
double Network::share(std::size_t m, Time time) const {
  const auto [in, out] = routes_.ports(m);
  double packets = static_cast<double>(delivered_[m]);
  if (exchanges_) {
    packets = exchanges_->exchanged(m) * model_.message_packets;
    const Time begun = exchanges_->begun(m);
    time = begun > begin_ ? begun - begin_ : time;
  }
  const double bytes = packets * model_.packet_bytes;
  const double seconds = static_cast<double>(std::max<Time>(time, 1)) / kTicksPerSecond;
  return bytes / std::min(port_rate_[in], port_rate_[routes_.places + out]) / seconds;
}

/// Over which channels packets are under way that may find a way on: with a queue for each output
/// they need not wait behind others.
std::vector<std::uint8_t> Network::still_coming() {
  std::vector<std::uint8_t> coming(channels_.size(), 0);
  for (; const PacketEvent* event = lines_.next(); lines_.pop()) {
    if (by_output_ && event->step < kCredit) coming[event->channel] = 1;
    if (event->step == kCredit) ++channels_[event->channel].room;
  }
  return coming;
}

}  // namespace packets

PacketFlows packet_flows(const PacketRoutes& routes, std::span<const double> rate,
                         const PacketModel& model) {
  return packets::Network(routes, rate, model).run();
}

}  // namespace contend
