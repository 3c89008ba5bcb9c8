#include "contend/fabric/levels.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "contend/base/threads.hpp"
#include "contend/fabric/complete_tree.hpp"
#include "shortest_paths.hpp"

namespace contend {

namespace {

constexpr double kClear = 0.5;      // of what paths say of a joined pair
constexpr double kTreeLike = 0.75;  // of what they say of all
constexpr int kRounds = 32;         // levels of real fabrics are settled after two or three
constexpr std::uint32_t kBottom = 1U << 16U;  // where levels are counted from until they are known

using namespace shortest_paths;

/// Up and down by the votes, and the levels that follow.
class Climb {
 public:
  Climb(const Neighbours& near, const std::vector<double>& hosts, const Votes& votes)
      : near_(near), hosts_(hosts), step_(near.to.size(), 0), level_(near.switches(), 0) {
    double clear = 0;
    double spoken = 0;
    for (SwitchId s = 0; s < near.switches(); ++s) {
      for (std::size_t k = near.begin[s]; k < near.begin[s + 1]; ++k) {
        const std::size_t back = find(near.to[k], s);
        const double up = votes.up[k] - votes.up[back];
        const double all = votes.spoken[k] + votes.spoken[back];
        if (std::abs(up) > kClear * all) step_[k] = up > 0 ? 1 : -1;
        clear += std::abs(up);
        spoken += all;
      }
    }
    agreed_ = clear > kTreeLike * spoken;
  }

  /// Whether there is an up and a down at all.
  bool agreed() const { return agreed_; }

  /// Levels from 1; 0 for switches of which no path says anything. Empty where what is up goes
  /// round in a circle.
  std::vector<std::uint32_t> levels() {
    if (!begin_at_the_bottom()) return {};
    for (int round = 0; round < kRounds && settle(); ++round) check_interruption();
    count_from_the_hosts();
    return level_;
  }

 private:
  std::size_t find(SwitchId from, SwitchId to) const {
    const auto first = near_.to.begin() + static_cast<std::ptrdiff_t>(near_.begin[from]);
    const auto last = near_.to.begin() + static_cast<std::ptrdiff_t>(near_.begin[from + 1]);
    return static_cast<std::size_t>(std::lower_bound(first, last, to) - near_.to.begin());
  }

  /// One above the middle one of what is below, from the bottom up.
  bool begin_at_the_bottom() {
    std::vector<std::size_t> below(near_.switches(), 0);
    std::vector<std::size_t> joined(near_.switches(), 0);
    for (SwitchId s = 0; s < near_.switches(); ++s) {
      for (std::size_t k = near_.begin[s]; k < near_.begin[s + 1]; ++k) {
        below[s] += step_[k] < 0;
        joined[s] += step_[k] != 0;
      }
    }
    std::vector<SwitchId> ready;
    for (SwitchId s = 0; s < near_.switches(); ++s) {
      if (below[s] > 0 || (joined[s] == 0 && hosts_[s] <= 0)) continue;
      ready.push_back(s);
      level_[s] = kBottom;
    }
    for (std::size_t head = 0; head < ready.size(); ++head) {
      const SwitchId s = ready[head];
      if (level_[s] == 0) level_[s] = middle(s, true);
      for (std::size_t k = near_.begin[s]; k < near_.begin[s + 1]; ++k) {
        if (step_[k] > 0 && --below[near_.to[k]] == 0) ready.push_back(near_.to[k]);
      }
    }
    return std::ranges::all_of(below, [](std::size_t left) { return left == 0; });
  }

  /// The level that suits the most cables of a switch, those below it alone or all.
  std::uint32_t middle(SwitchId s, bool below_alone) {
    wanted_.clear();
    std::uint64_t all = 0;
    for (std::size_t k = near_.begin[s]; k < near_.begin[s + 1]; ++k) {
      if (step_[k] == 0 || (below_alone && step_[k] > 0)) continue;
      wanted_.emplace_back(level_[near_.to[k]] - static_cast<std::uint32_t>(step_[k]),
                           near_.cables[k]);
      all += near_.cables[k];
    }
    std::ranges::sort(wanted_);
    std::uint64_t passed = 0;
    for (const auto& [level, cables] : wanted_) {
      passed += cables;
      if (2 * passed > all) return level;
    }
    return level_[s];
  }

  bool settle() {
    bool moved = false;
    for (SwitchId s = 0; s < near_.switches(); ++s) {
      if (level_[s] == 0) continue;
      const std::uint32_t level = middle(s, false);
      moved |= level != level_[s];
      level_[s] = level;
    }
    return moved;
  }

  /// Makes the level that the middle host of every connected part hangs on level 1.
  void count_from_the_hosts() {
    std::vector<bool> seen(near_.switches(), false);
    for (SwitchId first = 0; first < near_.switches(); ++first) {
      if (seen[first]) continue;
      std::vector<SwitchId> part(1, first);
      seen[first] = true;
      for (std::size_t head = 0; head < part.size(); ++head) {
        for (std::size_t k = near_.begin[part[head]]; k < near_.begin[part[head] + 1]; ++k) {
          if (seen[near_.to[k]]) continue;
          seen[near_.to[k]] = true;
          part.push_back(near_.to[k]);
        }
      }
      count_part(part);
    }
  }

  void count_part(std::vector<SwitchId>& part) {
    std::erase_if(part, [&](SwitchId s) { return level_[s] == 0; });
    std::ranges::sort(part, {}, [&](SwitchId s) { return level_[s]; });
    double all = 0;
    for (const SwitchId s : part) all += hosts_[s];
    std::uint32_t lowest = kBottom;
    double passed = 0;
    for (const SwitchId s : part) {
      passed += hosts_[s];
      lowest = level_[s];
      if (2 * passed >= all) break;
    }
    for (const SwitchId s : part) level_[s] = level_[s] > lowest ? level_[s] - lowest + 1 : 1;
  }

  const Neighbours& near_;
  const std::vector<double>& hosts_;
  std::vector<std::int8_t> step_;  ///< 1 up, -1 down, 0 neither; by place in Neighbours
  std::vector<std::uint32_t> level_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> wanted_;  ///< level, cables
  bool agreed_ = false;
};

/// What leads from a switch to those that stand above it.
struct Upwards {
  std::size_t switches = 0;
  std::size_t cables = 0;
};

Upwards upwards(const Neighbours& near, const std::vector<std::uint32_t>& level, SwitchId s) {
  Upwards up;
  for (std::size_t k = near.begin[s]; k < near.begin[s + 1]; ++k) {
    if (level[near.to[k]] <= level[s]) continue;
    ++up.switches;
    up.cables += near.cables[k];
  }
  return up;
}

/// Whether a switch that stands on top, without hosts, is cabled as leaves are and not as the
/// spines beside it: its neighbours lead to others on top that join at least twice as many, and the
/// number of its neighbours, and of its cables, is in the range of those of leaves below them.
bool looks_like_a_leaf(const Neighbours& near, const std::vector<double>& hosts,
                       const std::vector<std::uint32_t>& level, SwitchId s) {
  const std::size_t joined = near.begin[s + 1] - near.begin[s];
  if (hosts[s] > 0 || level[s] < 3) return false;
  std::size_t cables = 0;
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  Upwards fewest{kMost, kMost};
  Upwards most;
  for (std::size_t k = near.begin[s]; k < near.begin[s + 1]; ++k) {
    const SwitchId line = near.to[k];
    if (level[line] >= level[s]) return false;
    cables += near.cables[k];
    std::size_t widest = 0;
    for (std::size_t j = near.begin[line]; j < near.begin[line + 1]; ++j) {
      const SwitchId other = near.to[j];
      if (level[other] > level[line]) {
        widest = std::max(widest, near.begin[other + 1] - near.begin[other]);
      } else if (hosts[other] > 0 && level[other] < level[line]) {
        const Upwards up = upwards(near, level, other);
        fewest.switches = std::min(fewest.switches, up.switches);
        fewest.cables = std::min(fewest.cables, up.cables);
        most.switches = std::max(most.switches, up.switches);
        most.cables = std::max(most.cables, up.cables);
      }
    }
    if (widest < 2 * joined) return false;
  }
  return joined >= fewest.switches && joined <= most.switches && cables >= fewest.cables &&
         cables <= most.cables;
}

/// Leaves without hosts that short paths between other leaves lead over, as over spines. None of
/// them is needed: without them, all hosts are as near to each other.
std::vector<SwitchId> empty_leaves(const Neighbours& near, const std::vector<double>& hosts,
                                   const std::vector<SwitchId>& seats,
                                   const std::vector<std::uint32_t>& level) {
  std::vector<SwitchId> found;
  std::vector<bool> left_out(near.switches(), false);
  for (SwitchId s = 0; s < near.switches(); ++s) {
    if (!looks_like_a_leaf(near, hosts, level, s)) continue;
    found.push_back(s);
    left_out[s] = true;
  }
  if (found.empty()) return found;
  for (const SwitchId seat : seats) {
    const std::vector<std::uint32_t> all = distances(near, {seat}, {});
    const std::vector<std::uint32_t> without = distances(near, {seat}, left_out);
    if (std::ranges::any_of(seats, [&](SwitchId s) { return all[s] != without[s]; })) return {};
  }
  return found;
}

/// Levels of what no path says anything of, from its neighbours'.
void hang_on(const Neighbours& near, std::vector<std::uint32_t>& level) {
  for (;;) {
    check_interruption();
    std::vector<std::uint32_t> next = level;
    for (SwitchId s = 0; s < near.switches(); ++s) {
      if (level[s] != 0) continue;
      std::uint32_t lowest = kFar;
      for (std::size_t k = near.begin[s]; k < near.begin[s + 1]; ++k) {
        if (level[near.to[k]] != 0) lowest = std::min(lowest, level[near.to[k]]);
      }
      if (lowest != kFar) next[s] = lowest > 1 ? lowest - 1 : 2;
    }
    if (next == level) return;
    level = std::move(next);
  }
}

/// Those of a complete tree: all shortest paths say the same of it.
Levels levels_of(const CompleteTree& tree, std::size_t switches) {
  Levels levels{std::vector<std::uint32_t>(switches, 1), std::vector<std::uint8_t>(switches, 1)};
  const auto raise = [&](SwitchId first) {
    for (SwitchId s = first; s < switches; ++s) ++levels.of[s];
  };
  for (std::size_t k = 1; k < tree.steps.size(); ++k) raise(tree.steps[k].first);
  if (!tree.steps.empty()) raise(tree.top);
  return levels;
}

}  // namespace

Levels find_levels(const Fabric& fabric) {
  if (const auto tree = find_complete_tree(fabric)) return levels_of(*tree, fabric.switches());
  const Neighbours near(fabric);
  std::vector<double> hosts(fabric.switches(), 0);
  for (const SwitchId s : fabric.host_switches()) ++hosts[s];
  std::vector<SwitchId> seats;
  for (SwitchId s = 0; s < fabric.switches(); ++s) {
    if (hosts[s] > 0) seats.push_back(s);
  }
  const std::vector<std::uint32_t> distance = distances(near, seats, {});
  Levels levels{std::vector<std::uint32_t>(fabric.switches(), 0), {}};
  for (SwitchId s = 0; s < fabric.switches(); ++s) {
    if (distance[s] != kFar) levels.of[s] = distance[s] + 1;
  }
  Votes votes = all_votes(near, hosts, seats);
  for (const SwitchId s : seats) votes.needed[s] = 1;
  Climb climb(near, hosts, votes);
  if (climb.agreed()) {
    std::vector<std::uint32_t> found = climb.levels();
    if (!found.empty()) {
      for (const SwitchId s : empty_leaves(near, hosts, seats, found)) found[s] = 0;
      hang_on(near, found);
      levels.of = std::move(found);
    }
  }
  levels.needed = std::move(votes.needed);
  return levels;
}

}  // namespace contend
