#include "contend/base/philox.hpp"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define CONTEND_HAS_AVX2_PATH 1
#endif

namespace contend {

namespace {

constexpr std::uint32_t kMultiplier0 = 0xD2511F53;
constexpr std::uint32_t kMultiplier1 = 0xCD9E8D57;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9;
constexpr std::uint32_t kWeyl1 = 0xBB67AE85;
constexpr int kRounds = 10;
constexpr std::uint32_t kLanes = 8;

void fill_plainly(const PhiloxStream& stream, std::uint32_t first_block, std::uint32_t* out) {
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    std::uint32_t x0 = first_block + lane;
    std::uint32_t x1 = stream.purpose;
    auto x2 = static_cast<std::uint32_t>(stream.sample);
    auto x3 = static_cast<std::uint32_t>(stream.sample >> 32);
    auto key0 = static_cast<std::uint32_t>(stream.seed);
    auto key1 = static_cast<std::uint32_t>(stream.seed >> 32);
    for (int round = 0; round < kRounds; ++round) {
      const std::uint64_t product0 = std::uint64_t{kMultiplier0} * x0;
      const std::uint64_t product1 = std::uint64_t{kMultiplier1} * x2;
      x0 = static_cast<std::uint32_t>(product1 >> 32) ^ x1 ^ key0;
      x2 = static_cast<std::uint32_t>(product0 >> 32) ^ x3 ^ key1;
      x1 = static_cast<std::uint32_t>(product1);
      x3 = static_cast<std::uint32_t>(product0);
      key0 += kWeyl0;
      key1 += kWeyl1;
    }
    out[lane] = x0;
    out[kLanes + lane] = x1;
    out[2 * kLanes + lane] = x2;
    out[3 * kLanes + lane] = x3;
  }
}

#ifdef CONTEND_HAS_AVX2_PATH

struct Products {
  __m256i high;
  __m256i low;
};

/// High and low halves of eight 32 x 32 bit products: the instruction multiplies every other lane.
__attribute__((target("avx2"))) inline Products multiply(__m256i x, __m256i multiplier) {
  const __m256i even = _mm256_mul_epu32(x, multiplier);
  const __m256i odd = _mm256_mul_epu32(_mm256_srli_epi64(x, 32), multiplier);
  return {_mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0b10101010),
          _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0b10101010)};
}

/// The low 32 bits in every lane.
__attribute__((target("avx2"))) inline __m256i spread(std::uint64_t bits) {
  return _mm256_set1_epi32(static_cast<int>(static_cast<std::uint32_t>(bits)));
}

/// The same words as fill_plainly, eight blocks at a time.
__attribute__((target("avx2"))) void fill_with_avx2(const PhiloxStream& stream,
                                                    std::uint32_t first_block, std::uint32_t* out) {
  const __m256i multiplier0 = spread(kMultiplier0);
  const __m256i multiplier1 = spread(kMultiplier1);
  __m256i x0 = _mm256_add_epi32(spread(first_block), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  __m256i x1 = spread(stream.purpose);
  __m256i x2 = spread(stream.sample);
  __m256i x3 = spread(stream.sample >> 32);
  __m256i key0 = spread(stream.seed);
  __m256i key1 = spread(stream.seed >> 32);
  for (int round = 0; round < kRounds; ++round) {
    const Products of0 = multiply(x0, multiplier0);
    const Products of1 = multiply(x2, multiplier1);
    x0 = _mm256_xor_si256(_mm256_xor_si256(of1.high, x1), key0);
    x2 = _mm256_xor_si256(_mm256_xor_si256(of0.high, x3), key1);
    x1 = of1.low;
    x3 = of0.low;
    key0 = _mm256_add_epi32(key0, spread(kWeyl0));
    key1 = _mm256_add_epi32(key1, spread(kWeyl1));
  }
  auto* to = reinterpret_cast<__m256i*>(out);
  _mm256_storeu_si256(to, x0);
  _mm256_storeu_si256(to + 1, x1);
  _mm256_storeu_si256(to + 2, x2);
  _mm256_storeu_si256(to + 3, x3);
}

#endif

using Fill = void (*)(const PhiloxStream&, std::uint32_t, std::uint32_t*);

Fill fastest_fill() {
#ifdef CONTEND_HAS_AVX2_PATH
  if (__builtin_cpu_supports("avx2")) return fill_with_avx2;
#endif
  return fill_plainly;
}

}  // namespace

void philox_fill(const PhiloxStream& stream, std::uint32_t first_group,
                 std::span<std::uint32_t> words) {
  static const Fill fill = fastest_fill();
  const auto groups = static_cast<std::uint32_t>(words.size() / kPhiloxGroup);
  for (std::uint32_t group = 0; group < groups; ++group) {
    fill(stream, (first_group + group) * kLanes, words.data() + group * kPhiloxGroup);
  }
}

void philox_fill_plainly(const PhiloxStream& stream, std::uint32_t first_group,
                         std::span<std::uint32_t> words) {
  const auto groups = static_cast<std::uint32_t>(words.size() / kPhiloxGroup);
  for (std::uint32_t group = 0; group < groups; ++group) {
    fill_plainly(stream, (first_group + group) * kLanes, words.data() + group * kPhiloxGroup);
  }
}

}  // namespace contend
