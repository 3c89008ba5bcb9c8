#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/pages.hpp"

namespace contend::probe::pingpong {

/// Whom a rank sends its first message to, and whom it gets one from; MPI_PROC_NULL for nobody.
struct Partners {
  int to;
  int from;

  [[nodiscard]] bool any() const;
};

/// Names of the cells that `--pairs` asks for: "0-1" as it is, "all-shifts" as "shift-1",
/// "shift-2", ... up to half of the ranks; beyond, the same pairs come again.
///
/// Throws BadInput for what is no pair of these ranks.
[[nodiscard]] std::vector<std::string> name_pairs(const std::string& text, int ranks);

/// What a rank has to do in a pair "A-B", where A sends first, or in "shift-S", where every rank
/// sends to the one S above it.
[[nodiscard]] Partners partners_in(const std::string& pairs, int rank, int ranks);

/// Messages of one direction between two ranks: what the sender holds, what the receiver gets.
///
/// The bytes follow from the two ranks and the direction, so each side knows what is right.
class Messages {
 public:
  /// `count` messages of `bytes` from one rank to another; `way` tells apart what else they send
  /// each other. Throws std::bad_alloc.
  Messages(int source, int destination, int way, std::size_t bytes, std::size_t count);
  /// A message that is in the memory of `kept`, which lives longer, and says the same: it is sent
  /// on from where it arrived, or comes back to where it was sent from.
  Messages(int source, int destination, int way, Messages& kept);
  Messages(Messages&&) = default;

  /// The sender: all its messages are the same.
  void fill();
  /// The receiver: makes every byte wrong.
  void clear();
  /// The receiver: what is wrong; nothing when all is right.
  [[nodiscard]] std::optional<std::string> verify() const;

  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] int source() const { return source_; }
  [[nodiscard]] int destination() const { return destination_; }
  [[nodiscard]] int way() const { return way_; }
  [[nodiscard]] unsigned char* message(std::size_t number) { return data_ + number * bytes_; }

 private:
  [[nodiscard]] unsigned char expected_byte(std::size_t place) const;
  void repeat_first();

  int source_;
  int destination_;
  int way_;
  std::size_t bytes_;
  std::size_t count_;
  // Its own memory; none where that is another's.
  Pages<unsigned char> own_;
  unsigned char* data_;
  // One message as it has to be.
  std::vector<unsigned char> right_;
};

}  // namespace contend::probe::pingpong
