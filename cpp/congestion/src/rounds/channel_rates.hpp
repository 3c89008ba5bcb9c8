#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "contend/base/error.hpp"
#include "contend/routes/resolver.hpp"

namespace contend {

/// The rates that were given; 1 for each of so many channels where none were.
inline std::vector<double> rates_or_ones(std::span<const double> rate, std::size_t channels) {
  if (rate.empty()) return std::vector<double>(channels, 1.0);
  return {rate.begin(), rate.end()};
}

/// What channels carry, where they do not all carry the same: bytes per second of the channels
/// between switches, then of injection and ejection by place. Borrowed.
class ChannelRates {
 public:
  /// Throws Error for another number of channels, or a rate that is not above 0.
  ChannelRates(const Resolver& resolver, std::span<const double> rate)
      : ChannelRates(resolver.switch_channels(), resolver.places(), rate) {}

  /// The same of so many channels between switches, and places.
  ChannelRates(std::size_t between, std::size_t places, std::span<const double> rate)
      : rate_(rate), injection_(between), places_(places) {
    if (rate.size() != injection_ + 2 * places_) {
      throw Error("a rate for each of " + std::to_string(injection_ + 2 * places_) +
                  " channels, got " + std::to_string(rate.size()));
    }
    const auto usable = [](double value) {
      return value > 0 && value < std::numeric_limits<double>::infinity();
    };
    if (!std::all_of(rate.begin(), rate.end(), usable)) throw Error("rates above 0");
  }

  std::span<const double> all() const { return rate_; }
  double operator[](std::size_t channel) const { return rate_[channel]; }
  double injection(Place source) const { return rate_[injection_ + source]; }
  double ejection(Place target) const { return rate_[injection_ + places_ + target]; }
  /// What the slower of two hosts' ports carries: all that a message can get.
  double port(Place source, Place target) const {
    return std::min(injection(source), ejection(target));
  }
  /// Seconds that a byte takes there.
  double alone(Place source, Place target) const {
    return std::max(1 / injection(source), 1 / ejection(target));
  }
  /// Seconds that a byte takes on every channel between switches, and none on padding behind them.
  std::vector<double> seconds_between(std::size_t padding) const {
    std::vector<double> seconds;
    seconds.reserve(injection_ + padding);
    for (const double rate : rate_.first(injection_)) seconds.push_back(1 / rate);
    seconds.resize(injection_ + padding, 0);
    return seconds;
  }
  /// What the fastest of all hosts' ports carries; 0 without any.
  double fastest_port() const {
    const auto ports = rate_.subspan(injection_);
    return ports.empty() ? 0 : *std::max_element(ports.begin(), ports.end());
  }

 private:
  std::span<const double> rate_;
  std::size_t injection_;
  std::size_t places_;
};

/// The model of rate over load: seconds that a byte takes beside other messages on a route, the
/// most, over its channels, of load times what a byte takes there; at least `alone`, which ports
/// need. What a message gets of the slower port is alone over that: the least, over its channels,
/// of rate over load. `load(k)` is that of the route's k-th channel, `seconds` what a byte takes by
/// channel.
template <class Id, class Load>
inline double seconds_beside(const Id* route, std::size_t length, const double* seconds,
                             double alone, Load load) {
  for (std::size_t k = 0; k < length; ++k) {
    alone = std::max(alone, static_cast<double>(load(k)) * seconds[route[k]]);
  }
  return alone;
}

}  // namespace contend
