#include <algorithm>
#include <utility>
#include <vector>

#include "contend/base/error.hpp"
#include "contend/base/interruption.hpp"
#include "contend/routes/hashed_resolver.hpp"
#include "contend/routes/ways.hpp"

namespace contend {

namespace {

/// A thousandth of a message is told from none.
constexpr std::uint32_t kUnit = 1024;

class SprayedResolver final : public Resolver, private Ways {
 public:
  SprayedResolver(const Fabric& fabric, const Places& places, NextHops next)
      : Resolver(places.hosts.size(), fabric.switch_channels(), std::max<std::size_t>(next.hops, 1),
                 kUnit),
        switches_(fabric.switches()),
        next_(std::move(next)) {
    std::vector<std::uint32_t> number(switches_, 0);
    for (std::size_t leaf = 0; leaf < next_.leaves.size(); ++leaf) {
      number[next_.leaves[leaf]] = static_cast<std::uint32_t>(leaf);
    }
    for (const HostId host : places.hosts) leaf_.push_back(number[fabric.host_switch(host)]);
    for (ChannelId channel = 0; channel < fabric.switch_channels(); ++channel) {
      to_.push_back(fabric.channel_to(channel));
    }
    order_switches();
  }

  bool tabled() const override { return false; }
  std::size_t bytes() const override {
    return (next_.set_of.size() + order_.size()) * sizeof(std::uint32_t) +
           (next_.members.size() + to_.size()) * sizeof(ChannelId);
  }
  const Ways* ways() const override { return this; }
  std::uint64_t work_of_round() const override { return work_; }

  void resolve(std::span<const Place>, std::span<const Place>, std::uint16_t*) const override {
    refuse();
  }
  void resolve(std::span<const Place>, std::span<const Place>, std::uint32_t*) const override {
    refuse();
  }

  std::size_t leaves() const override { return next_.leaves.size(); }
  std::uint32_t leaf_of(Place place) const override { return leaf_[place]; }

  void spread(std::span<const std::uint32_t> messages, std::span<double> load) const override {
    std::vector<double> flow(switches_, 0);
    for_each_target(messages, [&](std::span<const std::uint32_t> sent, std::size_t leaf) {
      for (std::size_t source = 0; source < sent.size(); ++source) {
        flow[next_.leaves[source]] = sent[source];
      }
      const std::span<const SwitchId> order = order_of(leaf);
      for (const SwitchId s : order) {
        const double here = std::exchange(flow[s], 0);
        if (here == 0) continue;
        const std::span<const ChannelId> set = set_at(leaf, s);
        const double each = here / static_cast<double>(set.size());
        for (const ChannelId channel : set) {
          load[channel] += each;
          flow[to_[channel]] += each;
        }
      }
      flow[next_.leaves[leaf]] = 0;
    });
  }

  void largest(std::span<const std::uint32_t> messages, std::span<const double> value,
               std::span<double> largest) const override {
    std::vector<double> from(switches_, 0);
    std::vector<std::uint8_t> crossed(switches_, 0);
    for_each_target(messages, [&](std::span<const std::uint32_t> sent, std::size_t leaf) {
      for (std::size_t source = 0; source < sent.size(); ++source) {
        if (sent[source] > 0) crossed[next_.leaves[source]] = 1;
      }
      const std::span<const SwitchId> order = order_of(leaf);
      for (const SwitchId s : order) {
        if (crossed[s] == 0) continue;
        for (const ChannelId channel : set_at(leaf, s)) crossed[to_[channel]] = 1;
      }
      from[next_.leaves[leaf]] = 0;
      for (auto s = order.rbegin(); s != order.rend(); ++s) {
        if (std::exchange(crossed[*s], 0) == 0) continue;
        double most = 0;
        for (const ChannelId channel : set_at(leaf, *s)) {
          most = std::max({most, value[channel], from[to_[channel]]});
        }
        from[*s] = most;
      }
      crossed[next_.leaves[leaf]] = 0;
      double* const row = largest.data() + leaf * sent.size();
      for (std::size_t source = 0; source < sent.size(); ++source) {
        if (sent[source] > 0) row[source] = from[next_.leaves[source]];
      }
    });
  }

  std::vector<double> parts_across(ChannelId channel) const override {
    std::vector<double> parts(leaves() * leaves(), 0);
    std::vector<double> from(switches_);
    for (std::size_t leaf = 0; leaf < leaves(); ++leaf) {
      check_interruption();
      std::fill(from.begin(), from.end(), kUnknown);
      from[next_.leaves[leaf]] = 0;
      for (std::size_t source = 0; source < leaves(); ++source) {
        parts[leaf * leaves() + source] = part_from(next_.leaves[source], leaf, channel, from);
      }
    }
    return parts;
  }

  /// Switches are met by their distance from the source: all of a message is there by then.
  std::vector<PartOnChannel> parts_between(std::uint32_t source,
                                           std::uint32_t target) const override {
    std::vector<PartOnChannel> parts;
    std::vector<double> here(switches_, 0);
    const SwitchId end = next_.leaves[target];
    std::vector<SwitchId> met{next_.leaves[source]};
    here[met[0]] = 1;
    for (std::size_t k = 0; k < met.size(); ++k) {
      if (met[k] == end) continue;
      const std::span<const ChannelId> set =
          next_.of_set(next_.set_of[target * switches_ + met[k]]);
      const double each = here[met[k]] / static_cast<double>(set.size());
      for (const ChannelId channel : set) {
        const SwitchId to = to_[channel];
        parts.push_back({channel, each});
        if (here[to] == 0) met.push_back(to);
        here[to] += each;
      }
    }
    return parts;
  }

 private:
  static constexpr double kUnknown = -1;

  /// The part of a message at a switch, on its way to a leaf, that will cross a channel. Those that
  /// are known stand in `from`. As deep as the way is long.
  double part_from(SwitchId s, std::size_t leaf, ChannelId channel,
                   std::vector<double>& from) const {
    if (from[s] != kUnknown) return from[s];
    const std::span<const ChannelId> set = next_.of_set(next_.set_of[leaf * switches_ + s]);
    double sum = 0;
    for (const ChannelId next : set) {
      sum += next == channel ? 1 : part_from(to_[next], leaf, channel, from);
    }
    from[s] = sum / static_cast<double>(std::max<std::size_t>(set.size(), 1));
    return from[s];
  }

  [[noreturn]] static void refuse() {
    throw Error("routes that take one way at a time, got some that split every message");
  }

  std::span<const ChannelId> set_at(std::size_t leaf, SwitchId s) const {
    return next_.of_set(next_.set_of[leaf * switches_ + s]);
  }

  /// Switches with a way to a leaf, the farthest first; the leaf itself is left out.
  std::span<const SwitchId> order_of(std::size_t leaf) const {
    return {order_.data() + begin_[leaf], begin_[leaf + 1] - begin_[leaf]};
  }

  template <class Visit>
  void for_each_target(std::span<const std::uint32_t> messages, const Visit& visit) const {
    const std::size_t count = leaves();
    for (std::size_t leaf = 0; leaf < count; ++leaf) {
      check_interruption();
      const std::span<const std::uint32_t> sent = messages.subspan(leaf * count, count);
      if (std::any_of(sent.begin(), sent.end(), [](std::uint32_t n) { return n > 0; })) {
        visit(sent, leaf);
      }
    }
  }

  /// Every step towards a leaf is one nearer to it: a search back from the leaf meets the switches
  /// in the order of their distance.
  void order_switches() {
    std::vector<std::vector<SwitchId>> before(switches_);
    begin_.push_back(0);
    std::vector<std::uint8_t> seen(switches_);
    for (std::size_t leaf = 0; leaf < leaves(); ++leaf) {
      check_interruption();
      for (std::vector<SwitchId>& each : before) each.clear();
      for (SwitchId s = 0; s < switches_; ++s) {
        for (const ChannelId channel : set_at(leaf, s)) {
          before[to_[channel]].push_back(s);
          ++work_;
        }
      }
      std::fill(seen.begin(), seen.end(), std::uint8_t{0});
      std::vector<SwitchId> met{next_.leaves[leaf]};
      seen[met[0]] = 1;
      for (std::size_t k = 0; k < met.size(); ++k) {
        for (const SwitchId s : before[met[k]]) {
          if (std::exchange(seen[s], 1) == 0) met.push_back(s);
        }
      }
      order_.insert(order_.end(), met.rbegin(), met.rend() - 1);
      begin_.push_back(order_.size());
    }
  }

  std::size_t switches_;
  std::vector<std::uint32_t> leaf_;  ///< of every place
  std::vector<SwitchId> to_;         ///< where every channel ends
  NextHops next_;
  std::vector<SwitchId> order_;
  std::vector<std::size_t> begin_;
  std::uint64_t work_ = 0;
};

}  // namespace

std::unique_ptr<Resolver> make_sprayed_resolver(const Fabric& fabric, const Places& places,
                                                const Remains* rest) {
  return std::make_unique<SprayedResolver>(fabric, places, next_hops(fabric, places, rest));
}

}  // namespace contend
