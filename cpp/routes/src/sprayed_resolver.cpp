#include <algorithm>
#include <map>
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
    put_in_order(fabric);
  }

  bool tabled() const override { return false; }
  std::size_t bytes() const override {
    return (next_.set_of.size() + order_.size()) * sizeof(std::uint32_t) +
           (next_.members.size() + to_.size() + end_.size()) * sizeof(ChannelId);
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

  void spread(std::span<const std::uint32_t> messages, std::span<double> load,
              Crossed& crossed) const override {
    crossed.clear();
    std::vector<double> flow(switches_ + bundles(), 0);
    std::vector<double> on_each(bundle_of_.size(), 0);
    for_each_target(messages, [&](std::span<const std::uint32_t> sent, std::size_t row) {
      for (std::size_t source = 0; source < sent.size(); ++source) {
        flow[next_.sources[source]] = sent[source];
      }
      for (const std::uint32_t item : order_of(row)) {
        const double here = std::exchange(flow[item], 0);
        if (here == 0) continue;
        crossed.items.push_back(item);
        if (item >= switches_) {
          for (const SwitchId end : ends_of(item)) flow[end] += here;
        } else {
          const std::uint32_t set = set_at(row, item);
          const double each = here / static_cast<double>(next_.of_set(set).size());
          on_each[set] += each;
          flow[bundle_of_[set]] += each;
        }
      }
      flow[next_.ends[row]] = 0;
      crossed.ends.push_back(crossed.items.size());
    });
    for (std::uint32_t set = 0; set < on_each.size(); ++set) {
      if (on_each[set] == 0) continue;
      for (const ChannelId channel : next_.of_set(set)) load[channel] += on_each[set];
    }
  }

  void largest(std::span<const std::uint32_t> messages, const Crossed& crossed,
               std::span<const double> value, std::span<double> largest) const override {
    std::vector<double> of_set(bundle_of_.size(), 0);
    for (std::uint32_t set = 0; set < of_set.size(); ++set) {
      for (const ChannelId channel : next_.of_set(set)) {
        of_set[set] = std::max(of_set[set], value[channel]);
      }
    }
    std::vector<double> from(switches_ + bundles(), 0);
    std::size_t begin = 0;
    auto end_of_row = crossed.ends.begin();
    for_each_target(messages, [&](std::span<const std::uint32_t> sent, std::size_t row) {
      from[next_.ends[row]] = 0;
      const std::size_t end = *end_of_row++;
      for (std::size_t place = end; place > begin; --place) {
        const std::uint32_t item = crossed.items[place - 1];
        double most = 0;
        if (item >= switches_) {
          for (const SwitchId s : ends_of(item)) most = std::max(most, from[s]);
        } else {
          const std::uint32_t set = set_at(row, item);
          most = std::max(of_set[set], from[bundle_of_[set]]);
        }
        from[item] = most;
      }
      begin = end;
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
      const std::span<const std::uint32_t> order = order_of(row);
      from[next_.ends[row]] = 0;
      for (auto item = order.rbegin(); item != order.rend(); ++item) {
        if (*item >= switches_) continue;
        const std::span<const ChannelId> set = next_.of_set(set_at(row, *item));
        double sum = 0;
        for (const ChannelId next : set) sum += next == channel ? 1 : from[to_[next]];
        from[*item] = sum / static_cast<double>(std::max<std::size_t>(set.size(), 1));
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
    for (const std::uint32_t s : order_of(target)) {
      if (s >= switches_ || here[s] == 0) continue;
      const std::span<const ChannelId> set = next_.of_set(set_at(target, s));
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

  std::uint32_t set_at(std::size_t row, SwitchId s) const {
    return next_.set_of[row * switches_ + s];
  }

  /// Sets of channels that end at the same switches are a bundle: what is counted of all of them
  /// goes on from there at once. Bundles are numbered behind the switches.
  std::size_t bundles() const { return first_end_.size() - 1; }
  std::span<const SwitchId> ends_of(std::uint32_t bundle) const {
    const std::size_t number = bundle - switches_;
    return {end_.data() + first_end_[number], first_end_[number + 1] - first_end_[number]};
  }

  /// Switches on the ways to a class and the bundles between them, each before what it leads to;
  /// the end is left out.
  std::span<const std::uint32_t> order_of(std::size_t row) const {
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

  void bundle_sets() {
    std::map<std::vector<SwitchId>, std::uint32_t> number;
    for (std::uint32_t set = 0; set + 1 < next_.first.size(); ++set) {
      std::vector<SwitchId> ends;
      for (const ChannelId channel : next_.of_set(set)) ends.push_back(to_[channel]);
      std::sort(ends.begin(), ends.end());
      const auto next = static_cast<std::uint32_t>(switches_ + bundles());
      const auto [found, is_new] = number.try_emplace(std::move(ends), next);
      bundle_of_.push_back(found->second);
      if (!is_new) continue;
      end_.insert(end_.end(), found->first.begin(), found->first.end());
      first_end_.push_back(end_.size());
    }
  }

  /// Bundles come right before the first of their ends: all switches that lead to them do before.
  void put_in_order(const Fabric& fabric) {
    WaysTo ways(fabric);
    to_ = ways.ends();
    bundle_sets();
    begin_.push_back(0);
    std::vector<std::vector<std::uint32_t>> before(switches_);
    std::vector<std::size_t> place(switches_, 0);
    std::vector<std::uint32_t> met;
    const auto sooner = [&](SwitchId a, SwitchId b) { return place[a] < place[b]; };
    for (std::size_t row = 0; row < classes(); ++row) {
      check_interruption();
      ways.follow(next_, row, next_.sources);
      const std::span<const SwitchId> order = ways.order();
      for (std::size_t k = 0; k < order.size(); ++k) place[order[k]] = k;
      place[next_.ends[row]] = order.size();
      met.clear();
      for (const SwitchId s : order) met.push_back(bundle_of_[set_at(row, s)]);
      std::sort(met.begin(), met.end());
      met.erase(std::unique(met.begin(), met.end()), met.end());
      for (const std::uint32_t bundle : met) {
        const std::span<const SwitchId> ends = ends_of(bundle);
        before[*std::min_element(ends.begin(), ends.end(), sooner)].push_back(bundle);
        work_ += ends.size();
      }
      for (const SwitchId s : order) {
        take_over(before[s]);
        order_.push_back(s);
      }
      take_over(before[next_.ends[row]]);
      work_ += order.size();
      begin_.push_back(order_.size());
    }
  }
  void take_over(std::vector<std::uint32_t>& bundles) {
    order_.insert(order_.end(), bundles.begin(), bundles.end());
    bundles.clear();
  }

  std::size_t switches_;
  std::vector<std::uint32_t> leaf_;           ///< of every place
  std::vector<std::uint32_t> leaf_of_class_;  ///< of every class
  NextHops next_;
  std::vector<SwitchId> to_;              ///< where every channel ends
  std::vector<std::uint32_t> bundle_of_;  ///< of every set
  std::vector<std::size_t> first_end_{0};
  std::vector<SwitchId> end_;  ///< where the channels of every bundle end
  std::vector<std::uint32_t> order_;
  std::vector<std::size_t> begin_;
  std::uint64_t work_ = 0;
};

}  // namespace

std::unique_ptr<Resolver> make_sprayed_resolver(const Fabric& fabric, const Places& places,
                                                NextHops next) {
  return std::make_unique<SprayedResolver>(fabric, places, std::move(next));
}

}  // namespace contend
