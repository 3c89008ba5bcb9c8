#include <algorithm>

#include "contend/routes/ways/next_hops.hpp"

namespace contend {

WaysTo::WaysTo(const Fabric& fabric) : state_(fabric.switches()) {
  for (ChannelId channel = 0; channel < fabric.switch_channels(); ++channel) {
    to_.push_back(fabric.channel_to(channel));
  }
}

void WaysTo::enter(const NextHops& next, std::size_t row, SwitchId s) {
  State& state = state_[s];
  if (next.set_of[row * state_.size() + s] == 0) {
    state = {s, 0, false, Seen::done};
    order_.push_back(s);
    return;
  }
  state.seen = Seen::on_path;
  path_.push_back({s, 0});
}

void WaysTo::follow(const NextHops& next, std::size_t row, std::span<const SwitchId> from) {
  for (State& state : state_) state = {};
  order_.clear();
  const SwitchId end = next.ends[row];
  if (end != kNoSwitch) state_[end].seen = Seen::done;
  for (const SwitchId start : from) {
    if (state_[start].seen != Seen::no) continue;
    enter(next, row, start);
    while (!path_.empty()) {
      const SwitchId s = path_.back().at;
      State& state = state_[s];
      const std::span<const ChannelId> set = next.of_set(next.set_of[row * state_.size() + s]);
      if (path_.back().next == set.size()) {
        state.seen = Seen::done;
        order_.push_back(s);
        path_.pop_back();
        continue;
      }
      const SwitchId peer = to_[set[path_.back().next]];
      const State& there = state_[peer];
      if (there.seen == Seen::no) {
        enter(next, row, peer);
        continue;
      }
      ++path_.back().next;
      state.hops = std::max(state.hops, there.hops + 1);
      if (state.last != kNoSwitch) continue;
      if (there.seen == Seen::on_path) {
        state.last = peer;
        state.circle = true;
      } else {
        state.last = there.last;
        state.circle = there.circle;
      }
    }
  }
  std::reverse(order_.begin(), order_.end());
}

}  // namespace contend
