#pragma once

#include <cstdint>
#include <span>

namespace contend {

/// One stream of random words, addressed by number: no state, so any part of it can be drawn by
/// any thread. Philox4x32-10 of Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
/// SC 2011.
struct PhiloxStream {
  std::uint64_t seed;
  std::uint64_t sample;   ///< which pattern or placement
  std::uint32_t purpose;  ///< keeps the draws of one sample apart from each other
};

/// Words made in one go; a stream is read in whole groups.
inline constexpr std::size_t kPhiloxGroup = 32;

/// Fills `words` (a multiple of kPhiloxGroup) with groups `first_group`, `first_group` + 1, ...
/// Word 8 w + l of a group is word w of Philox block l, an order that vector units like.
/// Cost: about 40 multiplications a block of four words.
void philox_fill(const PhiloxStream& stream, std::uint32_t first_group,
                 std::span<std::uint32_t> words);

/// The same words without vector instructions, to check the above against.
void philox_fill_plainly(const PhiloxStream& stream, std::uint32_t first_group,
                         std::span<std::uint32_t> words);

}  // namespace contend
