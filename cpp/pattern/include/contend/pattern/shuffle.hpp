#pragma once

#include <cstdint>
#include <span>
#include <utility>

namespace contend {

/// Puts values into a random order, every order equally likely (Fisher and Yates).
/// Cost: one draw per value.
template <class Choices>
void shuffle(std::span<std::uint32_t> values, Choices& choices) {
  for (auto left = static_cast<std::uint32_t>(values.size()); left > 1; --left) {
    std::swap(values[left - 1], values[choices.below(left)]);
  }
}

}  // namespace contend
