#include "ideal_graph.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "contend/base/interruption.hpp"

namespace contend {

namespace {

/// The lots of switches that are alike, one after the other finer, until none is split any more.
class Lots {
 public:
  Lots(const IdealWays& ways, std::span<const double> rate)
      : ways_(ways), rate_(rate), lot_(ways.next.switches(), 0), beside_(lot_.size()) {
    for (std::uint32_t leaf = 0; leaf < ways.next.sources.size(); ++leaf) {
      lot_[ways.next.sources[leaf]] = leaf + 1;
    }
    used_ = ways.next.members;
    std::sort(used_.begin(), used_.end());
    used_.erase(std::unique(used_.begin(), used_.end()), used_.end());
    std::size_t count = 0;
    for (std::size_t more = ways.next.sources.size() + 1; more > count;) {
      check_interruption();
      count = more;
      more = split();
    }
  }

  const std::vector<std::uint32_t>& of_switch() const { return lot_; }
  /// Channels that any way crosses, ascending.
  std::span<const ChannelId> used() const { return used_; }

 private:
  /// Whether it leads away, to or from which lot, and what it carries.
  using Cable = std::tuple<bool, std::uint32_t, double>;

  /// Splits lots by what their switches have beside them; how many there are then.
  std::size_t split() {
    for (std::vector<Cable>& cables : beside_) cables.clear();
    for (const ChannelId channel : used_) {
      const SwitchId from = ways_.from(channel);
      const SwitchId to = ways_.to[channel];
      beside_[from].emplace_back(true, lot_[to], rate_[channel]);
      beside_[to].emplace_back(false, lot_[from], rate_[channel]);
    }
    std::map<std::pair<std::uint32_t, std::vector<Cable>>, std::uint32_t> number;
    for (SwitchId s = 0; s < lot_.size(); ++s) {
      const auto next = static_cast<std::uint32_t>(number.size());
      lot_[s] = number.try_emplace({lot_[s], summed(beside_[s])}, next).first->second;
    }
    return number.size();
  }
  /// By lot, what all cables carry together.
  static std::vector<Cable> summed(std::vector<Cable>& cables) {
    std::sort(cables.begin(), cables.end());
    std::vector<Cable> sums;
    for (const Cable& each : cables) {
      const auto& [away, lot, rate] = each;
      if (sums.empty() || std::get<0>(sums.back()) != away || std::get<1>(sums.back()) != lot) {
        sums.push_back(each);
      } else {
        std::get<2>(sums.back()) += rate;
      }
    }
    return sums;
  }

  const IdealWays& ways_;
  std::span<const double> rate_;
  std::vector<std::uint32_t> lot_;          ///< by switch
  std::vector<std::vector<Cable>> beside_;  ///< by switch
  std::vector<ChannelId> used_;
};

}  // namespace

IdealTrunks::IdealTrunks(const IdealWays& ways, std::span<const double> rate) : ways_(&ways) {
  const Lots lots(ways, rate);
  const std::vector<std::uint32_t>& lot = lots.of_switch();
  std::map<std::uint32_t, SwitchId> first_of_lot;
  for (SwitchId s = 0; s < lot.size(); ++s) first_of_lot.try_emplace(lot[s], s);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<ChannelId>> between;
  for (const ChannelId channel : lots.used()) {
    between[{lot[ways.from(channel)], lot[ways.to[channel]]}].push_back(channel);
  }
  std::vector<std::uint32_t> of_channel(ways.to.size());
  first_channel_.push_back(0);
  for (const auto& [ends, side_by_side] : between) {
    double sum = 0;
    for (const ChannelId channel : side_by_side) {
      of_channel[channel] = static_cast<std::uint32_t>(size());
      sum += rate[channel];
    }
    capacity_.push_back(sum);
    end_.push_back(first_of_lot[ends.second]);
    channels_.insert(channels_.end(), side_by_side.begin(), side_by_side.end());
    first_channel_.push_back(static_cast<std::uint32_t>(channels_.size()));
  }
  std::vector<std::uint32_t> trunks;
  first_of_set_.push_back(0);
  for (std::uint32_t set = 0; set + 1 < ways.next.first.size(); ++set) {
    trunks.clear();
    for (const ChannelId channel : ways.next.of_set(set)) trunks.push_back(of_channel[channel]);
    std::sort(trunks.begin(), trunks.end());
    trunks.erase(std::unique(trunks.begin(), trunks.end()), trunks.end());
    of_set_.insert(of_set_.end(), trunks.begin(), trunks.end());
    first_of_set_.push_back(static_cast<std::uint32_t>(of_set_.size()));
  }
}

}  // namespace contend
