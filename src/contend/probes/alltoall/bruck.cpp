#include <algorithm>
#include <cstring>

#include "alltoall/algorithm.hpp"
#include "alltoall/checked.hpp"
#include "alltoall/messages.hpp"
#include "compat/large_count.hpp"

namespace contend::probe::alltoall {

namespace {

// Blocks travel together in log_radix(p) rounds: one that has d places to go moves, in the round of
// each of d's digits, by that digit. Source: J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal,
// D. Weathersby, Efficient algorithms for all-to-all communications in multiport message-passing
// systems, IEEE Transactions on Parallel and Distributed Systems 8 (1997).
class Bruck final : public CheckedAlltoall {
 public:
  Bruck(const Blocks& blocks, std::int64_t radix)
      : CheckedAlltoall(blocks),
        bytes_(blocks.counts().bytes()),
        ranks_(blocks.ranks()),
        radix_(std::min<std::int64_t>(radix, std::max<std::int64_t>(blocks.ranks(), 2))),
        messages_(2 * static_cast<std::size_t>(radix_)) {
    std::size_t most = 0;
    for (std::int64_t weight = 1; weight < ranks_; weight *= radix_) {
      std::size_t moving = 0;
      for (std::int64_t places = 0; places < ranks_; ++places) {
        moving += digit(places, weight) == 0 ? 0 : 1;
      }
      most = std::max(most, moving);
    }
    outgoing_.resize(most * bytes_);
    incoming_.resize(most * bytes_);
  }

  void run(Stamps& /*stamps*/) override {
    if (bytes_ == 0) {
      return;
    }
    turn_to_own_first();
    for (std::int64_t weight = 1; weight < ranks_; weight *= radix_) {
      move_digit(weight);
    }
    turn_to_source_order();
  }

 private:
  [[nodiscard]] std::int64_t digit(std::int64_t places, std::int64_t weight) const {
    return places / weight % radix_;
  }

  [[nodiscard]] std::byte* block(std::int64_t index) const {
    return blocks().receive() + static_cast<std::size_t>(index) * bytes_;
  }

  // The receive buffer's block i becomes what has to go i places.
  void turn_to_own_first() {
    const auto first = static_cast<std::size_t>(blocks().rank()) * bytes_;
    const std::size_t rest = blocks().sent_bytes() - first;
    std::memcpy(blocks().receive(), blocks().send() + first, rest);
    std::memcpy(blocks().receive() + rest, blocks().send(), first);
  }

  // All blocks whose digit is not 0 move by it; blocks of the same digit in one message.
  void move_digit(std::int64_t weight) {
    std::size_t begin = 0;
    for (std::int64_t value = 1; value < radix_ && value * weight < ranks_; ++value) {
      std::size_t end = begin;
      visit(value, weight, [&](std::byte* block) {
        std::memcpy(outgoing_.data() + end, block, bytes_);
        end += bytes_;
      });
      const auto places = static_cast<int>(value * weight);
      messages_.add(receive_bytes(incoming_.data() + begin, end - begin, blocks().shifted(-places),
                                  kTag, blocks().comm()));
      messages_.add(send_bytes(outgoing_.data() + begin, end - begin, blocks().shifted(places),
                               kTag, blocks().comm()));
      begin = end;
    }
    messages_.finish();
    std::size_t next = 0;
    for (std::int64_t value = 1; value < radix_ && value * weight < ranks_; ++value) {
      visit(value, weight, [&](std::byte* block) {
        std::memcpy(block, incoming_.data() + next, bytes_);
        next += bytes_;
      });
    }
  }

  // All blocks with a digit, ascending.
  template <class Use>
  void visit(std::int64_t value, std::int64_t weight, const Use& use) {
    for (std::int64_t run = value * weight; run < ranks_; run += radix_ * weight) {
      for (std::int64_t index = run; index < std::min<std::int64_t>(run + weight, ranks_);
           ++index) {
        use(block(index));
      }
    }
  }

  // Block i has come i places, so from rank r - i. Taking i to r - i twice leads back to i: blocks
  // change places in pairs.
  void turn_to_source_order() {
    for (int index = 0; index < ranks_; ++index) {
      const int source = blocks().shifted(-index);
      if (index < source) {
        std::swap_ranges(block(index), block(index) + bytes_, block(source));
      }
    }
  }

  std::size_t bytes_;
  int ranks_;
  std::int64_t radix_;
  Messages messages_;
  // What moves in a round, packed.
  std::vector<std::byte> outgoing_;
  std::vector<std::byte> incoming_;
};

}  // namespace

Algorithm bruck() {
  Algorithm made{
      "bruck", "blocks travel together in log p rounds, by the digits of their distance",
      [](const Blocks& blocks, const Parameters& parameters) -> std::unique_ptr<Operation> {
        return std::make_unique<Bruck>(blocks, parameters.radix);
      },
      "radix"};
  made.uneven = false;
  return made;
}

}  // namespace contend::probe::alltoall
