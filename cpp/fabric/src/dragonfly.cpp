#include "contend/fabric/dragonfly.hpp"

#include <algorithm>

#include "contend/base/progress.hpp"

namespace contend {

namespace {

constexpr ChannelId channel_of(std::size_t cable) { return static_cast<ChannelId>(2 * cable); }

/// Its sizes as the first cables tell them for groups of so many switches; no groups where the
/// counts of switches and cables are not those of any.
Dragonfly sizes(const Fabric& fabric, std::size_t switches) {
  if (fabric.switches() % switches != 0) return {};
  const std::size_t groups = fabric.switches() / switches;
  const std::size_t within = groups * Dragonfly::pairs(switches);
  const std::size_t between = Dragonfly::pairs(groups);
  if (fabric.cables() < within) return {};
  const std::size_t left = fabric.cables() - within;
  if (between == 0 ? left != 0 : left == 0 || left % between != 0) return {};
  Dragonfly found{static_cast<std::uint32_t>(groups), static_cast<std::uint32_t>(switches), 0,
                  static_cast<std::uint32_t>(between == 0 ? 0 : left / between)};
  // The first channels of a group are those of its first switch.
  while (found.uplinks < found.channels()) {
    const std::uint32_t number = found.uplinks;
    const ChannelId channel =
        found.global(0, number % (found.groups - 1) + 1, number / (found.groups - 1));
    if (fabric.channel_from(channel) != 0) break;
    ++found.uplinks;
  }
  const bool fits = std::size_t{found.uplinks} * switches >= found.channels();
  return fits ? found : Dragonfly{};
}

/// Whether all cables join what they should, by ports in their order.
bool joins(const Fabric& fabric, const Dragonfly& found) {
  const std::uint32_t count = found.switches, uplinks = found.uplinks;
  PortNumber last = 0;
  const auto leads = [&](ChannelId channel, std::size_t from, std::size_t to) {
    const PortNumber port = fabric.channel_from_port(channel);
    const bool right =
        fabric.channel_from(channel) == from && fabric.channel_to(channel) == to && port > last;
    last = port;
    return right;
  };
  for (const std::uint32_t group : InParts(found.groups)) {
    const std::size_t first = std::size_t{group} * count;
    for (std::uint32_t number = 0; number < count; ++number) {
      last = 0;
      for (std::uint32_t other = 0; other < count; ++other) {
        if (other == number) continue;
        if (!leads(found.local(group, number, other), first + number, first + other)) return false;
      }
      const std::uint32_t begin = std::min(number * uplinks, found.channels());
      const std::uint32_t end = std::min(begin + uplinks, found.channels());
      for (std::uint32_t channel = begin; channel < end; ++channel) {
        const std::uint32_t copy = channel / (found.groups - 1);
        const std::uint32_t place = channel % (found.groups - 1);
        const std::uint32_t other = place + (place >= group ? 1 : 0);
        const std::uint32_t back = found.channel_to(other, group, copy);
        if (!leads(found.global(group, other, copy), first + number,
                   std::size_t{other} * count + back / uplinks)) {
          return false;
        }
      }
    }
  }
  return true;
}

}  // namespace

std::unique_ptr<Dragonfly> find_dragonfly(const Fabric& fabric) {
  // Its first cables join the first switch to the others of its group.
  std::size_t joined = 0;
  while (joined < fabric.cables() && fabric.channel_from(channel_of(joined)) == 0 &&
         fabric.channel_to(channel_of(joined)) == joined + 1) {
    ++joined;
  }
  if (joined == 0) return nullptr;
  // Or to all other groups, if these have one switch each.
  for (const std::size_t switches : {joined + 1, std::size_t{1}}) {
    const Dragonfly found = sizes(fabric, switches);
    if (found.groups > 0 && joins(fabric, found)) return std::make_unique<Dragonfly>(found);
  }
  return nullptr;
}

}  // namespace contend
