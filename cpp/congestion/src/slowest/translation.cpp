#include "translation.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <limits>

#include "contend/base/threads.hpp"
#include "contend/routes/ways/route_trees.hpp"

namespace contend {

namespace {

constexpr std::uint32_t kUnknown = std::numeric_limits<std::uint32_t>::max();

/// A renaming of channels as far as it is known.
class Renaming {
 public:
  explicit Renaming(std::size_t channels) : to_(channels, kUnknown) {}

  /// Whether `from` can be renamed so.
  bool rename(ChannelId from, ChannelId to) {
    if (to_[from] == kUnknown) to_[from] = to;
    return to_[from] == to;
  }
  bool add(const Renaming& other) {
    for (std::size_t c = 0; c < to_.size(); ++c) {
      if (other.to_[c] != kUnknown && !rename(static_cast<ChannelId>(c), other.to_[c]))
        return false;
    }
    return true;
  }

  /// The first channel of each cycle; nothing where a cycle has not this length. Channels that no
  /// route crosses stay by themselves.
  std::optional<std::vector<ChannelId>> cycles(std::size_t length) const {
    std::vector<ChannelId> first(to_.size(), kUnknown);
    for (ChannelId begin = 0; begin < to_.size(); ++begin) {
      if (first[begin] != kUnknown) continue;
      first[begin] = begin;
      if (to_[begin] == kUnknown) continue;
      ChannelId at = to_[begin];
      std::size_t members = 1;
      for (; at != begin; at = to_[at], ++members) {
        // Two that are renamed alike end outside of a cycle.
        if (at == kUnknown || first[at] != kUnknown) return std::nullopt;
        first[at] = begin;
      }
      if (members != length) return std::nullopt;
    }
    return first;
  }

  /// Whether renaming leaves these values as they are.
  bool keeps(std::span<const double> value) const {
    for (std::size_t c = 0; c < to_.size(); ++c) {
      if (to_[c] != kUnknown && value[to_[c]] != value[c]) return false;
    }
    return true;
  }

 private:
  std::vector<ChannelId> to_;
};

/// Looks whether moves by one number of ranks or another are translations.
class Search {
 public:
  Search(const Resolver& resolver, std::span<const Place> places, const ChannelRates* rates,
         std::uint64_t most_looks, int threads)
      : resolver_(resolver),
        trees_(*resolver.trees()),
        places_(places),
        rates_(rates),
        looks_left_(static_cast<std::int64_t>(most_looks)),
        threads_(threads) {
    std::vector<std::uint32_t> number(trees_.switches(), kUnknown);
    for (std::uint32_t rank = 0; rank < places.size(); ++rank) {
      std::uint32_t& leaf = number[trees_.leaf(places[rank])];
      if (leaf == kUnknown) {
        leaf = static_cast<std::uint32_t>(first_of_leaf_.size());
        first_of_leaf_.push_back(rank);
      }
      leaf_of_.push_back(leaf);
    }
  }

  bool has_looks_left() const { return looks_left_ > 0; }

  std::optional<Translation> look(std::size_t period) {
    if (!moves_leaves(period) || (rates_ != nullptr && !keeps_ports(period))) return std::nullopt;
    Renaming renaming(resolver_.switch_channels());
    if (!rename_all(period, renaming)) return std::nullopt;
    if (rates_ != nullptr && !renaming.keeps(rates_->all())) return std::nullopt;
    auto first = renaming.cycles(places_.size() / period);
    if (!first) return std::nullopt;
    return Translation{period, std::move(*first)};
  }

 private:
  using Row = std::vector<std::uint32_t>;  ///< routes from every leaf to one target

  std::size_t moved(std::size_t rank, std::size_t period) const {
    return rank + period < places_.size() ? rank + period : rank + period - places_.size();
  }

  /// Whether ranks that share a leaf are still together.
  bool moves_leaves(std::size_t period) {
    leaf_to_.assign(first_of_leaf_.size(), kUnknown);
    std::vector<bool> taken(first_of_leaf_.size(), false);
    for (std::size_t rank = 0; rank < places_.size(); ++rank) {
      const std::uint32_t onto = leaf_of_[moved(rank, period)];
      std::uint32_t& to = leaf_to_[leaf_of_[rank]];
      if (to == kUnknown) {
        if (taken[onto]) return false;
        taken[onto] = true;
        to = onto;
      }
      if (to != onto) return false;
    }
    return true;
  }

  bool keeps_ports(std::size_t period) const {
    for (std::size_t rank = 0; rank < places_.size(); ++rank) {
      const Place place = places_[rank], to = places_[moved(rank, period)];
      if (rates_->injection(place) != rates_->injection(to)) return false;
      if (rates_->ejection(place) != rates_->ejection(to)) return false;
    }
    return true;
  }

  /// Compares all routes to each of the first targets with those to where it moves, and so on until
  /// it is back: a route is looked up once.
  bool rename_all(std::size_t period, Renaming& renaming) {
    std::atomic<bool> fails{false};
    const auto fits = [&](std::uint32_t target, Renaming& found) {
      Row first, row, next;
      look_up(target, first);
      row = first;
      std::size_t at = target;
      do {
        at = moved(at, period);
        if (fails || looks_left_ <= 0) return false;
        if (at == target) {
          next = first;
        } else {
          look_up(static_cast<std::uint32_t>(at), next);
        }
        if (!compare(row, next, found)) return false;
        std::swap(row, next);
      } while (at != target);
      return true;
    };
    // Most moves are none already for the first target.
    if (!fits(0, renaming)) return false;
    std::deque<Renaming> found(static_cast<std::size_t>(threads_), renaming);
    in_parallel(threads_, period - 1, 1, [&](const Pieces& mine) {
      for (const std::size_t piece : mine) {
        if (!fails && !fits(static_cast<std::uint32_t>(piece + 1), found[mine.thread()])) {
          fails = true;
        }
      }
    });
    return !fails &&
           std::ranges::all_of(found, [&](const Renaming& each) { return renaming.add(each); });
  }

  void look_up(std::uint32_t target, Row& row) {
    const std::size_t stride = resolver_.stride();
    std::vector<Place> source, to;
    for (std::size_t leaf = 0; leaf < first_of_leaf_.size(); ++leaf) {
      if (leaf == leaf_of_[target]) continue;
      source.push_back(places_[first_of_leaf_[leaf]]);
    }
    to.assign(source.size(), places_[target]);
    looks_left_ -= static_cast<std::int64_t>(source.size());
    // What stays on a leaf crosses no channel: its place in the row is padding.
    row.assign(first_of_leaf_.size() * stride, kUnknown);
    resolver_.resolve(source, to, row.data());
    const auto own = row.begin() + static_cast<std::ptrdiff_t>(leaf_of_[target] * stride);
    std::move_backward(own, row.end() - static_cast<std::ptrdiff_t>(stride), row.end());
    std::fill_n(own, stride, kUnknown);
  }

  bool compare(const Row& row, const Row& next, Renaming& renaming) const {
    const std::size_t stride = resolver_.stride(), channels = resolver_.switch_channels();
    for (std::size_t leaf = 0; leaf < leaf_to_.size(); ++leaf) {
      const std::uint32_t* const from = row.data() + leaf * stride;
      const std::uint32_t* const to = next.data() + leaf_to_[leaf] * stride;
      for (std::size_t k = 0; k < stride; ++k) {
        if ((from[k] < channels) != (to[k] < channels)) return false;
        if (from[k] < channels && !renaming.rename(from[k], to[k])) return false;
      }
    }
    return true;
  }

  const Resolver& resolver_;
  const RouteTrees& trees_;
  std::span<const Place> places_;
  const ChannelRates* rates_;
  std::atomic<std::int64_t> looks_left_;
  int threads_;
  std::vector<std::uint32_t> leaf_of_;        ///< by rank, numbered by their first ranks
  std::vector<std::uint32_t> first_of_leaf_;  ///< ranks
  std::vector<std::uint32_t> leaf_to_;        ///< where a move takes each leaf
};

}  // namespace

std::optional<Translation> find_translation(const Resolver& resolver, std::span<const Place> places,
                                            const ChannelRates* rates, std::uint64_t most_looks,
                                            int threads) {
  if (resolver.trees() == nullptr) return std::nullopt;
  Search search(resolver, places, rates, most_looks, threads);
  for (std::size_t period = 1; 2 * period <= places.size() && search.has_looks_left(); ++period) {
    if (places.size() % period != 0) continue;
    if (auto found = search.look(period)) return found;
  }
  return std::nullopt;
}

}  // namespace contend
