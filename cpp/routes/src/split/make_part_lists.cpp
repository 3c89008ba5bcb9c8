#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>

#include "contend/base/mixed.hpp"
#include "contend/base/progress.hpp"
#include "sprayed_ways.hpp"

namespace contend {

namespace {

/// Entries of lists for each step of following all messages, at most.
constexpr std::uint64_t kMostPerStep = 4;
constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

/// A part of a message on a switch.
using PartOnSwitch = std::pair<SwitchId, double>;

/// Follows a message from where its first hop ends to the switches before its last hop.
class Walk {
 public:
  explicit Walk(const SprayedWays& ways)
      : ways_(ways), place_(ways.switches(), 0), here_(ways.switches(), 0) {}

  /// Prepares ways to a class of targets.
  void start(std::size_t row) {
    if (row == row_) return;
    row_ = row;
    end_ = ways_.next().ends[row];
    order_.clear();
    for (const std::uint32_t item : ways_.order_of(row)) {
      if (item >= ways_.switches()) continue;
      place_[item] = static_cast<std::uint32_t>(order_.size());
      order_.push_back(item);
    }
    waiting_.assign(order_.size() / 64 + 1, 0);
  }

  /// Whether all channels that lead on from a switch lead to the end.
  static bool is_last(const SprayedWays& ways, std::size_t row, SwitchId s) {
    const std::span<const SwitchId> ends = ways.ends_of(ways.bundle_of(ways.set_at(row, s)));
    const SwitchId end = ways.next().ends[row];
    return !ends.empty() && ends.front() == end && ends.back() == end;
  }

  /// Calls visit(channel, part) once for each channel between, and arrive(switch, part).
  template <class Visit, class Arrive>
  void from(std::uint32_t bundle, const Visit& visit, const Arrive& arrive) {
    next_ = 0;
    const std::span<const SwitchId> ends = ways_.ends_of(bundle);
    for (const SwitchId s : ends) put(s, 1 / static_cast<double>(ends.size()));
    for (std::size_t word = 0; word < waiting_.size(); ++word) {
      while (waiting_[word] != 0) {
        const auto bit = static_cast<std::size_t>(std::countr_zero(waiting_[word]));
        waiting_[word] &= waiting_[word] - 1;
        next_ = 64 * word + bit + 1;
        const SwitchId s = order_[64 * word + bit];
        const double part = std::exchange(here_[s], 0);
        if (is_last(ways_, row_, s)) {
          arrive(s, part);
          continue;
        }
        const std::span<const ChannelId> set = ways_.channels_at(row_, s);
        const double each = part / static_cast<double>(set.size());
        for (const ChannelId channel : set) {
          visit(channel, each);
          put(ways_.end_of(channel), each);
        }
      }
    }
  }

 private:
  /// What goes back moves in a circle, and never arrives: nobody sends it.
  void put(SwitchId s, double part) {
    if (s == end_ || place_[s] < next_) return;
    here_[s] += part;
    waiting_[place_[s] / 64] |= std::uint64_t{1} << place_[s] % 64;
  }

  const SprayedWays& ways_;
  std::size_t row_ = kNone;
  SwitchId end_ = 0;
  std::size_t next_ = 0;  ///< place in the order
  std::vector<SwitchId> order_;
  std::vector<std::uint32_t> place_;    ///< of every switch in the order
  std::vector<double> here_;            ///< of a message, by switch
  std::vector<std::uint64_t> waiting_;  ///< a bit for every place where some of it is
};

/// Groups of classes of targets for which all switches that messages reach do the same, apart from
/// the last hop.
std::vector<std::vector<std::uint32_t>> groups_of_classes(const SprayedWays& ways) {
  std::vector<std::uint32_t> seen(ways.switches(), kNone);
  std::uint32_t look = 0;
  /// Switches that messages reach, with their sets; kNone where these are the last hop.
  using Reached = std::vector<std::pair<SwitchId, std::uint32_t>>;
  const auto reach = [&](std::size_t row, Reached& reached) {
    reached.clear();
    seen[ways.next().ends[row]] = look;
    for (const std::uint32_t item : ways.order_of(row)) {
      if (item < ways.switches()) continue;
      for (const SwitchId s : ways.ends_of(item)) {
        if (std::exchange(seen[s], look) == look) continue;
        reached.emplace_back(s, Walk::is_last(ways, row, s) ? kNone : ways.set_at(row, s));
      }
    }
    ++look;
    std::sort(reached.begin(), reached.end());
  };
  std::vector<std::vector<std::uint32_t>> groups;
  std::unordered_multimap<std::uint64_t, std::size_t> known;
  Reached reached, there;
  for (const std::uint32_t row : InParts(static_cast<std::uint32_t>(ways.classes()))) {
    reach(row, reached);
    std::uint64_t key = reached.size();
    for (const auto& [s, set] : reached) key = mixed(key ^ (std::uint64_t{s} << 32 | set)) + 1;
    const auto [begin, end] = known.equal_range(key);
    const auto found = std::find_if(begin, end, [&](const auto& each) {
      reach(groups[each.second].front(), there);
      return there == reached;
    });
    if (found != end) {
      groups[found->second].push_back(row);
      continue;
    }
    known.emplace(key, groups.size());
    groups.push_back({row});
  }
  return groups;
}

}  // namespace

/// Tells first which lists there are and what they have in common, then writes them down.
class PartListsMaker {
 public:
  explicit PartListsMaker(const SprayedWays& ways)
      : ways_(ways),
        walk_(ways),
        most_(kMostPerStep * ways.work()),
        list_of_set_(ways.sets(), 0),
        between_(ways.bundles()),
        trail_(ways.channels(), 0) {}

  std::unique_ptr<const PartLists> make() {
    const NextHops& next = ways_.next();
    lists_.of_pair_.resize(ways_.classes() * next.sources.size());
    for (const std::vector<std::uint32_t>& group : groups_of_classes(ways_)) {
      arrivals_of_group_.clear();
      for (const std::uint32_t row : group) {
        check_interruption();
        name_lists(row, group);
        if (steps_ > most_) return nullptr;
      }
    }
    find_cells();
    if (!write_down()) return nullptr;
    return std::make_unique<const PartLists>(std::move(lists_));
  }

 private:
  enum class Of : std::uint8_t { first_hop, between, last_hop };
  /// What a list is made of.
  struct Recipe {
    Of of;
    std::uint32_t row = 0;
    std::uint32_t number = 0;  ///< of the first hop's set, of the bundle or of the arrivals
  };
  /// What is known of the ways from a bundle to a class.
  struct Between {
    std::uint32_t row = kNone;
    std::uint32_t list = 0;
    std::uint32_t arrivals = 0;
  };

  /// Numbers the lists of all messages to a class of targets, one of a group.
  void name_lists(std::uint32_t row, const std::vector<std::uint32_t>& group) {
    const NextHops& next = ways_.next();
    const SwitchId end = next.ends[row];
    last_hop_.clear();
    auto of_pair = lists_.of_pair_.begin() +
                   static_cast<std::ptrdiff_t>(std::size_t{row} * next.sources.size());
    for (const SwitchId source : next.sources) {
      PartLists::OfMessage& lists = *of_pair++;
      if (source == end) continue;
      const std::uint32_t set = ways_.set_at(row, source);
      if (list_of_set_[set] == 0) list_of_set_[set] = add({Of::first_hop, row, set});
      const std::uint32_t bundle = ways_.bundle_of(set);
      const std::span<const SwitchId> ends = ways_.ends_of(bundle);
      // What ends on the way is known of the class alone.
      const bool shared = !std::binary_search(ends.begin(), ends.end(), end);
      const Between& between = ways_between(bundle, shared ? group.front() : row);
      lists = {list_of_set_[set], between.list, 0};
      if (arrivals_of(between.arrivals).empty()) continue;
      const auto [last, is_new] = last_hop_.try_emplace(between.arrivals, 0);
      if (is_new) last->second = add({Of::last_hop, row, between.arrivals});
      lists[2] = last->second;
    }
  }

  const Between& ways_between(std::uint32_t bundle, std::uint32_t row) {
    Between& between = between_[bundle - ways_.switches()];
    if (between.row == row) return between;
    walk_.start(row);
    bool any = false;
    met_.clear();
    walk_.from(
        bundle, [&](ChannelId, double) { any = true; },
        [&](SwitchId s, double part) { met_.emplace_back(s, part); });
    const auto next = static_cast<std::uint32_t>(arrivals_end_.size());
    const auto [known, is_new] = arrivals_of_group_.try_emplace(met_, next);
    if (is_new) {
      arrivals_.insert(arrivals_.end(), met_.begin(), met_.end());
      arrivals_end_.push_back(arrivals_.size());
    }
    between = {row, any ? add({Of::between, row, bundle}) : 0, known->second};
    return between;
  }

  std::span<const PartOnSwitch> arrivals_of(std::uint32_t number) const {
    const std::size_t begin = number > 0 ? arrivals_end_[number - 1] : 0;
    return {arrivals_.data() + begin, arrivals_end_[number] - begin};
  }

  /// The number of a new list, which leaves a trail on its channels.
  std::uint32_t add(const Recipe& recipe) {
    recipes_.push_back(recipe);
    const auto list = static_cast<std::uint32_t>(recipes_.size());
    for_each(recipe, [&](ChannelId channel, double part) {
      std::uint64_t& trail = trail_[channel];
      trail = mixed(trail ^ mixed(std::bit_cast<std::uint64_t>(part) + list)) + 1;
      ++steps_;
    });
    return list;
  }

  /// Visits each channel of a list once, with the part of a message there.
  template <class Visit>
  void for_each(const Recipe& recipe, const Visit& visit) {
    const auto evenly = [&](std::span<const ChannelId> set, double part) {
      const double each = part / static_cast<double>(set.size());
      for (const ChannelId channel : set) visit(channel, each);
    };
    if (recipe.of == Of::first_hop) {
      evenly(ways_.next().of_set(recipe.number), 1);
    } else if (recipe.of == Of::last_hop) {
      for (const auto& [s, part] : arrivals_of(recipe.number)) {
        evenly(ways_.channels_at(recipe.row, s), part);
      }
    } else {
      walk_.start(recipe.row);
      walk_.from(recipe.number, visit, [](SwitchId, double) {});
    }
  }

  /// Channels with the same trail are in the same lists with the same parts.
  void find_cells() {
    std::unordered_map<std::uint64_t, std::uint32_t> cell_of_trail{{0, 0}};
    channels_in_.assign(1, 0);
    for (const std::uint64_t trail : trail_) {
      const auto next = static_cast<std::uint32_t>(channels_in_.size());
      const auto [cell, is_new] = cell_of_trail.try_emplace(trail, next);
      if (is_new) channels_in_.push_back(0);
      ++channels_in_[cell->second];
      lists_.cell_of_channel_.push_back(cell->second);
    }
    lists_.cells_ = channels_in_.size();
  }

  /// False where trails were the same by chance.
  bool write_down() {
    std::vector<std::uint32_t> met(lists_.cells_, 0);
    std::vector<double> part_in(lists_.cells_, 0);
    std::vector<std::uint32_t>& cells = lists_.cell_;
    bool alike = true;
    for (const Recipe& recipe : recipes_) {
      check_interruption();
      const std::size_t begin = cells.size();
      for_each(recipe, [&](ChannelId channel, double part) {
        const std::uint32_t cell = lists_.cell_of_channel_[channel];
        if (met[cell]++ == 0) {
          cells.push_back(cell);
          part_in[cell] = part;
        }
        alike = alike && part == part_in[cell];
      });
      for (std::size_t k = begin; k < cells.size(); ++k) {
        lists_.part_.push_back(part_in[cells[k]]);
        alike = alike && std::exchange(met[cells[k]], 0) == channels_in_[cells[k]];
      }
      lists_.first_.push_back(static_cast<std::uint32_t>(cells.size()));
    }
    return alike;
  }

  const SprayedWays& ways_;
  Walk walk_;
  std::uint64_t most_;
  std::uint64_t steps_ = 0;
  PartLists lists_;
  std::vector<Recipe> recipes_;  ///< of list 1 and those that follow
  std::vector<std::uint32_t> list_of_set_;
  std::vector<Between> between_;  ///< by bundle
  std::vector<PartOnSwitch> met_;
  std::vector<PartOnSwitch> arrivals_;  ///< of every number, one after the other
  std::vector<std::size_t> arrivals_end_;
  std::map<std::vector<PartOnSwitch>, std::uint32_t> arrivals_of_group_;
  std::map<std::uint32_t, std::uint32_t> last_hop_;  ///< of a class: by arrivals the list
  std::vector<std::uint64_t> trail_;                 ///< of every channel, by its lists and parts
  std::vector<std::uint32_t> channels_in_;           ///< every cell
};

std::unique_ptr<const PartLists> make_part_lists(const SprayedWays& ways) {
  return PartListsMaker(ways).make();
}

}  // namespace contend
