#include "shortest_paths.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include "contend/base/threads.hpp"

namespace contend::shortest_paths {

namespace {

constexpr std::size_t kMostSteps = std::size_t{1} << 28;
constexpr std::size_t kParts = 8;  // summed one after the other, so that threads do not matter
constexpr double kNothing = 1e-9;  // what rounding leaves of 0

/// Follows all shortest paths from one switch after the other.
class Paths {
 public:
  Paths(const Neighbours& near, const std::vector<double>& hosts)
      : near_(near),
        hosts_(hosts),
        ways_(near.switches()),
        ends_(near.switches()),
        lengths_(near.switches()) {
    votes_.up.assign(near.to.size(), 0);
    votes_.spoken.assign(near.to.size(), 0);
    votes_.needed.assign(near.switches(), 0);
  }

  void follow(SwitchId source) {
    spread_out(source);
    for (auto at = reached_.rbegin(); at != reached_.rend(); ++at) come_back(source, *at);
  }

  const Votes& votes() const { return votes_; }

 private:
  /// The number of shortest paths to every switch.
  void spread_out(SwitchId source) {
    distance_.assign(near_.switches(), kFar);
    reached_.assign(1, source);
    distance_[source] = 0;
    ways_[source] = 1;
    for (std::size_t head = 0; head < reached_.size(); ++head) {
      const SwitchId at = reached_[head];
      ends_[at] = at == source ? 0 : hosts_[at];
      lengths_[at] = ends_[at] * distance_[at];
      for (std::size_t k = near_.begin[at]; k < near_.begin[at + 1]; ++k) {
        const SwitchId to = near_.to[k];
        if (distance_[to] == kFar) {
          distance_[to] = distance_[at] + 1;
          ways_[to] = 0;
          reached_.push_back(to);
        }
        if (distance_[to] == distance_[at] + 1) ways_[to] += ways_[at] * near_.cables[k];
      }
    }
  }

  /// Shares out the paths that end at a switch or beyond among those that lead to it. On a path of
  /// d steps, the step after the first i counts d - 1 - 2i: above 0 before the middle.
  void come_back(SwitchId source, SwitchId at) {
    if (ends_[at] <= 0) return;
    votes_.needed[at] = 1;
    for (std::size_t k = near_.begin[at]; k < near_.begin[at + 1]; ++k) {
      const SwitchId from = near_.to[k];
      if (distance_[from] + 1 != distance_[at]) continue;
      const double share = ways_[from] * near_.cables[k] / ways_[at];
      ends_[from] += share * ends_[at];
      lengths_[from] += share * lengths_[at];
      const double before_middle = lengths_[at] - (1.0 + 2.0 * distance_[from]) * ends_[at];
      if (std::abs(before_middle) < kNothing * lengths_[at]) continue;
      votes_.up[k] -= hosts_[source] * share * before_middle;  // k leads back
      votes_.spoken[k] += hosts_[source] * share * std::abs(before_middle);
    }
  }

  const Neighbours& near_;
  const std::vector<double>& hosts_;
  Votes votes_;
  std::vector<std::uint32_t> distance_;
  std::vector<SwitchId> reached_;
  std::vector<double> ways_;     ///< shortest paths to a switch
  std::vector<double> ends_;     ///< hosts at which paths through it end
  std::vector<double> lengths_;  ///< the same times the paths' lengths
};

}  // namespace

Neighbours::Neighbours(const Fabric& fabric) : begin(fabric.switches() + 1, 0) {
  std::vector<std::pair<SwitchId, SwitchId>> ends;
  for (ChannelId channel = 0; channel < fabric.switch_channels(); ++channel) {
    const SwitchId from = fabric.channel_from(channel);
    if (from != fabric.channel_to(channel)) ends.emplace_back(from, fabric.channel_to(channel));
  }
  std::ranges::sort(ends);
  for (std::size_t k = 0; k < ends.size(); ++k) {
    if (k > 0 && ends[k] == ends[k - 1]) {
      ++cables.back();
      continue;
    }
    to.push_back(ends[k].second);
    cables.push_back(1);
    ++begin[ends[k].first + 1];
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
}

std::vector<std::uint32_t> distances(const Neighbours& near, const std::vector<SwitchId>& from,
                                     const std::vector<bool>& left_out) {
  std::vector<std::uint32_t> distance(near.switches(), kFar);
  std::vector<SwitchId> reached(from);
  for (const SwitchId s : from) distance[s] = 0;
  for (std::size_t head = 0; head < reached.size(); ++head) {
    const SwitchId at = reached[head];
    for (std::size_t k = near.begin[at]; k < near.begin[at + 1]; ++k) {
      if (distance[near.to[k]] != kFar) continue;
      if (!left_out.empty() && left_out[near.to[k]]) continue;
      distance[near.to[k]] = distance[at] + 1;
      reached.push_back(near.to[k]);
    }
  }
  return distance;
}

Votes all_votes(const Neighbours& near, const std::vector<double>& hosts,
                const std::vector<SwitchId>& seats) {
  const std::size_t affordable =
      std::max<std::size_t>(1, kMostSteps / (near.to.size() + near.switches()));
  const std::size_t step = (seats.size() + affordable - 1) / affordable;
  std::vector<Paths> parts(kParts, Paths(near, hosts));
  in_parallel(thread_count(), kParts, 1, [&](const Pieces& pieces) {
    for (const std::size_t part : pieces) {
      for (std::size_t k = part * step; k < seats.size(); k += kParts * step) {
        check_interruption();
        parts[part].follow(seats[k]);
      }
    }
  });
  Votes sum = parts[0].votes();
  for (std::size_t part = 1; part < kParts; ++part) {
    const Votes& more = parts[part].votes();
    for (std::size_t k = 0; k < sum.up.size(); ++k) {
      sum.up[k] += more.up[k];
      sum.spoken[k] += more.spoken[k];
    }
    for (std::size_t s = 0; s < sum.needed.size(); ++s) sum.needed[s] |= more.needed[s];
  }
  return sum;
}

}  // namespace contend::shortest_paths
