#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "contend/congestion/simulate.hpp"

namespace contend::test {

/// What a batch holds for each of its samples, and what it sums over them.
inline constexpr std::array kOfSamples = {&BatchResult::bandwidth,
                                          &BatchResult::mean_congestion,
                                          &BatchResult::max_congestion,
                                          &BatchResult::port_congestion,
                                          &BatchResult::share,
                                          &BatchResult::mean_slowdown,
                                          &BatchResult::max_slowdown,
                                          &BatchResult::bytes_per_second,
                                          &BatchResult::mean_seconds_per_byte,
                                          &BatchResult::max_seconds_per_byte,
                                          &BatchResult::port_seconds_per_byte,
                                          &BatchResult::pair_bandwidth,
                                          &BatchResult::pair_bytes_per_second};
inline constexpr std::array kSums = {&BatchResult::round_mean_congestion,
                                     &BatchResult::round_max_congestion,
                                     &BatchResult::round_samples,
                                     &BatchResult::round_max_time,
                                     &BatchResult::histogram,
                                     &BatchResult::channel_messages};

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
  for (const auto figure : kOfSamples) near(found.*figure, expected.*figure);
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
  for (const auto figure : kOfSamples) CHECK(one.*figure == other.*figure);
  for (const auto sums : kSums) CHECK(one.*sums == other.*sums);
}

/// Appends the batch that follows.
inline void add(BatchResult& sum, const BatchResult& next) {
  for (const auto figure : kOfSamples) {
    (sum.*figure).insert((sum.*figure).end(), (next.*figure).begin(), (next.*figure).end());
  }
  for (const auto sums : kSums) {
    (sum.*sums).resize(std::max((sum.*sums).size(), (next.*sums).size()), 0);
    for (std::size_t i = 0; i < (next.*sums).size(); ++i) (sum.*sums)[i] += (next.*sums)[i];
  }
}

}  // namespace contend::test
