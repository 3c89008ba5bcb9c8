#pragma once

#include <cstddef>
#include <optional>

namespace contend::probe::alltoall {

/// Known bytes: each depends on who sends it, to whom, and on its position in the block.

/// Writes a block as its source sends it.
void fill_block(std::byte* block, std::size_t bytes, int source, int destination);

/// Writes a block that is wrong in every byte.
void poison_block(std::byte* block, std::size_t bytes, int source, int destination);

/// The first position in a block where it is not as its source sent it.
[[nodiscard]] std::optional<std::size_t> first_wrong(const std::byte* block, std::size_t bytes,
                                                     int source, int destination);

/// Fills what lies beside a buffer, where nobody may write.
void fill_guard(std::byte* guard, std::size_t bytes);

/// The first position where somebody wrote beside a buffer.
[[nodiscard]] std::optional<std::size_t> first_touched(const std::byte* guard, std::size_t bytes);

}  // namespace contend::probe::alltoall
