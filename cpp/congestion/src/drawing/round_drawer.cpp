#include "round_drawer.hpp"

#include <algorithm>
#include <string>

#include "contend/base/error.hpp"
#include "contend/base/progress.hpp"

namespace contend {

void check_samples(const Resolver& resolver, const Pattern& pattern, const Seating& seating,
                   const Samples& samples) {
  const std::uint64_t seats = std::uint64_t{seating.slots.size()} * seating.ranks_per_slot;
  if (pattern.ranks() > seats) {
    throw Error("a pattern of at most " + std::to_string(seats) + " ranks, got " +
                std::to_string(pattern.ranks()));
  }
  for (const Place place : seating.slots) {
    if (place >= resolver.places()) throw Error("a slot on a place that does not take part");
  }
  if (!samples.enumerate) return;
  const auto all = outcomes(pattern, seating);
  if (!all || samples.first + samples.count > *all) {
    throw Error("an enumeration goes beyond the number of outcomes");
  }
}

bool shares_places(const Seating& seating) {
  if (seating.ranks_per_slot > 1) return true;
  std::vector<Place> sorted(seating.slots);
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
}

bool shares_pieces(const Pattern& pattern, std::size_t rounds, int threads) {
  constexpr std::size_t kFewForAThread = 4;
  return threads > 1 && rounds < kFewForAThread * static_cast<std::size_t>(threads) &&
         !pattern.random() && pattern.pieces(0) > 1;
}

std::optional<std::uint64_t> outcomes(const Pattern& pattern, const Seating& seating) {
  const auto drawn = pattern.outcomes();
  const auto seated = seating.random ? factorial(seating.slots.size()) : 1;
  if (!drawn || !seated || *drawn > (std::uint64_t{1} << 63) / *seated) return std::nullopt;
  return *drawn * *seated;
}

void shuffle_slots(std::span<Place> slots, std::uint64_t seed, std::uint64_t sample) {
  RandomChoices choices({seed, sample, kPlacementDraws});
  shuffle(slots, choices);
}

std::vector<std::uint64_t> message_counts(const Pattern& pattern, const Seating& seating,
                                          const Samples& samples) {
  RoundDrawer drawer(pattern, seating, samples, pattern.shares_ends() || shares_places(seating));
  std::vector<std::uint64_t> counts(samples.count, 0);
  for (const std::uint32_t sample : InParts(samples.count)) {
    for (std::uint32_t round = 0; round < pattern.rounds(); ++round) {
      drawer.begin(samples.first + sample, round);
      for (std::uint32_t piece = 0; piece < pattern.pieces(round); ++piece) {
        counts[sample] += drawer.draw(piece).size();
      }
    }
  }
  return counts;
}

}  // namespace contend
