#include "contend/congestion/reach.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "contend/base/error.hpp"
#include "contend/base/interruption.hpp"

namespace contend {

namespace {

constexpr auto kNobody = std::numeric_limits<std::uint32_t>::max();

/// The leaves of places: a place that stands for each, and how many there are on it.
struct Leaves {
  Leaves(const Resolver& resolver, std::span<const std::uint32_t> leaf) : of_place(leaf) {
    if (leaf.size() != resolver.places()) throw Error("a leaf for every place");
    for (Place place = 0; place < leaf.size(); ++place) {
      if (leaf[place] >= leaf.size()) throw Error("leaves numbered without gaps");
      if (leaf[place] >= members.size()) {
        members.resize(leaf[place] + std::size_t{1}, 0);
        first.resize(members.size(), kNobody);
      }
      if (members[leaf[place]]++ == 0) first[leaf[place]] = place;
    }
    if (std::count(members.begin(), members.end(), 0U) > 0) {
      throw Error("leaves numbered without gaps");
    }
  }

  std::span<const std::uint32_t> of_place;
  std::vector<std::uint32_t> members;
  std::vector<Place> first;
};

/// Routes from one leaf to all places on others, or from all other leaves to one place.
class Bundle {
 public:
  Bundle(const Resolver& resolver, const Leaves& leaves) : resolver_(resolver), leaves_(leaves) {}

  void from_leaf(std::uint32_t leaf) {
    clear();
    for (Place target = 0; target < leaves_.of_place.size(); ++target) {
      if (leaves_.of_place[target] != leaf) add(leaf, target);
    }
    resolve();
  }

  void to_place(Place target) {
    clear();
    for (std::uint32_t leaf = 0; leaf < leaves_.members.size(); ++leaf) {
      if (leaves_.of_place[target] != leaf) add(leaf, target);
    }
    resolve();
  }

  /// Calls visit(channel) for every channel that a route crosses, once for all routes.
  template <class Visit>
  void once_each(std::vector<std::uint32_t>& last_visitor, std::uint32_t visitor, Visit visit) {
    for (const std::uint32_t channel : channels_) {
      if (channel >= resolver_.switch_channels() || last_visitor[channel] == visitor) continue;
      last_visitor[channel] = visitor;
      visit(channel);
    }
  }

  void add_crossing(std::uint32_t leaf, std::uint32_t channel, LeafPairs& pairs) const {
    const auto stride = static_cast<std::ptrdiff_t>(resolver_.stride());
    auto route = channels_.begin();
    for (std::size_t m = 0; m < target_.size(); ++m, route += stride) {
      if (std::find(route, route + stride, channel) == route + stride) continue;
      pairs.leaf.push_back(leaf);
      pairs.target.push_back(target_[m]);
    }
  }

 private:
  void clear() {
    source_.clear();
    target_.clear();
  }
  void add(std::uint32_t leaf, Place target) {
    source_.push_back(leaves_.first[leaf]);
    target_.push_back(target);
  }
  void resolve() {
    check_interruption();
    channels_.resize(source_.size() * resolver_.stride());
    resolver_.resolve(source_, target_, channels_.data());
  }

  const Resolver& resolver_;
  const Leaves& leaves_;
  std::vector<Place> source_;
  std::vector<Place> target_;
  std::vector<std::uint32_t> channels_;
};

}  // namespace

Reach channel_reach(const Resolver& resolver, std::span<const std::uint32_t> leaf) {
  const Leaves leaves(resolver, leaf);
  Bundle routes(resolver, leaves);
  Reach reach;
  reach.sources.assign(resolver.switch_channels(), 0);
  reach.targets.assign(resolver.switch_channels(), 0);
  std::vector<std::uint32_t> visitor(resolver.switch_channels(), kNobody);
  for (std::uint32_t from = 0; from < leaves.members.size(); ++from) {
    routes.from_leaf(from);
    routes.once_each(visitor, from, [&](std::uint32_t channel) {
      reach.sources[channel] += leaves.members[from];
    });
  }
  std::fill(visitor.begin(), visitor.end(), kNobody);
  for (Place to = 0; to < resolver.places(); ++to) {
    routes.to_place(to);
    routes.once_each(visitor, to, [&](std::uint32_t channel) { ++reach.targets[channel]; });
  }
  return reach;
}

LeafPairs pairs_across(const Resolver& resolver, std::span<const std::uint32_t> leaf,
                       std::uint32_t channel) {
  if (channel >= resolver.switch_channels()) {
    throw Error("a channel below " + std::to_string(resolver.switch_channels()) +
                " between switches, got " + std::to_string(channel));
  }
  const Leaves leaves(resolver, leaf);
  Bundle routes(resolver, leaves);
  LeafPairs pairs;
  for (std::uint32_t from = 0; from < leaves.members.size(); ++from) {
    routes.from_leaf(from);
    routes.add_crossing(from, channel, pairs);
  }
  return pairs;
}

}  // namespace contend
