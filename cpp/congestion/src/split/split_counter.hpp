#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "../rounds/channel_rates.hpp"
#include "../rounds/pi_values.hpp"
#include "contend/routes/resolver.hpp"

namespace contend {

/// Counts the messages of one round where they split over ways that no resolver tells one by one,
/// and finds what each of them meets. Its calls come in the order of RoundCounter's.
class SplitCounter {
 public:
  SplitCounter() = default;
  virtual ~SplitCounter() = default;
  SplitCounter(const SplitCounter&) = delete;
  SplitCounter& operator=(const SplitCounter&) = delete;

  virtual void set_rates(const ChannelRates& rates) = 0;
  virtual void count(std::span<const Place> source, std::span<const Place> target) = 0;
  /// Takes over what another has counted; the other is for the same resolver.
  virtual void absorb(const SplitCounter& other) = 0;
  virtual void clear() = 0;

  /// Closes the counting: parts of messages, of which `unit` are one, on every channel between
  /// switches. Returns the most that any has; what does not fit `parts` is cut off there.
  virtual double spread(std::uint32_t unit, std::span<std::uint32_t> parts) = 0;
  /// After spread(): lists the values of pi, and finds what messages meet. `usage` is what loads
  /// all channels, those between switches first, and `largest` the most of it.
  virtual void find_worst(std::span<const std::uint32_t> usage, std::uint32_t largest,
                          std::uint32_t unit, PiValues& values) = 0;
  /// Takes over what another has found, likewise for the same resolver.
  virtual void adopt(const SplitCounter& other) = 0;

  /// The number of every message's pi between switches, at least that of a message by itself.
  virtual void number(std::span<const Place> source, std::span<const Place> target,
                      std::uint32_t itself, std::span<std::uint32_t> pi) const = 0;
  /// Seconds that a byte of every message takes there.
  virtual void time(std::span<const Place> source, std::span<const Place> target,
                    std::span<double> seconds) const = 0;
  /// Whether what messages meet includes the ports of hosts that several share.
  virtual bool knows_ports() const { return false; }
  /// After spread(): by how much messages may get more than was found, as a factor.
  virtual double gap() const { return 1; }
};

/// Null where the resolver tells the ways of all messages. `messages` is about how many a round
/// has.
std::unique_ptr<SplitCounter> make_split_counter(const Resolver& resolver, std::uint64_t messages);

/// What is the same for all that find what messages meet as the worst of some things: bundles,
/// lists, channels or pairs. `Counter` counts in count_, finds worst_ and slowest_ in
/// find(number), by the number of every channel's value, and has for_each_of(source, target,
/// visit), which visits the numbers of those that a message meets.
template <class Counter, class Worst = std::uint32_t>
class WorstCounter : public SplitCounter {
 public:
  void set_rates(const ChannelRates& rates) override {
    seconds_ = rates.seconds_between(0);
    slowest_.resize(worst_.size());
  }
  void absorb(const SplitCounter& other) override {
    const std::vector<std::uint64_t>& more = static_cast<const Counter&>(other).count_;
    for (std::size_t k = 0; k < count_.size(); ++k) count_[k] += more[k];
  }
  void clear() override { std::fill(count_.begin(), count_.end(), std::uint64_t{0}); }
  void find_worst(std::span<const std::uint32_t> usage, std::uint32_t largest, std::uint32_t unit,
                  PiValues& values) override {
    values.number(usage, largest, unit);
    static_cast<Counter&>(*this).find(values.of_channels(usage));
  }
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
  WorstCounter(std::size_t things, std::size_t crossed)
      : count_(things, 0), load_(crossed), worst_(things) {}

  std::vector<std::uint64_t> count_;  ///< by thing
  std::vector<double> load_;          ///< messages, by what they cross
  std::vector<double> seconds_;  ///< that a byte takes there alone; empty where links are alike
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
