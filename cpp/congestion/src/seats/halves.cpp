#include "halves.hpp"
#include "contend/base/interruption.hpp"
#include "message_parts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <numeric>
#include <set>
#include <utility>

namespace contend {

namespace {

using Rank = std::uint32_t;

/// Ranks that are to sit on some places, in all as many as these take.
struct Part {
  std::vector<Place> places;
  std::vector<Rank> ranks;
};

struct Peer {
  Rank rank;
  double bytes;
};

/// Bytes between ranks, both ways and over all phases.
std::vector<std::vector<Peer>> peers_of(const RankMessages& messages) {
  std::vector<std::vector<Peer>> peers(messages.ranks());
  for (Rank rank = 0; rank < messages.ranks(); ++rank) {
    check_interruption();
    for (const RankMessage& message : messages.of(rank)) {
      peers[rank].push_back({message.other, message.bytes});
    }
    std::ranges::stable_sort(peers[rank], {}, &Peer::rank);
    std::vector<Peer> merged;
    for (const Peer& peer : peers[rank]) {
      if (!merged.empty() && merged.back().rank == peer.rank) {
        merged.back().bytes += peer.bytes;
      } else {
        merged.push_back(peer);
      }
    }
    peers[rank] = std::move(merged);
  }
  return peers;
}

class Halving {
 public:
  Halving(const Resolver& resolver, const RankMessages& messages,
          std::span<const std::uint32_t> taken)
      : parts_(resolver),
        taken_(taken),
        peers_(peers_of(messages)),
        centre_(messages.ranks()),
        side_(messages.ranks(), kElsewhere),
        gain_(messages.ranks(), 0.0),
        result_(messages.ranks()) {}

  std::vector<Place> run() {
    std::deque<Part> parts(1);
    for (Place place = 0; place < taken_.size(); ++place) {
      if (taken_[place] > 0) parts[0].places.push_back(place);
    }
    parts[0].ranks.resize(result_.size());
    std::iota(parts[0].ranks.begin(), parts[0].ranks.end(), Rank{0});
    settle(parts[0]);
    while (!parts.empty()) {
      check_interruption();
      const Part part = std::move(parts.front());
      parts.pop_front();
      if (part.places.size() < 2) {
        for (const Rank rank : part.ranks) result_[rank] = part.places[0];
        continue;
      }
      for (Part& half : split(part)) {
        settle(half);
        parts.push_back(std::move(half));
      }
    }
    return std::move(result_);
  }

 private:
  static constexpr std::uint8_t kElsewhere = 2;

  /// Where a part's ranks are taken to be while its places are not halved further.
  void settle(const Part& part) {
    for (const Rank rank : part.ranks) centre_[rank] = part.places[part.places.size() / 2];
  }

  /// Channels between switches from a place to others, one more than none between two places.
  std::vector<double> distances(Place from, std::span<const Place> to) {
    std::vector<Place> source, target;
    for (const Place place : to) {
      if (place == from) continue;
      source.push_back(from);
      target.push_back(place);
    }
    parts_.look_up(source, target);
    std::vector<double> found;
    std::size_t m = 0;
    for (const Place place : to) {
      double hops = 0;
      if (place != from) {
        hops = 1;
        parts_.for_each(m++, [&](ChannelId, double part) { hops += part; });
      }
      // Thirds of messages do not sum up to whole hops.
      found.push_back(std::round(hops));
    }
    return found;
  }

  std::array<Part, 2> split(const Part& part) {
    std::array<Part, 2> halves;
    const std::vector<Place>& places = part.places;
    // Two far ends: what is farthest from anywhere, and what is farthest from there.
    const auto farthest = [&](Place from) {
      const std::vector<double> far = distances(from, places);
      return places[static_cast<std::size_t>(std::ranges::max_element(far) - far.begin())];
    };
    const Place one = farthest(places[0]);
    const Place other = farthest(one);
    std::vector<std::size_t> order(places.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const std::vector<double> to_one = distances(one, places);
    const std::vector<double> to_other = distances(other, places);
    std::ranges::stable_sort(order, {}, [&](std::size_t at) { return to_one[at] - to_other[at]; });
    std::size_t wanted = part.ranks.size() / 2;
    std::size_t in_first = 0;
    for (const std::size_t at : order) {
      // Neither half stays without a place.
      const bool last = at == order.back();
      const bool first = halves[0].places.empty();
      const bool room = 2 * in_first + taken_[places[at]] <= 2 * wanted;
      const bool to_first = first || (!last && halves[1].places.empty() && room);
      halves[to_first ? 0 : 1].places.push_back(places[at]);
      if (to_first) in_first += taken_[places[at]];
    }
    for (Part& half : halves) std::ranges::sort(half.places);
    share_out(part, halves, in_first);
    return halves;
  }

  /// Chooses the ranks of the halves: grown from one rank, then improved by exchanges.
  void share_out(const Part& part, std::array<Part, 2>& halves, std::size_t in_first) {
    const std::array<Place, 2> centres{halves[0].places[halves[0].places.size() / 2],
                                       halves[1].places[halves[1].places.size() / 2]};
    const double apart = distances(centres[0], std::array{centres[1]})[0];
    // What a rank of the first half would save in the second, for its peers elsewhere.
    pull_.assign(part.ranks.size(), 0.0);
    for (const Rank rank : part.ranks) side_[rank] = 1;
    std::vector<Place> where;
    for (std::size_t at = 0; at < part.ranks.size(); ++at) {
      check_interruption();
      where.clear();
      for (const Peer& peer : peers_[part.ranks[at]]) {
        if (side_[peer.rank] == kElsewhere) where.push_back(centre_[peer.rank]);
      }
      if (where.empty()) continue;
      const std::vector<double> from_first = distances(centres[0], where);
      const std::vector<double> from_second = distances(centres[1], where);
      std::size_t n = 0;
      for (const Peer& peer : peers_[part.ranks[at]]) {
        if (side_[peer.rank] != kElsewhere) continue;
        pull_[at] += peer.bytes * (from_first[n] - from_second[n]) / apart;
        ++n;
      }
    }
    grow(part.ranks, in_first);
    for (int pass = 0; pass < kPasses && improve(part.ranks); ++pass) {
    }
    for (const Rank rank : part.ranks) halves[side_[rank]].ranks.push_back(rank);
    for (const Rank rank : part.ranks) side_[rank] = kElsewhere;
  }

  /// Puts ranks into the first half one by one, always the one that the half and the ranks
  /// elsewhere draw most.
  void grow(const std::vector<Rank>& ranks, std::size_t in_first) {
    std::set<std::pair<double, std::size_t>> queue;
    for (std::size_t at = 0; at < ranks.size(); ++at) {
      place_in_[ranks[at]] = at;
      gain_[ranks[at]] = -pull_[at];
      queue.insert({-gain_[ranks[at]], at});
    }
    for (std::size_t taken = 0; taken < in_first; ++taken) {
      check_interruption();
      const auto best = queue.begin();
      const Rank rank = ranks[best->second];
      queue.erase(best);
      side_[rank] = 0;
      for (const Peer& peer : peers_[rank]) {
        if (side_[peer.rank] != 1) continue;
        const std::size_t at = place_in_[peer.rank];
        queue.erase({-gain_[peer.rank], at});
        gain_[peer.rank] += peer.bytes;
        queue.insert({-gain_[peer.rank], at});
      }
    }
  }

  /// One pass of exchanges, of which the best beginning is kept; false where nothing was gained.
  bool improve(const std::vector<Rank>& ranks) {
    std::array<std::set<std::pair<double, std::size_t>>, 2> queue;
    for (std::size_t at = 0; at < ranks.size(); ++at) {
      const Rank rank = ranks[at];
      place_in_[rank] = at;
      double gain = side_[rank] == 0 ? pull_[at] : -pull_[at];
      for (const Peer& peer : peers_[rank]) {
        if (side_[peer.rank] == kElsewhere) continue;
        gain += side_[peer.rank] == side_[rank] ? -peer.bytes : peer.bytes;
      }
      gain_[rank] = gain;
      queue[side_[rank]].insert({-gain, at});
    }
    const std::size_t pairs = std::min(queue[0].size(), queue[1].size());
    std::vector<Rank> flipped;
    double total = 0, best = 0, scale = 0;
    std::size_t kept = 0;
    for (std::size_t pair = 0; pair < pairs && pair < kept / 2 + kPatience; ++pair) {
      check_interruption();
      for (const std::uint8_t side : {std::uint8_t{0}, std::uint8_t{1}}) {
        const auto first = queue[side].begin();
        const Rank rank = ranks[first->second];
        queue[side].erase(first);
        total += gain_[rank];
        scale += gain_[rank] < 0 ? -gain_[rank] : gain_[rank];
        flip(rank, queue);
        flipped.push_back(rank);
      }
      if (total > best + 1e-12 * scale) {
        best = total;
        kept = flipped.size();
      }
    }
    for (std::size_t n = kept; n < flipped.size(); ++n) side_[flipped[n]] ^= 1;
    return kept > 0;
  }

  /// Moves a rank to the other half; its peers' gains follow. Those that moved have left the queue.
  void flip(Rank rank, std::array<std::set<std::pair<double, std::size_t>>, 2>& queue) {
    side_[rank] ^= 1;
    for (const Peer& peer : peers_[rank]) {
      const std::uint8_t side = side_[peer.rank];
      if (side == kElsewhere) continue;
      const double more = side == side_[rank] ? -2 * peer.bytes : 2 * peer.bytes;
      const std::size_t at = place_in_[peer.rank];
      const bool waits = queue[side].erase({-gain_[peer.rank], at}) > 0;
      gain_[peer.rank] += more;
      if (waits) queue[side].insert({-gain_[peer.rank], at});
    }
  }

  static constexpr int kPasses = 8;
  /// Exchanges without a gain after which a pass ends.
  static constexpr std::size_t kPatience = 200;

  MessageParts parts_;
  std::span<const std::uint32_t> taken_;
  std::vector<std::vector<Peer>> peers_;
  std::vector<Place> centre_;
  std::vector<std::uint8_t> side_;  ///< half of the part at work, or kElsewhere
  std::vector<double> gain_;
  std::vector<double> pull_;  ///< by number in the part
  std::vector<std::size_t> place_in_ = std::vector<std::size_t>(side_.size());
  std::vector<Place> result_;
};

}  // namespace

std::vector<Place> halve(const Resolver& resolver, const RankMessages& messages,
                         std::span<const std::uint32_t> taken) {
  return Halving(resolver, messages, taken).run();
}

}  // namespace contend
