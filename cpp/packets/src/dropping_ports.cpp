#include "contend/packets/dropping_ports.hpp"

#include <algorithm>
#include <string>

#include "contend/base/error.hpp"

namespace contend {

DroppingPorts::DroppingPorts(std::span<const double> rate, std::size_t places,
                             const QueueLimits& limits, std::span<const std::uint32_t> switch_of)
    : limits_(limits),
      first_injection_(static_cast<std::uint32_t>(rate.size() - 2 * places)),
      first_ejection_(static_cast<std::uint32_t>(rate.size() - places)),
      ports_(rate.size()) {
  for (std::size_t c = 0; c < rate.size(); ++c) {
    if (!(rate[c] > 0)) throw Error("rates above 0");
    ports_[c].rate = rate[c];
  }
  if (limits.shared <= 0) return;
  if (switch_of.size() != rate.size()) throw Error("a switch for every channel");
  switch_of_.assign(switch_of.begin(), switch_of.end());
  used_.resize(1 + *std::max_element(switch_of_.begin(), switch_of_.end()), 0);
}

bool DroppingPorts::has_room(std::uint32_t channel, double bytes, double now) const {
  const Port& port = ports_[channel];
  if (injects(channel)) {
    return limits_.host > 0 ? waiting(port, now) + bytes <= limits_.host
                            : port.pieces < limits_.pieces;
  }
  if (limits_.shared > 0) {
    const double free = limits_.shared - used_[switch_of_[channel]];
    return bytes <= free && waiting(port, now) < free;
  }
  return limits_.buffer <= 0 || waiting(port, now) + bytes <= limits_.buffer;
}

double DroppingPorts::put(std::uint32_t channel, const Datagram& datagram, double now) {
  Port& port = ports_[channel];
  port.free_at = std::max(port.free_at, now) + datagram.bytes / port.rate;
  port.most = std::max(port.most, waiting(port, now));
  if (injects(channel)) {
    port.pieces += datagram.ends_piece ? 1 : 0;
  } else if (limits_.shared > 0) {
    used_[switch_of_[channel]] += datagram.bytes;
  }
  const double arrives = port.free_at + limits_.latency;
  port.line.push({arrives, datagram});
  return arrives;
}

Datagram DroppingPorts::take(std::uint32_t channel, double& more) {
  Port& port = ports_[channel];
  const Datagram datagram = port.line.front().datagram;
  port.line.pop();
  if (injects(channel)) {
    port.pieces -= datagram.ends_piece ? 1 : 0;
  } else if (limits_.shared > 0) {
    used_[switch_of_[channel]] -= datagram.bytes;
  }
  more = port.line.empty() ? std::numeric_limits<double>::infinity() : port.line.front().arrives;
  return datagram;
}

}  // namespace contend
