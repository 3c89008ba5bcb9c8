#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "contend/routes/resolver.hpp"

namespace contend {

/// Throws Error when a place does not exist, or there are not as many targets as sources.
void check_messages(const Resolver& resolver, std::span<const Place> source,
                    std::span<const Place> target);

/// The channels that messages cross, host channels included: channels between switches, then
/// injection and ejection by place. A message from a place to itself crosses none; or, where asked
/// for, the place's memory: a channel of its own, by place behind all others.
class Crossings {
 public:
  /// Throws Error as check_messages(). `draw` is which drawing of routes the messages take; see
  /// Resolver::resolve_drawn.
  Crossings(const Resolver& resolver, std::span<const Place> source, std::span<const Place> target,
            bool with_memory = false, std::uint64_t draw = 0);

  std::size_t messages() const { return begin_.size() - 1; }
  /// Number of channels, used or not.
  std::size_t channels() const { return channels_; }
  /// In the order in which it crosses them.
  std::span<const std::uint32_t> of_message(std::size_t message) const {
    return {channel_.data() + begin_[message], begin_[message + 1] - begin_[message]};
  }

 private:
  std::size_t channels_;
  std::vector<std::size_t> begin_;
  std::vector<std::uint32_t> channel_;
};

}  // namespace contend
