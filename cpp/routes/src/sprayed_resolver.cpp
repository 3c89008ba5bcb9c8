#include <algorithm>
#include <utility>
#include <vector>

#include "contend/base/error.hpp"
#include "contend/base/interruption.hpp"
#include "contend/routes/next_hops.hpp"
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
    const std::vector<std::uint32_t> number = next_.source_number(switches_);
    for (const HostId host : places.hosts) leaf_.push_back(number[fabric.host_switch(host)]);
    for (const SwitchId end : next_.ends) leaf_of_class_.push_back(number[end]);
    order_switches(fabric);
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

  std::size_t leaves() const override { return next_.sources.size(); }
  std::uint32_t leaf_of(Place place) const override { return leaf_[place]; }
  std::size_t classes() const override { return next_.ends.size(); }
  std::uint32_t class_of(Place place) const override { return next_.row_of[place]; }
  std::uint32_t leaf_of_class(std::size_t number) const override { return leaf_of_class_[number]; }

  void spread(std::span<const std::uint32_t> messages, std::span<double> load) const override {
    std::vector<double> flow(switches_, 0);
    for_each_target(messages, [&](std::span<const std::uint32_t> sent, std::size_t row) {
      for (std::size_t source = 0; source < sent.size(); ++source) {
        flow[next_.sources[source]] = sent[source];
      }
      const std::span<const SwitchId> order = order_of(row);
      for (const SwitchId s : order) {
        const double here = std::exchange(flow[s], 0);
        if (here == 0) continue;
        const std::span<const ChannelId> set = set_at(row, s);
        const double each = here / static_cast<double>(set.size());
        for (const ChannelId channel : set) {
          load[channel] += each;
          flow[to_[channel]] += each;
        }
      }
      flow[next_.ends[row]] = 0;
    });
  }

  void largest(std::span<const std::uint32_t> messages, std::span<const double> value,
               std::span<double> largest) const override {
    std::vector<double> from(switches_, 0);
    std::vector<std::uint8_t> crossed(switches_, 0);
    for_each_target(messages, [&](std::span<const std::uint32_t> sent, std::size_t row) {
      for (std::size_t source = 0; source < sent.size(); ++source) {
        if (sent[source] > 0) crossed[next_.sources[source]] = 1;
      }
      const std::span<const SwitchId> order = order_of(row);
      for (const SwitchId s : order) {
        if (crossed[s] == 0) continue;
        for (const ChannelId channel : set_at(row, s)) crossed[to_[channel]] = 1;
      }
      from[next_.ends[row]] = 0;
      for (auto s = order.rbegin(); s != order.rend(); ++s) {
        if (std::exchange(crossed[*s], 0) == 0) continue;
        double most = 0;
        for (const ChannelId channel : set_at(row, *s)) {
          most = std::max({most, value[channel], from[to_[channel]]});
        }
        from[*s] = most;
      }
      crossed[next_.ends[row]] = 0;
      double* const found = largest.data() + row * sent.size();
      for (std::size_t source = 0; source < sent.size(); ++source) {
        if (sent[source] > 0) found[source] = from[next_.sources[source]];
      }
    });
  }

  std::vector<double> parts_across(ChannelId channel) const override {
    std::vector<double> parts(classes() * leaves(), 0);
    std::vector<double> from(switches_, 0);
    for (std::size_t row = 0; row < classes(); ++row) {
      check_interruption();
      const std::span<const SwitchId> order = order_of(row);
      from[next_.ends[row]] = 0;
      for (auto s = order.rbegin(); s != order.rend(); ++s) {
        const std::span<const ChannelId> set = set_at(row, *s);
        double sum = 0;
        for (const ChannelId next : set) sum += next == channel ? 1 : from[to_[next]];
        from[*s] = sum / static_cast<double>(std::max<std::size_t>(set.size(), 1));
      }
      for (std::size_t source = 0; source < leaves(); ++source) {
        parts[row * leaves() + source] = from[next_.sources[source]];
      }
    }
    return parts;
  }

  std::vector<PartOnChannel> parts_between(std::uint32_t source,
                                           std::uint32_t target) const override {
    std::vector<PartOnChannel> parts;
    std::vector<double> here(switches_, 0);
    here[next_.sources[source]] = 1;
    for (const SwitchId s : order_of(target)) {
      if (here[s] == 0) continue;
      const std::span<const ChannelId> set = set_at(target, s);
      const double each = here[s] / static_cast<double>(set.size());
      for (const ChannelId channel : set) {
        parts.push_back({channel, each});
        here[to_[channel]] += each;
      }
    }
    return parts;
  }

 private:
  [[noreturn]] static void refuse() {
    throw Error("routes that take one way at a time, got some that split every message");
  }

  std::span<const ChannelId> set_at(std::size_t row, SwitchId s) const {
    return next_.of_set(next_.set_of[row * switches_ + s]);
  }

  /// Switches on the ways to a class, each before those it leads to; the end is left out.
  std::span<const SwitchId> order_of(std::size_t row) const {
    return {order_.data() + begin_[row], begin_[row + 1] - begin_[row]};
  }

  template <class Visit>
  void for_each_target(std::span<const std::uint32_t> messages, const Visit& visit) const {
    const std::size_t count = leaves();
    for (std::size_t row = 0; row < classes(); ++row) {
      check_interruption();
      const std::span<const std::uint32_t> sent = messages.subspan(row * count, count);
      if (std::any_of(sent.begin(), sent.end(), [](std::uint32_t n) { return n > 0; })) {
        visit(sent, row);
      }
    }
  }

  void order_switches(const Fabric& fabric) {
    WaysTo ways(fabric);
    begin_.push_back(0);
    for (std::size_t row = 0; row < classes(); ++row) {
      check_interruption();
      for (SwitchId s = 0; s < switches_; ++s) work_ += set_at(row, s).size();
      ways.follow(next_, row, next_.sources);
      order_.insert(order_.end(), ways.order().begin(), ways.order().end());
      begin_.push_back(order_.size());
    }
    to_ = ways.ends();
  }

  std::size_t switches_;
  std::vector<std::uint32_t> leaf_;           ///< of every place
  std::vector<std::uint32_t> leaf_of_class_;  ///< of every class
  std::vector<SwitchId> to_;                  ///< where every channel ends
  NextHops next_;
  std::vector<SwitchId> order_;
  std::vector<std::size_t> begin_;
  std::uint64_t work_ = 0;
};

}  // namespace

std::unique_ptr<Resolver> make_sprayed_resolver(const Fabric& fabric, const Places& places,
                                                NextHops next) {
  return std::make_unique<SprayedResolver>(fabric, places, std::move(next));
}

}  // namespace contend
