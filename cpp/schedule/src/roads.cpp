#include "roads.hpp"
#include "contend/base/interruption.hpp"

#include <algorithm>

namespace contend {

namespace {

/// So many messages between two looks whether the work goes on.
constexpr std::size_t kMatches = 4096;

template <class T>
std::size_t index_of(const std::vector<T>& sorted, const T& value) {
  return static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), value) -
                                  sorted.begin());
}

template <class T>
void make_unique(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace

std::vector<Roads::Pair> Roads::pairs_of(const Schedule& schedule, std::span<const Match> matches) {
  std::vector<Pair> pairs;
  // Matches come by source and target, so equal ones mostly follow each other.
  for (const Match& match : matches) {
    const Pair pair{schedule.rank_of_strand[match.source], schedule.rank_of_strand[match.target]};
    if (!pairs.empty() && pairs[pairs.size() - 2] == pair) continue;
    pairs.push_back(pair);
    pairs.emplace_back(pair.second, pair.first);
  }
  make_unique(pairs);
  return pairs;
}

std::vector<Roads::Pair> Roads::places_of(const Network& network, const std::vector<Pair>& pairs) {
  std::vector<Pair> places;
  for (const auto& [source, target] : pairs) {
    places.emplace_back(network.place_of_rank[source], network.place_of_rank[target]);
  }
  make_unique(places);
  return places;
}

Crossings Roads::cross(const Network& network, const std::vector<Pair>& places) {
  std::vector<Place> source;
  std::vector<Place> target;
  for (const auto& [from, to] : places) {
    source.push_back(from);
    target.push_back(to);
  }
  return {network.resolver, source, target, true};
}

Roads::Roads(const Schedule& schedule, const Network& network, std::span<const Match> matches)
    : pairs_(pairs_of(schedule, matches)),
      places_(places_of(network, pairs_)),
      crossings_(cross(network, places_)),
      line_(pairs_.size()),
      next_(2 * matches.size(), kNobody) {
  ahead_.reserve(matches.size());
  for (const Match& match : matches) {
    if (ahead_.size() % kMatches == 0) check_interruption();
    const Pair pair{schedule.rank_of_strand[match.source], schedule.rank_of_strand[match.target]};
    ahead_.push_back(static_cast<std::uint32_t>(index_of(pairs_, pair)));
  }
  for (const Pair& pair : pairs_) {
    const Pair places{network.place_of_rank[pair.first], network.place_of_rank[pair.second]};
    reverse_.push_back(static_cast<std::uint32_t>(index_of(pairs_, Pair{pair.second, pair.first})));
    route_of_road_.push_back(index_of(places_, places));
    source_.push_back(places.first);
    within_.push_back(places.first == places.second ? 1 : 0);
  }
}

void Roads::append(std::uint32_t road, std::uint32_t item) {
  Line& line = line_[road];
  next_[item] = kNobody;
  (line.first == kNobody ? line.first : next_[line.last]) = item;
  line.last = item;
}

std::uint32_t Roads::pop(std::uint32_t road) {
  Line& line = line_[road];
  const std::uint32_t item = line.first;
  line.first = next_[item];
  return item;
}

}  // namespace contend
