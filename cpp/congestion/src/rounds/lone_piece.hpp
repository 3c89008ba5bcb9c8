#pragma once

#include <cstddef>
#include <span>

#include "contend/routes/resolver.hpp"

namespace contend {

/// Which messages a round has as long as all of them come in one piece. Where these are few, going
/// through their channels is faster than through all. Borrows them.
class LonePiece {
 public:
  void add(std::span<const Place> source, std::span<const Place> target) {
    const bool first = pieces_++ == 0;
    source_ = first ? source : std::span<const Place>{};
    target_ = first ? target : std::span<const Place>{};
  }
  /// There are other messages, too.
  void add_others() { add({}, {}), add({}, {}); }
  void clear() { *this = {}; }

  /// Whether the channels of these messages, `stride` of each and two of hosts, are visited faster
  /// than all `channels` in a row.
  bool is_few(std::size_t stride, std::size_t channels) const {
    constexpr std::size_t kInARow = 8;
    return !source_.empty() && source_.size() * (stride + 2) * kInARow < channels;
  }

  std::span<const Place> source() const { return source_; }
  std::span<const Place> target() const { return target_; }

 private:
  std::size_t pieces_ = 0;
  std::span<const Place> source_;
  std::span<const Place> target_;
};

}  // namespace contend
