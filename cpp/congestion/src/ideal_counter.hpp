#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "channel_rates.hpp"
#include "contend/routes/ideal_ways.hpp"
#include "contend/routes/resolver.hpp"
#include "ideal_rates.hpp"
#include "pi_values.hpp"

namespace contend {

/// Collects the messages of one round that split as is best for all, and finds what each gets. Its
/// pi is how often it would fit what its ports carry, see IdealRates::slowdown.
class IdealCounter {
 public:
  explicit IdealCounter(const Resolver& resolver) : resolver_(&resolver) {}

  void set_rates(const ChannelRates& rates) {
    rate_.assign(rates.all().begin(), rates.all().end());
  }
  void count(std::span<const Place> source, std::span<const Place> target) {
    for (std::size_t m = 0; m < source.size(); ++m)
      sent_.push_back(key_of_pair(source[m], target[m]));
  }
  void absorb(const IdealCounter& other) {
    sent_.insert(sent_.end(), other.sent_.begin(), other.sent_.end());
  }
  void clear() { sent_.clear(); }

  /// Closes the counting. Messages on every channel between switches.
  std::span<const double> solve() {
    list_pairs();
    if (!rates_) rates_ = std::make_unique<IdealRates>(*resolver_, rate_);
    rates_->solve(pairs_);
    parts_.clear();
    seconds_.clear();
    for (std::size_t pair = 0; pair < pairs_.size(); ++pair) {
      parts_.push_back(static_cast<std::uint32_t>(
          std::lround(rates_->slowdown(pairs_, pair) * resolver_->unit())));
      seconds_.push_back(1 / rates_->rates()[pair]);
    }
    return rates_->load();
  }
  /// Lists the values of pi, and numbers those of the messages.
  void number(PiValues& values) {
    values.list(parts_, resolver_->unit());
    number_.clear();
    for (const std::uint32_t parts : parts_) number_.push_back(values.number_of(parts));
  }
  /// Takes over what another has found.
  void adopt(const IdealCounter& other) {
    key_ = other.key_;
    number_ = other.number_;
    seconds_ = other.seconds_;
  }

  /// The number of the value of pi of a message that was counted.
  std::uint32_t number_of(Place source, Place target) const {
    return number_[find(source, target)];
  }
  /// Seconds that its byte takes.
  double seconds(Place source, Place target) const { return seconds_[find(source, target)]; }

 private:
  std::size_t find(Place source, Place target) const {
    const auto found = std::lower_bound(key_.begin(), key_.end(), key_of_pair(source, target));
    return static_cast<std::size_t>(found - key_.begin());
  }
  /// The order in which they were counted does not matter: rates do not depend on it.
  void list_pairs() {
    pairs_ = distinct_pairs(sent_);
    key_.clear();
    for (std::size_t pair = 0; pair < pairs_.size(); ++pair) {
      key_.push_back(key_of_pair(pairs_.source[pair], pairs_.target[pair]));
    }
  }

  const Resolver* resolver_;
  std::vector<double> rate_;
  std::unique_ptr<IdealRates> rates_;
  std::vector<std::uint64_t> sent_;
  std::vector<std::uint64_t> key_;  ///< of every pair, ascending
  PairsOfPlaces pairs_;
  std::vector<std::uint32_t> parts_;   ///< of a message, that its pi is
  std::vector<std::uint32_t> number_;  ///< of its value
  std::vector<double> seconds_;
};

}  // namespace contend
