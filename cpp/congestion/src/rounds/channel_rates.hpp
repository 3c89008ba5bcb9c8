#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "contend/base/error.hpp"
#include "contend/routes/resolver.hpp"
#include "fold_usage.hpp"
#include "round_averages.hpp"

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

/// How long a byte takes on channels that differ in rate, by what these carry in one round.
/// Channels stand in a RoundCounter's order: those between switches with padding, injection,
/// ejection.
class ByteSeconds {
 public:
  /// Copies what it needs of the rates. Loads come in parts, of which `unit` are a message.
  ByteSeconds(const ChannelRates& rates, std::size_t places, std::uint32_t unit)
      : unit_(unit), between_(rates.seconds_between(kPads)) {
    for (double& each : between_) each /= unit_;
    for (Place place = 0; place < places; ++place) {
      injection_.push_back(1 / rates.injection(place));
      ejection_.push_back(1 / rates.ejection(place));
    }
  }

  /// Of a part of a message, by channel between switches; 0 for padding.
  const double* between() const { return between_.data(); }

  /// The most on any channel. Loads of hosts' channels may be left out.
  template <class Load>
  double most(std::span<const Load> usage) const {
    const std::size_t places = usage.size() > between_.size() ? injection_.size() : 0;
    const double most = largest_product(usage.data(), between_.data(), between_.size());
    return places == 0 ? most : std::max(most, most_on_ports(usage));
  }

  /// The most on any channel of a host, whose loads are there.
  template <class Load>
  double most_on_ports(std::span<const Load> usage) const {
    const std::size_t places = injection_.size();
    const Load* const sent = usage.data() + between_.size();
    return std::max(largest_product(sent, injection_.data(), places),
                    largest_product(sent + places, ejection_.data(), places)) /
           unit_;
  }

  /// What messages get, where `beside(m, alone)` says how long a byte of message m takes between
  /// switches, beside the others, if its ports need so long for it alone. `sent` are
  /// the loads of injection, those of ejection behind; null where no port limits by itself.
  /// `each(m, messages, share, bytes_per_second)` is told what every message gets.
  template <class Load, class Beside, class Each>
  RoundShares weigh(std::span<const Place> source, std::span<const Place> target,
                    std::span<const std::uint64_t> weight, const Load* sent, const Beside& beside,
                    const Each& each) const {
    RoundShares sum;
    const double part = 1.0 / unit_;
    const std::size_t places = injection_.size();
    for (std::size_t m = 0; m < source.size(); ++m) {
      const double in = injection_[source[m]];
      const double out = ejection_[target[m]];
      // Alone between the two ports, and beside the others.
      const double alone = std::max(in, out);
      double seconds = beside(m, alone);
      if (sent != nullptr) {
        const Load* const received = sent + places;
        seconds =
            std::max({seconds, sent[source[m]] * part * in, received[target[m]] * part * out});
      }
      const double messages = weight.empty() ? 1 : static_cast<double>(weight[m]);
      sum.weight += messages;
      sum.share += messages * (alone / seconds);
      sum.slowdown += messages * (seconds / alone);
      sum.largest = std::max(sum.largest, seconds / alone);
      sum.bytes_per_second += messages / seconds;
      sum.seconds += messages * seconds;
      sum.slowest = std::max(sum.slowest, seconds);
      sum.ports = std::max(sum.ports, alone);
      each(m, messages, alone / seconds, 1 / seconds);
    }
    return sum;
  }

 private:
  std::uint32_t unit_;
  std::vector<double> between_;
  std::vector<double> injection_;  ///< by place, of a whole message, as ejection_
  std::vector<double> ejection_;
};

}  // namespace contend
