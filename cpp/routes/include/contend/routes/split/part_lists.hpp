#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace contend {

/// What messages that split put on channels, in lists which many of them share: what a message puts
/// on its first hop, between the first and the last, and on the last. Its parts are those of its
/// three lists together. Counting how many messages have each list, and then going through every
/// list once, takes far less than following the messages.
///
/// Channels that get the same part of every message are one cell.
class PartLists {
 public:
  using OfMessage = std::array<std::uint32_t, 3>;

  /// The lists of a message, by target's class and source's leaf: `number` as in Ways. List 0 is
  /// empty.
  const OfMessage& of_pair(std::size_t number) const { return of_pair_[number]; }
  std::size_t lists() const { return first_.size() - 1; }
  std::span<const std::uint32_t> cells_of(std::size_t list) const {
    return {cell_.data() + first_[list], first_[list + 1] - first_[list]};
  }
  /// The part of a message on each channel of the cell, by cell as above.
  std::span<const double> parts_of(std::size_t list) const {
    return {part_.data() + first_[list], first_[list + 1] - first_[list]};
  }
  /// The cell of every channel between switches; 0 of those that no message crosses.
  const std::vector<std::uint32_t>& cell_of_channel() const { return cell_of_channel_; }
  /// Cells, that without messages among them.
  std::size_t cells() const { return cells_; }

 private:
  friend class PartListsMaker;

  std::vector<OfMessage> of_pair_;
  std::vector<std::uint32_t> first_{0, 0};
  std::vector<std::uint32_t> cell_;
  std::vector<double> part_;
  std::vector<std::uint32_t> cell_of_channel_;
  std::size_t cells_ = 1;
};

}  // namespace contend
