#include "alltoall/blocks.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <numeric>
#include <utility>

#include "alltoall/cells.hpp"
#include "alltoall/messages.hpp"
#include "common/operation.hpp"
#include "common/pages.hpp"
#include "common/ranks.hpp"
#include "compat/large_count.hpp"

namespace contend::probe::alltoall {

Counts::Counts(Kind kind, std::size_t bytes, int ranks) : kind_(kind), bytes_(bytes) {
  const std::size_t most = 2 * bytes * static_cast<std::size_t>(ranks);
  while (kind == Kind::uneven && most / unit_ > kLargestCount) {
    unit_ *= 2;
  }
}

Counts::Counts(int rank, std::vector<std::size_t> to, std::vector<std::size_t> from)
    : kind_(Kind::own),
      bytes_(std::accumulate(to.begin(), to.end(), std::size_t{0}) / to.size()),
      rank_(rank),
      to_(std::move(to)),
      from_(std::move(from)) {}

std::size_t Counts::of(int source, int destination) const {
  if (kind_ == Kind::even) {
    return bytes_;
  }
  if (kind_ == Kind::own) {
    if (source != rank_ && destination != rank_) {
      fail("a schedule asked what two other ranks exchange, which this rank does not know");
    }
    return source == rank_ ? to_[static_cast<std::size_t>(destination)]
                           : from_[static_cast<std::size_t>(source)];
  }
  const std::size_t most = 2 * bytes_ / unit_;
  const std::uint64_t drawn = pair_bits(source, destination, Use::count);
  switch (drawn % 8) {
    case 0:
      return 0;
    case 1:
      return most * unit_;
    default:
      return static_cast<std::size_t>((drawn >> 3) % (most + 1)) * unit_;
  }
}

Blocks::Blocks(MPI_Comm comm, const Counts& counts)
    : comm_(comm), rank_(rank_in(comm)), ranks_(size_of(comm)), counts_(counts) {
  send_begin_.push_back(0);
  receive_begin_.push_back(0);
  for (int other = 0; other < ranks_; ++other) {
    send_begin_.push_back(send_begin_.back() + counts.of(rank_, other));
    receive_begin_.push_back(receive_begin_.back() + counts.of(other, rank_));
  }
}

void Blocks::place(std::byte* send, std::byte* receive) {
  send_ = send;
  receive_ = receive;
}

Outgoing Blocks::to(int destination) const {
  const auto index = static_cast<std::size_t>(destination);
  return {send_ + send_begin_[index], send_begin_[index + 1] - send_begin_[index]};
}

Incoming Blocks::from(int source) const {
  const auto index = static_cast<std::size_t>(source);
  return {receive_ + receive_begin_[index], receive_begin_[index + 1] - receive_begin_[index]};
}

void Blocks::copy_own() const {
  if (const Outgoing own = to(rank_); own.bytes != 0) {
    std::memcpy(from(rank_).data, own.data, own.bytes);
  }
}

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

void Buffers::plan(const Counts& counts) { planned_.push_back(counts); }

Buffers::Memory Buffers::take(std::size_t bytes) {
  const std::size_t whole_pages = (bytes + kGuardBytes + kPage - 1) / kPage * kPage;
  Memory memory(static_cast<std::byte*>(std::aligned_alloc(kPage, whole_pages)));
  if (memory) {
    std::memset(memory.get(), 0, whole_pages);
  }
  return memory;
}

void Buffers::make(MPI_Comm comm) {
  std::sort(planned_.begin(), planned_.end(),
            [](const Counts& a, const Counts& b) { return a.bytes() < b.bytes(); });
  // What this rank needs for a cell and all smaller ones.
  std::vector<Needs> needs{{0, 0}};
  for (const Counts& counts : planned_) {
    const Blocks blocks(comm, counts);
    needs.push_back({std::max(needs.back().send, blocks.sent_bytes()),
                     std::max(needs.back().receive, blocks.received_bytes())});
  }
  for (; !needs.empty(); needs.pop_back()) {
    send_ = take(needs.back().send);
    receive_ = take(needs.back().receive);
    held_ = needs.back();
    try {
      agree(send_ && receive_, comm);
      return;
    } catch (const std::bad_alloc&) {
      send_.reset();
      receive_.reset();
    }
  }
  held_ = {0, 0};
}

void Buffers::hold(Blocks& blocks) {
  if (!made_) {
    make(blocks.comm());
    made_ = true;
  }
  agree(send_ && receive_ && blocks.sent_bytes() <= held_.send &&
            blocks.received_bytes() <= held_.receive,
        blocks.comm());
  blocks.place(send_.get(), receive_.get());
}

}  // namespace contend::probe::alltoall
