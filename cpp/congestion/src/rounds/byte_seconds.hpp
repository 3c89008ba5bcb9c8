#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "channel_rates.hpp"
#include "contend/routes/resolver.hpp"
#include "fold_usage.hpp"
#include "round_averages.hpp"

namespace contend {

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
    const Load* const sent = usage.data() + between_.size();
    const double most = largest_product(usage.data(), between_.data(), between_.size());
    return std::max({most, largest_product(sent, injection_.data(), places) / unit_,
                     largest_product(sent + places, ejection_.data(), places) / unit_});
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
