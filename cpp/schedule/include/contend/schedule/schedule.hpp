#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace contend {

/// What a rank does next. What it sends and receives goes on by itself until it is waited for.
enum class Action : std::uint8_t {
  compute,   ///< keeps its processor busy for `amount` seconds
  send,      ///< begins a message of `amount` bytes to strand `peer`
  receive,   ///< is ready for a message from strand `peer`
  wait,      ///< until the send or receive that is the strand's operation number `amount` has ended
  wait_for,  ///< until `amount` of the sends and receives that the strand has begun have ended
  wait_all,  ///< until all of them have
  elapse     ///< lets `amount` seconds pass, as recorded, whoever has the processors
};
inline constexpr std::uint8_t kActions = 7;

/// What every rank does, in order. A rank that does several things side by side, each in an order
/// of its own, has several strands; they share its processor. Messages are between strands: those
/// of one tag between two strands are received in the order in which they are sent.
struct Schedule {
  std::span<const std::uint32_t> rank_of_strand;
  std::span<const std::uint64_t> begin;  ///< first operation of each strand, and the end
  std::span<const std::uint8_t> action;
  std::span<const std::uint32_t> peer;
  std::span<const std::int32_t> tag;
  std::span<const double> amount;

  std::size_t strands() const { return rank_of_strand.size(); }
  std::size_t operations() const { return action.size(); }
};

/// A send and the receive that gets it.
struct Match {
  std::uint32_t source;  ///< strand
  std::uint32_t target;  ///< strand
  std::uint64_t send;    ///< operation
  std::uint64_t receive;
};

/// All messages of a schedule. Throws Error, naming rank and operation, for operations that make no
/// sense: of no kind, to no strand, less than nothing, waits for what has not begun, and sends or
/// receives that nobody answers. Cost: O(n log n) for n operations.
std::vector<Match> match(const Schedule& schedule);

/// "rank 3, operation 17", counted within its strand.
std::string name_operation(const Schedule& schedule, std::uint64_t operation);

}  // namespace contend
