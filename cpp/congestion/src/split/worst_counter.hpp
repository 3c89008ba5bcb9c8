#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "split_counter.hpp"

namespace contend {

/// What is the same for all that find what messages meet as the worst of some things: bundles,
/// lists, channels or pairs. `Counter` has for_each_of(source, target, visit), which visits the
/// numbers of those that a message meets.
template <class Counter, class Worst = std::uint32_t>
class WorstCounter : public SplitCounter {
 public:
  void adopt(const SplitCounter& other) override {
    const auto& found = static_cast<const Counter&>(other);
    worst_ = found.worst_;
    slowest_ = found.slowest_;
  }
  void number(std::span<const Place> source, std::span<const Place> target, std::uint32_t itself,
              std::span<std::uint32_t> pi) const override {
    for (std::size_t m = 0; m < source.size(); ++m) {
      pi[m] = most(worst_, source[m], target[m], itself);
    }
  }
  void time(std::span<const Place> source, std::span<const Place> target,
            std::span<double> seconds) const override {
    for (std::size_t m = 0; m < source.size(); ++m) {
      seconds[m] = most(slowest_, source[m], target[m], 0.0);
    }
  }

 protected:
  std::vector<Worst> worst_;     ///< number of pi, by thing
  std::vector<double> slowest_;  ///< seconds of a byte; empty where links are alike

 private:
  template <class Value, class Most>
  Most most(const std::vector<Value>& of, Place source, Place target, Most least) const {
    static_cast<const Counter&>(*this).for_each_of(source, target, [&](std::size_t thing) {
      least = std::max(least, static_cast<Most>(of[thing]));
    });
    return least;
  }
};

}  // namespace contend
