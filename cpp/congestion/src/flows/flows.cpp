#include "contend/congestion/flows.hpp"
#include "contend/base/interruption.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace contend {

Flows::Flows(const Crossings& crossings, std::vector<double> rate)
    : crossings_(crossings),
      rate_(std::move(rate)),
      channel_(crossings.channels()),
      on_channel_(crossings.channels()) {
  for (std::size_t route = 0; route < crossings.messages(); ++route) {
    longest_ = std::max(longest_, crossings.of_message(route).size());
  }
}

std::uint32_t Flows::begin(std::size_t route) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(flow_.size()));
    flow_.emplace_back();
    position_.resize(flow_.size() * longest_);
  }
  const std::uint32_t flow = free_.back();
  free_.pop_back();
  flow_[flow].route = route;
  flow_[flow].share = 0;
  std::size_t step = flow * longest_;
  for (const std::uint32_t channel : crossings_.of_message(route)) {
    position_[step++] = static_cast<std::uint32_t>(on_channel_[channel].size());
    on_channel_[channel].push_back(flow);
    touch(channel);
  }
  return flow;
}

void Flows::end(std::uint32_t flow) {
  std::size_t step = flow * longest_;
  for (const std::uint32_t channel : crossings_.of_message(flow_[flow].route)) {
    // The channel's last flow takes the place of the one that leaves.
    std::vector<std::uint32_t>& there = on_channel_[channel];
    const std::uint32_t position = position_[step++];
    const std::uint32_t last = there.back();
    there[position] = last;
    there.pop_back();
    const auto route = crossings_.of_message(flow_[last].route);
    const auto found = std::find(route.begin(), route.end(), channel);
    position_[last * longest_ + static_cast<std::size_t>(found - route.begin())] = position;
    touch(channel);
  }
  free_.push_back(flow);
}

std::size_t Flows::congestion(std::uint32_t flow) const {
  std::size_t most = 1;
  for (const std::uint32_t channel : crossings_.of_message(flow_[flow].route)) {
    most = std::max(most, on_channel_[channel].size());
  }
  return most;
}

void Flows::touch(std::uint32_t channel) {
  if (channel_[channel].touched) return;
  channel_[channel].touched = true;
  touched_.push_back(channel);
}

std::span<const std::uint32_t> Flows::gather() {
  ++epoch_;
  gathered_.clear();
  joined_.clear();
  for (const std::uint32_t channel : touched_) {
    channel_[channel].seen = epoch_;
    gathered_.push_back(channel);
  }
  for (std::size_t next = 0; next < gathered_.size(); ++next) {
    for (const std::uint32_t flow : on_channel_[gathered_[next]]) {
      if (flow_[flow].seen == epoch_) continue;
      flow_[flow].seen = epoch_;
      joined_.push_back(flow);
      for (const std::uint32_t channel : crossings_.of_message(flow_[flow].route)) {
        if (channel_[channel].seen == epoch_) continue;
        channel_[channel].seen = epoch_;
        gathered_.push_back(channel);
      }
    }
  }
  return gathered_;
}

// All shares rise together; a channel that is full stops those that still rise on it.
std::span<const std::uint32_t> Flows::fill() {
  before_.clear();
  for (const std::uint32_t flow : joined_) {
    before_.push_back(flow_[flow].share);
    flow_[flow].waits = 1;
  }
  heap_.clear();
  for (const std::uint32_t index : gathered_) {
    Channel& channel = channel_[index];
    channel.left = rate_[index];
    channel.used = 0;
    channel.waiting = static_cast<std::uint32_t>(on_channel_[index].size());
    if (channel.waiting > 0) heap_.push_back({channel.level(), index});
  }
  std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
  double level = 0;
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    Entry& lowest = heap_.back();
    const Channel& channel = channel_[lowest.channel];
    if (channel.waiting > 0 && channel.level() > lowest.level) {
      // Levels only rise, so one that has risen since it was written down may wait.
      lowest.level = channel.level();
      std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
      continue;
    }
    const std::uint32_t next = lowest.channel;
    // Rounding must not make the water fall.
    level = std::max(level, lowest.level);
    heap_.pop_back();
    if (channel.waiting > 0) saturate(next, level);
  }
  for (const std::uint32_t channel : touched_) channel_[channel].touched = false;
  touched_.clear();
  different_.clear();
  for (std::size_t place = 0; place < joined_.size(); ++place) {
    if (flow_[joined_[place]].share != before_[place]) different_.push_back(joined_[place]);
  }
  return different_;
}

/// Gives the flows that still wait on a channel their share.
void Flows::saturate(std::uint32_t channel, double level) {
  check_interruption();
  for (const std::uint32_t flow : on_channel_[channel]) {
    if (flow_[flow].waits == 0) continue;
    flow_[flow].waits = 0;
    flow_[flow].share = level;
    for (const std::uint32_t crossed : crossings_.of_message(flow_[flow].route)) {
      Channel& other = channel_[crossed];
      other.left = std::max(other.left - level, 0.0);
      other.used += level;
      --other.waiting;
    }
  }
}

}  // namespace contend
