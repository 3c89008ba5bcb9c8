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

/// What channels carry, where they do not all carry the same: bytes per second of the channels
/// between switches, then of injection and ejection by place. Borrowed.
class ChannelRates {
 public:
  /// Throws Error for another number of channels, or a rate that is not above 0.
  ChannelRates(const Resolver& resolver, std::span<const double> rate)
      : rate_(rate), injection_(resolver.switch_channels()), places_(resolver.places()) {
    if (rate.size() != injection_ + 2 * places_) {
      throw Error("a rate for each of " + std::to_string(injection_ + 2 * places_) +
                  " channels, got " + std::to_string(rate.size()));
    }
    const auto usable = [](double value) {
      return value > 0 && value < std::numeric_limits<double>::infinity();
    };
    if (!std::all_of(rate.begin(), rate.end(), usable)) throw Error("rates above 0");
  }

  double operator[](std::size_t channel) const { return rate_[channel]; }
  double injection(Place source) const { return rate_[injection_ + source]; }
  double ejection(Place target) const { return rate_[injection_ + places_ + target]; }
  /// What the slower of two hosts' ports carries: all that a message can get.
  double port(Place source, Place target) const {
    return std::min(injection(source), ejection(target));
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

}  // namespace contend
