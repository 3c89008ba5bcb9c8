#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "contend/pattern/pattern.hpp"

namespace contend::test {

using Pairs = std::vector<std::pair<Rank, Rank>>;

/// All messages of a round, (source, target) in the order of the pattern.
inline Pairs round_of(const Pattern& pattern, std::uint32_t round, std::uint64_t sample = 0,
                      std::uint64_t seed = 1) {
  RandomChoices choices({seed, sample, 1 + round});
  Messages piece;
  Pairs all;
  for (std::uint32_t p = 0; p < pattern.pieces(round); ++p) {
    pattern.fill(round, p, choices, piece);
    for (std::size_t m = 0; m < piece.size(); ++m) {
      all.emplace_back(piece.source[m], piece.target[m]);
    }
  }
  return all;
}

/// The one round of outcome `number` of an enumerable pattern.
inline Pairs outcome_of(const Pattern& pattern, std::uint64_t number) {
  EnumeratedChoices choices(number);
  Messages piece;
  pattern.fill(0, 0, choices, piece);
  Pairs all;
  for (std::size_t m = 0; m < piece.size(); ++m) all.emplace_back(piece.source[m], piece.target[m]);
  return all;
}

inline Pairs sorted(Pairs pairs) {
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

/// Whether some rank sends, or receives, more than one of the messages.
inline bool shares_an_end(const Pairs& pairs, Rank ranks) {
  std::vector<int> sent(ranks, 0);
  std::vector<int> received(ranks, 0);
  for (const auto& [from, to] : pairs) {
    if (++sent.at(from) > 1 || ++received.at(to) > 1) return true;
  }
  return false;
}

}  // namespace contend::test
