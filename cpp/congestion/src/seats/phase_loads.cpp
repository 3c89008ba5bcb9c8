#include "phase_loads.hpp"
#include "contend/base/interruption.hpp"

#include <algorithm>
#include <cmath>

namespace contend {

PhaseLoads::PhaseLoads(const Resolver& resolver, const RankMessages& messages,
                       std::span<const double> seconds_per_byte, std::span<const Place> places)
    : resolver_(resolver),
      messages_(messages),
      channels_(seconds_per_byte.size()),
      time_per_byte_(seconds_per_byte.begin(), seconds_per_byte.end()),
      place_(places.begin(), places.end()),
      after_(place_),
      moving_(places.size(), false),
      load_(messages.phases() * channels_, 0.0),
      sum_(messages.phases(), 0.0),
      phase_norm_(messages.phases(), 0.0),
      is_touched_(messages.phases(), false),
      sum_before_(messages.phases(), 0.0),
      phase_norm_before_(messages.phases(), 0.0),
      parts_(resolver) {
  for (std::uint32_t rank = 0; rank < messages.ranks(); ++rank) {
    check_interruption();
    for (const RankMessage& message : messages.of(rank)) {
      if (message.sent) {
        add_flow(place_[rank], place_[message.other], {message.phase, message.bytes});
      }
    }
    carry_flows();
    changed_.clear();
  }
  for (const std::uint32_t phase : touched_) is_touched_[phase] = false;
  changes_ = 0;
  double longest = 0;
  for (std::size_t at = 0; at < load_.size(); ++at) {
    longest = std::max(longest, load_[at] * time_per_byte_[at % channels_]);
  }
  if (longest > 0) {
    for (double& time : time_per_byte_) time /= longest;
  }
  set_power(squarings_);
}

double PhaseLoads::raised(double time) const {
  for (unsigned n = 0; n < squarings_; ++n) time *= time;
  return time;
}

double PhaseLoads::root(double sum) const {
  sum = std::max(sum, 0.0);
  for (unsigned n = 0; n < squarings_; ++n) sum = std::sqrt(sum);
  return sum;
}

void PhaseLoads::set_power(unsigned squarings) {
  squarings_ = squarings;
  norm_ = 0;
  for (std::size_t phase = 0; phase < sum_.size(); ++phase) {
    check_interruption();
    const double* load = load_.data() + phase * channels_;
    double sum = 0;
    for (std::size_t c = 0; c < channels_; ++c) sum += raised(load[c] * time_per_byte_[c]);
    sum_[phase] = sum;
    phase_norm_[phase] = root(sum);
    norm_ += phase_norm_[phase];
  }
}

double PhaseLoads::move(std::span<const RankMove> moves) {
  changed_.clear();
  touched_.clear();
  way_back_.clear();
  norm_before_ = norm_;
  for (const RankMove& moved : moves) {
    after_[moved.rank] = moved.to;
    moving_[moved.rank] = true;
  }
  for (const RankMove& moved : moves) list_flows(moved);
  carry_flows();
  for (const RankMove& moved : moves) {
    way_back_.push_back({moved.rank, place_[moved.rank]});
    place_[moved.rank] = moved.to;
    moving_[moved.rank] = false;
  }
  for (const std::uint32_t phase : touched_) {
    is_touched_[phase] = false;
    phase_norm_before_[phase] = phase_norm_[phase];
    phase_norm_[phase] = root(sum_[phase]);
    norm_ += phase_norm_[phase] - phase_norm_before_[phase];
  }
  return norm_ - norm_before_;
}

void PhaseLoads::undo() {
  for (auto change = changed_.rbegin(); change != changed_.rend(); ++change) {
    load_[change->at] = change->before;
  }
  for (const std::uint32_t phase : touched_) {
    sum_[phase] = sum_before_[phase];
    phase_norm_[phase] = phase_norm_before_[phase];
  }
  for (const RankMove& moved : way_back_) after_[moved.rank] = place_[moved.rank] = moved.to;
  norm_ = norm_before_;
}

void PhaseLoads::list_flows(const RankMove& moved) {
  for (const RankMessage& message : messages_.of(moved.rank)) {
    // Between two that move it is counted where it is sent.
    if (moving_[message.other] && !message.sent) continue;
    const Place here = place_[moved.rank], there = place_[message.other];
    const Place new_here = moved.to, new_there = after_[message.other];
    if (message.sent) {
      add_flow(here, there, {message.phase, -message.bytes});
      add_flow(new_here, new_there, {message.phase, message.bytes});
    } else {
      add_flow(there, here, {message.phase, -message.bytes});
      add_flow(new_there, new_here, {message.phase, message.bytes});
    }
  }
}

void PhaseLoads::add_flow(Place source, Place target, const Flow& flow) {
  if (source == target) return;
  from_.push_back(source);
  to_.push_back(target);
  flow_.push_back(flow);
}

void PhaseLoads::carry_flows() {
  const std::size_t between = resolver_.switch_channels();
  parts_.look_up(from_, to_);
  for (std::size_t m = 0; m < flow_.size(); ++m) {
    const Flow& flow = flow_[m];
    if (!is_touched_[flow.phase]) {
      is_touched_[flow.phase] = true;
      touched_.push_back(flow.phase);
      sum_before_[flow.phase] = sum_[flow.phase];
    }
    parts_.for_each(
        m, [&](ChannelId channel, double part) { change(flow.phase, channel, part * flow.bytes); });
    change(flow.phase, between + from_[m], flow.bytes);
    change(flow.phase, between + resolver_.places() + to_[m], flow.bytes);
  }
  from_.clear();
  to_.clear();
  flow_.clear();
}

void PhaseLoads::change(std::uint32_t phase, std::size_t channel, double bytes) {
  const std::size_t at = phase * channels_ + channel;
  const double before = load_[at];
  changed_.push_back({at, before});
  ++changes_;
  load_[at] = before + bytes;
  const double time = time_per_byte_[channel];
  sum_[phase] += raised(load_[at] * time) - raised(before * time);
}

void PhaseLoads::ranks_on_full_channels(double share, std::vector<std::uint32_t>& ranks) const {
  std::vector<bool> full(load_.size(), false);
  for (std::size_t phase = 0; phase < sum_.size(); ++phase) {
    check_interruption();
    const double* load = load_.data() + phase * channels_;
    double longest = 0;
    for (std::size_t c = 0; c < channels_; ++c) {
      longest = std::max(longest, load[c] * time_per_byte_[c]);
    }
    if (longest <= 0) continue;
    for (std::size_t c = 0; c < channels_; ++c) {
      full[phase * channels_ + c] = load[c] * time_per_byte_[c] >= share * longest;
    }
  }
  const std::size_t between = resolver_.switch_channels();
  std::vector<Place> from, to;
  MessageParts parts(resolver_);
  for (std::uint32_t rank = 0; rank < place_.size(); ++rank) {
    const std::span<const RankMessage> own = messages_.of(rank);
    from.clear();
    to.clear();
    for (const RankMessage& message : own) {
      // A message within a place crosses nothing: any route stands for it, and is not looked at.
      const Place here = place_[rank], there = place_[message.other];
      if (here == there) continue;
      from.push_back(message.sent ? here : there);
      to.push_back(message.sent ? there : here);
    }
    parts.look_up(from, to);
    std::size_t m = 0;
    bool meets = false;
    for (const RankMessage& message : own) {
      if (place_[rank] == place_[message.other]) continue;
      const std::size_t row = message.phase * channels_;
      meets = meets || full[row + between + from[m]] ||
              full[row + between + resolver_.places() + to[m]];
      parts.for_each(m, [&](ChannelId channel, double) { meets = meets || full[row + channel]; });
      if (meets) break;
      ++m;
    }
    if (meets) ranks.push_back(rank);
  }
}

}  // namespace contend
