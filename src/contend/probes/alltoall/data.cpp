#include "alltoall/data.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "alltoall/pair.hpp"

namespace contend::probe::alltoall {

namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);
constexpr std::byte kGuard{0xa5};
// An odd number with no pattern in its bits: its multiples differ in all bytes.
constexpr std::uint64_t kStep = 0xd1342543de82ef95;

// A block's bytes, eight at a time.
class Words {
 public:
  Words(int source, int destination) : state_(pair_bits(source, destination, Use::data)) {}

  std::uint64_t next() {
    state_ += kStep;
    return state_ ^ (state_ >> 32);
  }

 private:
  std::uint64_t state_;
};

void write_block(std::byte* block, std::size_t bytes, Words words, std::uint64_t flipped) {
  for (std::size_t at = 0; at < bytes; at += kWord) {
    const std::uint64_t word = words.next() ^ flipped;
    std::memcpy(block + at, &word, std::min(kWord, bytes - at));
  }
}

std::size_t first_difference(const std::byte* block, const std::uint64_t& word, std::size_t bytes) {
  const auto* expected = reinterpret_cast<const std::byte*>(&word);
  return static_cast<std::size_t>(std::mismatch(block, block + bytes, expected).first - block);
}

}  // namespace

void fill_block(std::byte* block, std::size_t bytes, int source, int destination) {
  write_block(block, bytes, Words(source, destination), 0);
}

void poison_block(std::byte* block, std::size_t bytes, int source, int destination) {
  write_block(block, bytes, Words(source, destination), ~std::uint64_t{0});
}

std::optional<std::size_t> first_wrong(const std::byte* block, std::size_t bytes, int source,
                                       int destination) {
  Words words(source, destination);
  for (std::size_t at = 0; at < bytes; at += kWord) {
    const std::uint64_t word = words.next();
    const std::size_t length = std::min(kWord, bytes - at);
    if (std::memcmp(block + at, &word, length) != 0) {
      return at + first_difference(block + at, word, length);
    }
  }
  return std::nullopt;
}

void fill_guard(std::byte* guard, std::size_t bytes) { std::fill_n(guard, bytes, kGuard); }

std::optional<std::size_t> first_touched(const std::byte* guard, std::size_t bytes) {
  const auto* end = guard + bytes;
  const auto* found = std::find_if(guard, end, [](std::byte value) { return value != kGuard; });
  if (found == end) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(found - guard);
}

}  // namespace contend::probe::alltoall
