#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "contend/congestion/simulate.hpp"
#include "contend/pattern/shuffle.hpp"

namespace contend {

/// n!, when it is below 2^63.
inline std::optional<std::uint64_t> factorial(std::size_t n) {
  std::uint64_t product = 1;
  for (std::uint64_t k = 2; k <= n; ++k) {
    if (product >= (std::uint64_t{1} << 63) / k) return std::nullopt;
    product *= k;
  }
  return product;
}

constexpr std::uint32_t kPlacementDraws = 0;
constexpr std::uint32_t kFirstRoundDraws = 1;

/// Throws Error when pattern, seating and samples do not fit together, or the places.
void check_samples(const Resolver& resolver, const Pattern& pattern, const Seating& seating,
                   const Samples& samples);

/// Whether two ranks may sit on one place.
bool shares_places(const Seating& seating);

/// Whether threads should share the pieces of each of so few rounds: those of random patterns must
/// be drawn one after the other.
bool shares_pieces(const Pattern& pattern, std::size_t rounds, int threads);

/// How many pieces of work a thread takes at a time.
inline std::size_t run_length(std::size_t pieces, int threads) {
  return std::clamp<std::size_t>(pieces / (8 * static_cast<std::size_t>(threads)), 1, 64);
}

inline bool is_identity(std::span<const Place> slots) {
  for (std::size_t slot = 0; slot < slots.size(); ++slot) {
    if (slots[slot] != slot) return false;
  }
  return true;
}

/// Draws the messages of rounds of samples, between places. Of a round begin() comes first, then
/// draw() for piece after piece.
class RoundDrawer {
 public:
  RoundDrawer(const Pattern& pattern, const Seating& seating, const Samples& samples,
              bool places_are_shared)
      : pattern_(pattern),
        seating_(seating),
        samples_(samples),
        order_(seating.slots),
        placement_outcomes_(seating.random ? factorial(seating.slots.size()) : 1),
        move_(seating.random || seating.ranks_per_slot > 1 || !is_identity(seating.slots)),
        // Ranks that share a host may send to each other, and given rounds to themselves.
        may_stay_(places_are_shared || pattern.sends_to_itself()) {}

  /// Which drawing of routes a sample takes; see Resolver::resolve_drawn.
  std::uint64_t routes_of(std::uint64_t sample) const { return routes_draw(samples_.seed, sample); }

  /// Where a rank sits in the sample that begin() was called with last.
  Place place_of(Rank rank) const { return order_[rank / seating_.ranks_per_slot]; }

  /// Prepares a round, from its first piece on; may be called again to draw the same once more.
  void begin(std::uint64_t sample, std::uint32_t round) {
    seat(sample);
    round_ = round;
    random_.emplace(RandomChoices({samples_.seed, sample, kFirstRoundDraws + round}));
    enumerated_.emplace(samples_.enumerate ? sample / *placement_outcomes_ : 0);
    stayed_ = 0;
  }

  /// Draws a piece and turns its ranks into places; messages that stay on their host are set aside.
  const Messages& draw(std::uint32_t piece) {
    if (samples_.enumerate) {
      pattern_.fill(round_, piece, *enumerated_, messages_);
    } else {
      pattern_.fill(round_, piece, *random_, messages_);
    }
    if (move_) {
      for (Rank& rank : messages_.source) rank = order_[rank / seating_.ranks_per_slot];
      for (Rank& rank : messages_.target) rank = order_[rank / seating_.ranks_per_slot];
    }
    if (may_stay_) set_local_messages_aside();
    return messages_;
  }

  /// (Weighted) number of messages since begin() that stay on their host.
  std::uint64_t stayed() const { return stayed_; }

 private:
  /// Draws the placement of a sample, once for all its rounds that this thread runs.
  void seat(std::uint64_t sample) {
    if (!seating_.random || (seated_ && *seated_ == sample)) return;
    order_ = seating_.slots;
    if (samples_.enumerate) {
      EnumeratedChoices choices(sample % *placement_outcomes_);
      shuffle(std::span<std::uint32_t>(order_), choices);
    } else {
      shuffle_slots(order_, samples_.seed, sample);
    }
    seated_ = sample;
  }

  void set_local_messages_aside() {
    std::size_t kept = 0;
    const bool weighted = !messages_.weight.empty();
    for (std::size_t m = 0; m < messages_.size(); ++m) {
      if (messages_.source[m] == messages_.target[m]) {
        stayed_ += weighted ? messages_.weight[m] : 1;
        continue;
      }
      messages_.source[kept] = messages_.source[m];
      messages_.target[kept] = messages_.target[m];
      if (weighted) messages_.weight[kept] = messages_.weight[m];
      ++kept;
    }
    messages_.resize(kept);
    if (weighted) messages_.weight.resize(kept);
  }

  const Pattern& pattern_;
  const Seating& seating_;
  Samples samples_;
  std::vector<Place> order_;
  std::optional<std::uint64_t> placement_outcomes_;
  bool move_;
  bool may_stay_;
  std::optional<std::uint64_t> seated_;
  std::uint32_t round_ = 0;
  std::optional<RandomChoices> random_;
  std::optional<EnumeratedChoices> enumerated_;
  Messages messages_;
  std::uint64_t stayed_ = 0;
};

}  // namespace contend
