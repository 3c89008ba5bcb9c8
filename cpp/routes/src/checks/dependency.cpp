#include "contend/routes/checks/dependency.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <numeric>

#include "contend/base/error.hpp"
#include "contend/base/threads.hpp"
#include "contend/routes/ways/in_tree.hpp"

namespace contend {

ChannelDependencies::ChannelDependencies(const Fabric& fabric) : fabric_(&fabric) {
  begin_.reserve(fabric.switch_channels() + 1);
  begin_.push_back(0);
  for (ChannelId channel = 0; channel < fabric.switch_channels(); ++channel) {
    begin_.push_back(begin_.back() + fabric.switch_ports(fabric.channel_to(channel)) + 1U);
  }
  bits_.assign(begin_.back() / 64 + 1, 0);
}

void ChannelDependencies::add(ChannelId channel, PortNumber port) {
  const std::size_t at = bit(channel, port);
  const std::uint64_t mask = std::uint64_t{1} << (at % 64);
  const std::atomic_ref<std::uint64_t> word(bits_[at / 64]);
  // Nearly all dependencies are noted many times: look first, so that threads share the line.
  if ((word.load(std::memory_order_relaxed) & mask) == 0) {
    word.fetch_or(mask, std::memory_order_relaxed);
  }
}

bool ChannelDependencies::has(ChannelId channel, PortNumber port) const {
  const std::size_t at = bit(channel, port);
  return (bits_[at / 64] >> (at % 64) & 1U) != 0;
}

std::uint64_t ChannelDependencies::count() const {
  return std::accumulate(bits_.begin(), bits_.end(), std::uint64_t{0},
                         [](std::uint64_t sum, std::uint64_t word) {
                           return sum + static_cast<std::uint64_t>(std::popcount(word));
                         });
}

ChannelId ChannelDependencies::next(ChannelId channel, PortNumber& port) const {
  const SwitchId at = fabric_->channel_to(channel);
  while (port < fabric_->switch_ports(at)) {
    ++port;
    if (has(channel, port)) return fabric_->out(at, port);
  }
  return kNoChannel;
}

std::vector<ChannelId> ChannelDependencies::cycle() const {
  const ChannelId found = on_some_cycle();
  if (found == kNoChannel) return {};
  std::vector<ChannelId> circle = shortest_cycle(found);
  std::ranges::rotate(circle, std::ranges::min_element(circle));
  return circle;
}

/// Depth-first search without recursion; a channel met again while still on the path is on a cycle.
ChannelId ChannelDependencies::on_some_cycle() const {
  enum class State : std::uint8_t { unseen, on_path, done };
  std::vector<State> state(fabric_->switch_channels(), State::unseen);
  std::vector<PortNumber> reached(fabric_->switch_channels(), 0);
  std::vector<ChannelId> path;
  for (ChannelId start = 0; start < fabric_->switch_channels(); ++start) {
    if (state[start] != State::unseen) continue;
    path.push_back(start);
    state[start] = State::on_path;
    while (!path.empty()) {
      check_interruption();
      const ChannelId channel = path.back();
      const ChannelId follower = next(channel, reached[channel]);
      if (follower == kNoChannel) {
        state[channel] = State::done;
        path.pop_back();
      } else if (state[follower] == State::on_path) {
        return follower;
      } else if (state[follower] == State::unseen) {
        state[follower] = State::on_path;
        path.push_back(follower);
      }
    }
  }
  return kNoChannel;
}

/// Breadth-first search from a channel on a cycle back to itself.
std::vector<ChannelId> ChannelDependencies::shortest_cycle(ChannelId through) const {
  std::vector<ChannelId> before(fabric_->switch_channels(), kNoChannel);
  std::vector<ChannelId> queue{through};
  for (std::size_t head = 0; before[through] == kNoChannel; ++head) {
    check_interruption();
    PortNumber port = 0;
    for (ChannelId follower; (follower = next(queue[head], port)) != kNoChannel;) {
      if (before[follower] != kNoChannel) continue;
      before[follower] = queue[head];
      queue.push_back(follower);
    }
  }
  std::vector<ChannelId> circle{through};
  for (ChannelId at = before[through]; at != through; at = before[at]) circle.push_back(at);
  std::ranges::reverse(circle);
  return circle;
}

ChannelDependencies channel_dependencies(const Fabric& fabric, const TableView& tables,
                                         const AddressView& addresses, bool from_all_switches,
                                         const Lane& lane) {
  if (tables.switches != fabric.switches()) {
    throw Error("forwarding tables do not belong to the fabric");
  }
  std::vector<std::uint8_t> is_source(fabric.switches(), from_all_switches ? 1 : 0);
  for (const SwitchId s : fabric.host_switches()) is_source[s] = 1;
  std::vector<SwitchId> sources;
  for (SwitchId s = 0; s < fabric.switches(); ++s) {
    if (is_source[s] != 0) sources.push_back(s);
  }
  ChannelDependencies found(fabric);
  std::vector<Destination> on_lane = destinations(fabric, addresses);
  std::erase_if(on_lane, [&](const Destination& to) { return !lane.has(to.address); });
  for_each_in_tree(
      fabric, tables, on_lane, sources, static_cast<std::size_t>(thread_count()),
      [&](std::size_t, const Destination&, const InTree& tree, std::span<const Step> steps) {
        for (const SwitchId s : tree.order()) {
          if (tree.end(s) != TraceEnd::delivered || tree.hops(s) < 2) continue;
          const ChannelId follower = steps[steps[s].onward.to()].channel;
          found.add(steps[s].channel, fabric.channel_from_port(follower));
        }
      });
  return found;
}

}  // namespace contend
