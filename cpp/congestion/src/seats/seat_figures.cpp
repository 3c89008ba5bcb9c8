#include <algorithm>
#include <cmath>
#include <vector>

#include "contend/base/error.hpp"
#include "contend/base/interruption.hpp"
#include "contend/congestion/seats.hpp"
#include "message_parts.hpp"
#include "rank_messages.hpp"

namespace contend {

namespace {

// Beyond rounding in sums of so many terms.
constexpr double kSame = 1e-9;

}  // namespace

bool SeatFigures::better_than(const SeatFigures& other) const {
  const auto compare = [](double a, double b) {
    return std::abs(a - b) <= kSame * std::max(a, b) ? 0 : a < b ? -1 : 1;
  };
  for (const int order :
       {compare(seconds, other.seconds), compare(mean_congestion, other.mean_congestion),
        compare(hop_bytes, other.hop_bytes)}) {
    if (order != 0) return order < 0;
  }
  return false;
}

SeatFigures judge_seats(const Resolver& resolver, const PhasedTraffic& traffic,
                        std::span<const double> seconds_per_byte, std::span<const Place> seats) {
  const RankMessages messages(traffic);
  if (seats.size() != traffic.ranks) throw Error("a place for every rank");
  const std::size_t channels = resolver.switch_channels() + 2 * resolver.places();
  if (seconds_per_byte.size() != channels) throw Error("seconds for every channel");
  std::vector<std::vector<std::uint32_t>> of_phase(traffic.phases);
  for (std::size_t m = 0; m < traffic.source.size(); ++m) {
    of_phase[traffic.phase[m]].push_back(static_cast<std::uint32_t>(m));
  }
  SeatFigures figures;
  double weighted = 0, sent = 0;
  std::vector<Place> source, target;
  std::vector<double> bytes;
  std::vector<double> load(channels);
  const std::size_t between = resolver.switch_channels();
  std::vector<double> count(channels);
  MessageParts parts(resolver);
  for (const std::vector<std::uint32_t>& phase : of_phase) {
    check_interruption();
    source.clear();
    target.clear();
    bytes.clear();
    for (const std::uint32_t m : phase) {
      const Place from = seats[traffic.source[m]], to = seats[traffic.target[m]];
      if (std::max(from, to) >= resolver.places()) throw Error("places that take part");
      if (from == to) continue;
      source.push_back(from);
      target.push_back(to);
      bytes.push_back(traffic.bytes[m]);
    }
    parts.look_up(source, target);
    const auto for_each = [&](std::size_t n, const auto& visit) {
      visit(static_cast<ChannelId>(between + source[n]), 1.0);
      parts.for_each(n, visit);
      visit(static_cast<ChannelId>(between + resolver.places() + target[n]), 1.0);
    };
    std::ranges::fill(load, 0.0);
    std::ranges::fill(count, 0.0);
    for (std::size_t n = 0; n < bytes.size(); ++n) {
      for_each(n, [&](ChannelId channel, double part) {
        load[channel] += part * bytes[n];
        count[channel] += part;
      });
    }
    double longest = 0;
    for (std::size_t c = 0; c < channels; ++c) {
      longest = std::max(longest, load[c] * seconds_per_byte[c]);
    }
    figures.seconds += longest;
    for (std::size_t n = 0; n < bytes.size(); ++n) {
      double most = 0, hops = 0;
      for_each(n, [&](ChannelId channel, double part) {
        most = std::max(most, count[channel]);
        hops += part;
      });
      weighted += bytes[n] * most;
      sent += bytes[n];
      figures.hop_bytes += bytes[n] * hops;
    }
  }
  if (sent > 0) figures.mean_congestion = weighted / sent;
  return figures;
}

}  // namespace contend
