#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "../ideal/ideal_rates.hpp"
#include "../rounds/channel_rates.hpp"
#include "../rounds/fold_usage.hpp"
#include "../rounds/pi_values.hpp"
#include "contend/routes/resolver.hpp"
#include "contend/routes/together/ideal_ways.hpp"
#include "split_counter.hpp"

namespace contend {

/// Collects the messages of one round that split as is best for all, and finds what each gets. Its
/// pi is how often it would fit what its ports carry, see IdealRates::slowdown.
class IdealCounter final : public SplitCounter {
 public:
  explicit IdealCounter(const Resolver& resolver) : resolver_(&resolver) {}

  void set_rates(const ChannelRates& rates) override {
    rate_.assign(rates.all().begin(), rates.all().end());
  }
  void count(std::span<const Place> source, std::span<const Place> target) override {
    for (std::size_t m = 0; m < source.size(); ++m) {
      sent_.push_back(key_of_pair(source[m], target[m]));
    }
  }
  void absorb(const SplitCounter& other) override {
    const std::vector<std::uint64_t>& more = static_cast<const IdealCounter&>(other).sent_;
    sent_.insert(sent_.end(), more.begin(), more.end());
  }
  void clear() override { sent_.clear(); }

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
  double spread(std::uint32_t unit, std::span<std::uint32_t> parts) override {
    const std::span<const double> load = solve();
    return round_load(load.data(), unit, parts.data(), load.size());
  }
  /// What messages meet are values of their own.
  void find_worst(std::span<const std::uint32_t>, std::uint32_t, std::uint32_t unit,
                  PiValues& values) override {
    values.list(parts_, unit);
    number_.clear();
    for (const std::uint32_t parts : parts_) number_.push_back(values.number_of(parts));
  }
  void adopt(const SplitCounter& other) override {
    const auto& found = static_cast<const IdealCounter&>(other);
    key_ = found.key_;
    number_ = found.number_;
    seconds_ = found.seconds_;
  }

  void number(std::span<const Place> source, std::span<const Place> target, std::uint32_t,
              std::span<std::uint32_t> pi) const override {
    for (std::size_t m = 0; m < source.size(); ++m) pi[m] = number_[find(source[m], target[m])];
  }
  void time(std::span<const Place> source, std::span<const Place> target,
            std::span<double> seconds_of) const override {
    for (std::size_t m = 0; m < source.size(); ++m) seconds_of[m] = seconds(source[m], target[m]);
  }
  bool knows_ports() const override { return true; }
  double gap() const override { return rates_ ? rates_->gap() : 1; }

  /// Seconds that the byte of a message takes that was counted.
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
