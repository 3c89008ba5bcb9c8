#include "water_filling.hpp"

#include <algorithm>
#include <functional>

namespace contend {

WaterFilling::WaterFilling(const Crossings& crossings)
    : crossings_(crossings),
      begin_(crossings.channels() + 1, 0),
      share_(crossings.messages(), 1),
      waits_(crossings.messages(), 0),
      channel_(crossings.channels()) {
  for (std::uint32_t m = 0; m < crossings.messages(); ++m) {
    for (const std::uint32_t c : crossings.of_message(m)) ++begin_[c];
    if (!crossings.of_message(m).empty()) under_way_.push_back(m);
  }
  std::size_t sum = 0;
  for (std::size_t& begin : begin_) {
    sum += begin;
    begin = sum;
  }
  // Filling every channel's part from behind moves its end to its beginning.
  message_.resize(sum);
  for (std::uint32_t m = 0; m < crossings.messages(); ++m) {
    for (const std::uint32_t c : crossings.of_message(m)) message_[--begin_[c]] = m;
  }
}

void WaterFilling::fill() {
  start();
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
}

void WaterFilling::start() {
  for (const std::uint32_t m : under_way_) {
    waits_[m] = 1;
    for (const std::uint32_t c : crossings_.of_message(m)) channel_[c] = Channel{};
  }
  for (const std::uint32_t m : under_way_) {
    for (const std::uint32_t c : crossings_.of_message(m)) {
      if (++channel_[c].waiting == 1) heap_.push_back({0, c});
    }
  }
  for (Entry& entry : heap_) entry.level = channel_[entry.channel].level();
  std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
}

/// Gives the messages that still wait on a channel their share.
void WaterFilling::saturate(std::uint32_t channel, double level) {
  for (std::size_t i = begin_[channel]; i < begin_[channel + 1]; ++i) {
    const std::uint32_t m = message_[i];
    if (waits_[m] == 0) continue;
    waits_[m] = 0;
    share_[m] = level;
    for (const std::uint32_t c : crossings_.of_message(m)) {
      channel_[c].left = std::max(channel_[c].left - level, 0.0);
      --channel_[c].waiting;
    }
  }
}

}  // namespace contend
