#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "contend/base/progress.hpp"
#include "contend/routes/split/ways.hpp"
#include "contend/routes/ways/next_hops.hpp"
#include "sprayed_ways.hpp"

namespace contend {

namespace {

class SprayedResolver final : public SplittingResolver, private Ways {
 public:
  SprayedResolver(const Fabric& fabric, const Places& places, NextHops next)
      : SplittingResolver(places.hosts.size(), fabric.switch_channels(),
                          std::max<std::size_t>(next.hops, 1), kSprayUnit),
        Ways(Classes(fabric, places, next)),
        ways_(fabric, std::move(next)) {}

  std::size_t bytes() const override { return ways_.bytes(); }
  const Ways* ways() const override { return this; }
  std::uint64_t work_of_round() const override { return ways_.work(); }

  const PartLists* part_lists() const override {
    std::call_once(listed_, [&] { lists_ = make_part_lists(ways_); });
    return lists_.get();
  }

  void spread(std::span<const std::uint64_t> messages, std::span<double> load,
              Crossed& crossed) const override {
    crossed.clear();
    std::vector<double> flow(ways_.switches() + ways_.bundles(), 0);
    std::vector<double> on_each(ways_.sets(), 0);
    for_each_target(messages, [&](std::span<const std::uint64_t> sent, std::size_t row) {
      for (std::size_t source = 0; source < sent.size(); ++source) {
        flow[ways_.next().sources[source]] = static_cast<double>(sent[source]);
      }
      for (const std::uint32_t item : ways_.order_of(row)) {
        const double here = std::exchange(flow[item], 0);
        if (here == 0) continue;
        crossed.items.push_back(item);
        if (item >= ways_.switches()) {
          for (const SwitchId end : ways_.ends_of(item)) flow[end] += here;
        } else {
          const std::uint32_t set = ways_.set_at(row, item);
          const double each = here / static_cast<double>(ways_.next().of_set(set).size());
          on_each[set] += each;
          flow[ways_.bundle_of(set)] += each;
        }
      }
      flow[ways_.next().ends[row]] = 0;
      crossed.ends.push_back(crossed.items.size());
    });
    for (std::uint32_t set = 0; set < on_each.size(); ++set) {
      if (on_each[set] == 0) continue;
      for (const ChannelId channel : ways_.next().of_set(set)) load[channel] += on_each[set];
    }
  }

  void largest(std::span<const std::uint64_t> messages, const Crossed& crossed,
               std::span<const double> value, std::span<double> largest) const override {
    std::vector<double> of_set(ways_.sets(), 0);
    for (std::uint32_t set = 0; set < of_set.size(); ++set) {
      for (const ChannelId channel : ways_.next().of_set(set)) {
        of_set[set] = std::max(of_set[set], value[channel]);
      }
    }
    std::vector<double> from(ways_.switches() + ways_.bundles(), 0);
    std::size_t begin = 0;
    auto end_of_row = crossed.ends.begin();
    for_each_target(messages, [&](std::span<const std::uint64_t> sent, std::size_t row) {
      from[ways_.next().ends[row]] = 0;
      const std::size_t end = *end_of_row++;
      for (std::size_t place = end; place > begin; --place) {
        const std::uint32_t item = crossed.items[place - 1];
        double most = 0;
        if (item >= ways_.switches()) {
          for (const SwitchId s : ways_.ends_of(item)) most = std::max(most, from[s]);
        } else {
          const std::uint32_t set = ways_.set_at(row, item);
          most = std::max(of_set[set], from[ways_.bundle_of(set)]);
        }
        from[item] = most;
      }
      begin = end;
      double* const found = largest.data() + row * sent.size();
      for (std::size_t source = 0; source < sent.size(); ++source) {
        if (sent[source] > 0) found[source] = from[ways_.next().sources[source]];
      }
    });
  }

  std::vector<double> parts_across(ChannelId channel) const override {
    std::vector<double> parts(classes() * leaves(), 0);
    std::vector<double> from(ways_.switches(), 0);
    for (const std::size_t row : InParts(classes())) {
      const std::span<const std::uint32_t> order = ways_.order_of(row);
      from[ways_.next().ends[row]] = 0;
      for (auto item = order.rbegin(); item != order.rend(); ++item) {
        if (*item >= ways_.switches()) continue;
        const std::span<const ChannelId> set = ways_.next().of_set(ways_.set_at(row, *item));
        double sum = 0;
        for (const ChannelId next : set) sum += next == channel ? 1 : from[ways_.end_of(next)];
        from[*item] = sum / static_cast<double>(std::max<std::size_t>(set.size(), 1));
      }
      for (std::size_t source = 0; source < leaves(); ++source) {
        parts[row * leaves() + source] = from[ways_.next().sources[source]];
      }
    }
    return parts;
  }

  std::vector<PartOnChannel> parts_between(std::uint32_t source,
                                           std::uint32_t target) const override {
    std::vector<PartOnChannel> parts;
    std::vector<double> here(ways_.switches(), 0);
    here[ways_.next().sources[source]] = 1;
    for (const std::uint32_t s : ways_.order_of(target)) {
      if (s >= ways_.switches() || here[s] == 0) continue;
      const std::span<const ChannelId> set = ways_.next().of_set(ways_.set_at(target, s));
      const double each = here[s] / static_cast<double>(set.size());
      for (const ChannelId channel : set) {
        parts.push_back({channel, each});
        here[ways_.end_of(channel)] += each;
      }
    }
    return parts;
  }

 private:
  SprayedWays ways_;
  mutable std::once_flag listed_;
  mutable std::unique_ptr<const PartLists> lists_;
};

}  // namespace

std::unique_ptr<Resolver> make_sprayed_resolver(const Fabric& fabric, const Places& places,
                                                NextHops next) {
  return std::make_unique<SprayedResolver>(fabric, places, std::move(next));
}

std::unique_ptr<Resolver> make_sprayed_resolver(const Fabric& fabric, const Places& places,
                                                const Topology& topology,
                                                std::span<const std::uint32_t> group) {
  auto formula = make_sprayed_formula(fabric, places, topology, !group.empty());
  if (formula) return formula;
  return make_sprayed_resolver(fabric, places, next_hops(fabric, places, rest_of(topology), group));
}

}  // namespace contend
