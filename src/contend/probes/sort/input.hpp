#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sort/records.hpp"

namespace contend::probe::sort {

enum class InputKind { built, uniform, normal, zipf, sorted, reversed, equal };

/// The kind of a name on the command line; none when there is no such kind.
[[nodiscard]] std::optional<InputKind> input_kind(const std::string& name);
/// All names, in the order of InputKind.
[[nodiscard]] const std::vector<std::string>& input_kinds();

/// The records to sort: all follow from the kind, a seed and their index in the whole input.
///
/// Only the built input depends on the number of ranks. No kind uses a function of the mathematics
/// library, whose last bit may differ between the machines of a cluster.
class Input {
 public:
  Input(InputKind kind, std::uint64_t seed, const Shares& shares)
      : kind_(kind), seed_(seed), shares_(shares) {}

  /// Writes a rank's share of the input. O(records · doubles).
  void fill(const Records& records, std::int64_t rank) const;

  /// Whether a record is what the input has at an index, in every double.
  [[nodiscard]] bool matches(const Records& records, std::int64_t record, std::int64_t index) const;

  [[nodiscard]] std::int64_t size() const { return shares_.records; }

 private:
  [[nodiscard]] double key(std::int64_t index) const;
  [[nodiscard]] double built_key(std::int64_t index) const;
  [[nodiscard]] double normal_key(std::int64_t index) const;
  [[nodiscard]] double zipf_key(std::int64_t index) const;

  InputKind kind_;
  std::uint64_t seed_;
  Shares shares_;
};

}  // namespace contend::probe::sort
