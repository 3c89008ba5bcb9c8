#include "contend/congestion/ideal_rounds.hpp"

#include <algorithm>

#include "../rounds/channel_rates.hpp"
#include "contend/base/error.hpp"
#include "ideal_rates.hpp"

namespace contend {

IdealRounds::IdealRounds(const Resolver& resolver, std::span<const double> rate)
    : places_(resolver.places()) {
  if (resolver.ideal_ways() == nullptr) throw Error("routes that split as is best for all");
  rates_ = std::make_unique<IdealRates>(resolver, ChannelRates(resolver, rate).all());
}

IdealRounds::~IdealRounds() = default;

std::span<const double> IdealRounds::load() const { return rates_->load(); }

IdealRound IdealRounds::solve(std::span<const Place> source, std::span<const Place> target,
                              bool parts) {
  if (source.size() != target.size()) throw Error("as many targets as sources");
  std::vector<std::uint64_t> sent;
  for (std::size_t m = 0; m < source.size(); ++m) {
    if (source[m] == target[m] || std::max(source[m], target[m]) >= places_) {
      throw Error("two different places that take part");
    }
    sent.push_back(key_of_pair(source[m], target[m]));
  }
  const PairsOfPlaces pairs = distinct_pairs(sent);
  rates_->solve(pairs);
  std::vector<std::uint64_t> key;
  for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
    key.push_back(key_of_pair(pairs.source[pair], pairs.target[pair]));
  }
  IdealRound round;
  for (std::size_t m = 0; m < source.size(); ++m) {
    const auto found = std::ranges::lower_bound(key, key_of_pair(source[m], target[m]));
    const auto pair = static_cast<std::size_t>(found - key.begin());
    round.share.push_back(1 / rates_->slowdown(pairs, pair));
    if (parts) round.parts.push_back(rates_->parts_of(pair));
  }
  return round;
}

}  // namespace contend
