#pragma once

#include "contend/pattern/pattern.hpp"

namespace contend {

/// Lets a pattern write its drawing once, as a template over the kind of choices:
/// `Drawn::draw(choices, out)`.
template <class Drawn>
class RandomPattern : public Pattern {
 public:
  using Pattern::Pattern;

  bool random() const override { return true; }

  void fill(std::uint32_t, std::uint32_t, RandomChoices& choices, Messages& out) const final {
    static_cast<const Drawn*>(this)->draw(choices, out);
  }
  void fill(std::uint32_t, std::uint32_t, EnumeratedChoices& choices, Messages& out) const final {
    static_cast<const Drawn*>(this)->draw(choices, out);
  }
};

/// A rank other than `self`, uniformly.
template <class Choices>
Rank another(Rank self, Rank ranks, Choices& choices) {
  const Rank drawn = choices.below(ranks - 1);
  return drawn < self ? drawn : drawn + 1;
}

/// a * b, unless that reaches 2^63.
inline std::optional<std::uint64_t> times(std::optional<std::uint64_t> a, std::uint64_t b) {
  if (!a || (b != 0 && *a >= (std::uint64_t{1} << 63) / b)) return std::nullopt;
  return *a * b;
}

}  // namespace contend
