#include "contend/base/philox.hpp"

#include <doctest/doctest.h>

#include <array>
#include <vector>

using namespace contend;

namespace {

using Block = std::array<std::uint32_t, 4>;

/// Philox block number `block` of a stream, picked out of the group it lies in.
Block block_of(const PhiloxStream& stream, std::uint32_t block) {
  std::vector<std::uint32_t> words(kPhiloxGroup);
  philox_fill_plainly(stream, block / 8, words);
  const std::size_t lane = block % 8;
  return {words[lane], words[8 + lane], words[16 + lane], words[24 + lane]};
}

}  // namespace

// The known answers that Random123 publishes for philox4x32-10: counter words 0 .. 3 are the
// block's number, the purpose and the sample's low and high half, the key is the seed's halves.
TEST_CASE("blocks are the published ones") {
  CHECK(block_of({0, 0, 0}, 0) == Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(block_of({~0ULL, ~0ULL, ~0U}, ~0U) ==
        Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(block_of({0x299f31d0a4093822, 0x0370734413198a2e, 0x85a308d3}, 0x243f6a88) ==
        Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("the vector units make the same words") {
  const std::array<PhiloxStream, 3> streams{
      {{1, 0, 0}, {0x299f31d0a4093822, 0x0370734413198a2e, 0x85a308d3}, {~0ULL, ~0ULL, ~0U}}};
  for (const PhiloxStream& stream : streams) {
    // The last start wraps round on the way.
    for (const std::uint32_t first_group : {0U, 1U, 0x0487ED51U, 0x1FFFFFFEU}) {
      std::vector<std::uint32_t> fast(5 * kPhiloxGroup);
      std::vector<std::uint32_t> plain(5 * kPhiloxGroup);
      philox_fill(stream, first_group, fast);
      philox_fill_plainly(stream, first_group, plain);
      CHECK(fast == plain);
    }
  }
}

TEST_CASE("a group is the same whether drawn alone or with others") {
  const PhiloxStream stream{7, 8, 9};
  std::vector<std::uint32_t> together(3 * kPhiloxGroup);
  philox_fill(stream, 4, together);
  for (std::uint32_t group = 0; group < 3; ++group) {
    std::vector<std::uint32_t> alone(kPhiloxGroup);
    philox_fill(stream, 4 + group, alone);
    const auto first = together.begin() + static_cast<std::ptrdiff_t>(group * kPhiloxGroup);
    CHECK(std::equal(alone.begin(), alone.end(), first));
  }
}
