#include "sort/input.hpp"

#include <algorithm>

namespace contend::probe::sort {

namespace {

// 2^64 divided by the golden ratio: an odd step whose multiples lie evenly in 64 bits.
constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15u;
constexpr std::uint64_t kPayload = 1u << 16;
constexpr int kZipfOctaves = 20;

std::uint64_t scramble(std::uint64_t word) {
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebu;
  return word ^ (word >> 31);
}

/// 64 random bits for an index: that member of the SplitMix64 sequence of (seed, stream).
std::uint64_t random_bits(std::uint64_t seed, std::uint64_t stream, std::int64_t index) {
  const std::uint64_t start = scramble(scramble(seed + kStep) + stream * kStep);
  return scramble(start + (static_cast<std::uint64_t>(index) + 1) * kStep);
}

double payload(std::uint64_t base, std::int64_t place) {
  return static_cast<double>((base + static_cast<std::uint64_t>(place) * kStep) >> 11);
}

}  // namespace

const std::vector<std::string>& input_kinds() {
  static const std::vector<std::string> names = {"built",  "uniform",  "normal", "zipf",
                                                 "sorted", "reversed", "equal"};
  return names;
}

std::optional<InputKind> input_kind(const std::string& name) {
  const auto found = std::find(input_kinds().begin(), input_kinds().end(), name);
  if (found == input_kinds().end()) {
    return std::nullopt;
  }
  return static_cast<InputKind>(found - input_kinds().begin());
}

void Input::fill(const Records& records, std::int64_t rank) const {
  for (std::int64_t record = 0; record < records.count; ++record) {
    const std::int64_t index = shares_.begin(rank) + record;
    double* const values = records[record];
    values[0] = key(index);
    if (records.doubles > 1) {
      values[1] = static_cast<double>(index);
    }
    const std::uint64_t base = random_bits(seed_, kPayload, index);
    for (std::int64_t place = 2; place < records.doubles; ++place) {
      values[place] = payload(base, place);
    }
  }
}

bool Input::matches(const Records& records, std::int64_t record, std::int64_t index) const {
  const double* const values = records[record];
  bool same = values[0] == key(index);
  if (records.doubles > 1) {
    same = same && values[1] == static_cast<double>(index);
  }
  const std::uint64_t base = random_bits(seed_, kPayload, index);
  for (std::int64_t place = 2; place < records.doubles; ++place) {
    same = same && values[place] == payload(base, place);
  }
  return same;
}

double Input::key(std::int64_t index) const {
  switch (kind_) {
    case InputKind::built:
      return built_key(index);
    case InputKind::uniform:
      return static_cast<double>(random_bits(seed_, 0, index) >> 11) * 0x1p-53;
    case InputKind::normal:
      return normal_key(index);
    case InputKind::zipf:
      return zipf_key(index);
    case InputKind::sorted:
      return static_cast<double>(index + 1);
    case InputKind::reversed:
      return static_cast<double>(shares_.records - index);
    case InputKind::equal:
      return 1.0;
  }
  return 0.0;
}

// Rank r's share is a block for every rank j, and holds the numbers that will be at the r-th block
// of j's sorted share. So both local sorts find their work done, and all blocks are alike.
double Input::built_key(std::int64_t index) const {
  const std::int64_t share = shares_.records / shares_.ranks;
  const std::int64_t block = share / shares_.ranks;
  const std::int64_t from = index / share;
  const std::int64_t to = index % share / block;
  return static_cast<double>(to * share + from * block + index % block + 1);
}

// The sum of twelve uniform numbers less its mean, of variance 1: normal but for its ends, and the
// same to the last bit everywhere.
double Input::normal_key(std::int64_t index) const {
  std::int64_t sum = 0;
  for (std::uint64_t stream = 0; stream < 6; ++stream) {
    const std::uint64_t bits = random_bits(seed_, stream, index);
    sum += static_cast<std::int64_t>(bits >> 32) + static_cast<std::int64_t>(bits & 0xffffffffu);
  }
  return static_cast<double>(sum - (std::int64_t{6} << 32)) * 0x1p-32;
}

// Whole numbers k from 1 to 2^20 - 1 with probability in proportion to 1/k, Zipf's law of exponent
// 1: an octave by equal chance, a number of it by equal chance, taken with chance 2^octave/k.
double Input::zipf_key(std::int64_t index) const {
  for (std::uint64_t stream = 0;; stream += 2) {
    const std::uint64_t bits = random_bits(seed_, stream, index);
    const std::uint64_t octave = ((bits >> 32) * kZipfOctaves) >> 32;
    const std::uint64_t number = (std::uint64_t{1} << octave) |
                                 (bits & ((std::uint64_t{1} << octave) - 1));
    const std::uint64_t chance = random_bits(seed_, stream + 1, index) >> 32;
    if ((chance * number) >> 32 < std::uint64_t{1} << octave) {
      return static_cast<double>(number);
    }
  }
}

}  // namespace contend::probe::sort
