#pragma once

#include <doctest/doctest.h>

#include <vector>

#include "contend/congestion/simulate.hpp"

namespace contend::test {

/// The same figures but for the rounding of sums taken in another order, and for host channels,
/// which are zeros where nobody shares them.
inline void check_same(const BatchResult& found, const BatchResult& expected,
                       std::size_t switch_channels) {
  const auto near = [](const std::vector<double>& some, const std::vector<double>& others) {
    REQUIRE(some.size() == others.size());
    for (std::size_t i = 0; i < some.size(); ++i) {
      CHECK(some[i] == doctest::Approx(others[i]).epsilon(1e-12));
    }
  };
  near(found.bandwidth, expected.bandwidth);
  near(found.mean_congestion, expected.mean_congestion);
  near(found.max_congestion, expected.max_congestion);
  near(found.port_congestion, expected.port_congestion);
  near(found.share, expected.share);
  near(found.mean_slowdown, expected.mean_slowdown);
  near(found.max_slowdown, expected.max_slowdown);
  near(found.bytes_per_second, expected.bytes_per_second);
  near(found.mean_seconds_per_byte, expected.mean_seconds_per_byte);
  near(found.max_seconds_per_byte, expected.max_seconds_per_byte);
  near(found.port_seconds_per_byte, expected.port_seconds_per_byte);
  near(found.pair_bandwidth, expected.pair_bandwidth);
  near(found.pair_bytes_per_second, expected.pair_bytes_per_second);
  CHECK(found.round_max_congestion == expected.round_max_congestion);
  CHECK(found.round_samples == expected.round_samples);
  REQUIRE(found.round_max_time.size() == expected.round_max_time.size());
  for (std::size_t round = 0; round < found.round_max_time.size(); ++round) {
    const auto units = static_cast<double>(found.round_max_time[round]);
    CHECK(units == doctest::Approx(static_cast<double>(expected.round_max_time[round])));
  }
  REQUIRE(found.round_mean_congestion.size() == expected.round_mean_congestion.size());
  for (std::size_t round = 0; round < found.round_mean_congestion.size(); ++round) {
    const auto units = static_cast<double>(found.round_mean_congestion[round]);
    const auto others = static_cast<double>(expected.round_mean_congestion[round]);
    CHECK(units == doctest::Approx(others).epsilon(1e-5));
  }
  std::vector<std::uint64_t> histogram = found.histogram;
  while (histogram.size() > expected.histogram.size() && histogram.back() == 0) {
    histogram.pop_back();
  }
  CHECK(histogram == expected.histogram);
  REQUIRE(found.channel_messages.size() == expected.channel_messages.size());
  std::uint64_t at_hosts = 0;
  for (std::size_t c = 0; c < found.channel_messages.size(); ++c) {
    if (c < switch_channels) {
      CHECK(found.channel_messages[c] == expected.channel_messages[c]);
    } else {
      at_hosts += found.channel_messages[c];
    }
  }
  if (at_hosts > 0) CHECK(found.channel_messages == expected.channel_messages);
}

/// The same to the last bit.
inline void check_identical(const BatchResult& one, const BatchResult& other) {
  CHECK(one.bandwidth == other.bandwidth);
  CHECK(one.mean_congestion == other.mean_congestion);
  CHECK(one.max_congestion == other.max_congestion);
  CHECK(one.port_congestion == other.port_congestion);
  CHECK(one.share == other.share);
  CHECK(one.mean_slowdown == other.mean_slowdown);
  CHECK(one.max_slowdown == other.max_slowdown);
  CHECK(one.bytes_per_second == other.bytes_per_second);
  CHECK(one.mean_seconds_per_byte == other.mean_seconds_per_byte);
  CHECK(one.max_seconds_per_byte == other.max_seconds_per_byte);
  CHECK(one.port_seconds_per_byte == other.port_seconds_per_byte);
  CHECK(one.pair_bandwidth == other.pair_bandwidth);
  CHECK(one.pair_bytes_per_second == other.pair_bytes_per_second);
  CHECK(one.round_mean_congestion == other.round_mean_congestion);
  CHECK(one.round_max_congestion == other.round_max_congestion);
  CHECK(one.round_samples == other.round_samples);
  CHECK(one.round_max_time == other.round_max_time);
  CHECK(one.histogram == other.histogram);
  CHECK(one.channel_messages == other.channel_messages);
}

/// Appends the batch that follows.
inline void add(BatchResult& sum, const BatchResult& next) {
  const auto append = [](std::vector<double>& to, const std::vector<double>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  append(sum.bandwidth, next.bandwidth);
  append(sum.mean_congestion, next.mean_congestion);
  append(sum.max_congestion, next.max_congestion);
  append(sum.port_congestion, next.port_congestion);
  append(sum.pair_bandwidth, next.pair_bandwidth);
  const auto plus = [](std::vector<std::uint64_t>& to, const std::vector<std::uint64_t>& from) {
    to.resize(std::max(to.size(), from.size()), 0);
    for (std::size_t i = 0; i < from.size(); ++i) to[i] += from[i];
  };
  plus(sum.round_mean_congestion, next.round_mean_congestion);
  plus(sum.round_max_congestion, next.round_max_congestion);
  plus(sum.round_samples, next.round_samples);
  plus(sum.round_max_time, next.round_max_time);
  plus(sum.histogram, next.histogram);
  plus(sum.channel_messages, next.channel_messages);
}

}  // namespace contend::test
