#include "contend/base/philox.hpp"

#include "contend/base/vectorise.hpp"

namespace contend {

namespace {

constexpr std::uint32_t kMultiplier0 = 0xD2511F53;
constexpr std::uint32_t kMultiplier1 = 0xCD9E8D57;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9;
constexpr std::uint32_t kWeyl1 = 0xBB67AE85;
constexpr int kRounds = 10;
constexpr std::size_t kLanes = 8;

}  // namespace

CONTEND_VECTORISE
void philox_fill(const PhiloxStream& stream, std::uint32_t first_group,
                 std::span<std::uint32_t> words) {
  const auto groups = words.size() / kPhiloxGroup;
  for (std::size_t group = 0; group < groups; ++group) {
    std::uint32_t x0[kLanes], x1[kLanes], x2[kLanes], x3[kLanes];
    const auto first_block =
        static_cast<std::uint32_t>((first_group + group) * kLanes);
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      x0[lane] = first_block + lane;
      x1[lane] = stream.purpose;
      x2[lane] = static_cast<std::uint32_t>(stream.sample);
      x3[lane] = static_cast<std::uint32_t>(stream.sample >> 32);
    }
    auto key0 = static_cast<std::uint32_t>(stream.seed);
    auto key1 = static_cast<std::uint32_t>(stream.seed >> 32);
    for (int round = 0; round < kRounds; ++round) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const std::uint64_t product0 = std::uint64_t{kMultiplier0} * x0[lane];
        const std::uint64_t product1 = std::uint64_t{kMultiplier1} * x2[lane];
        const std::uint32_t next0 = static_cast<std::uint32_t>(product1 >> 32) ^ x1[lane] ^ key0;
        const std::uint32_t next2 = static_cast<std::uint32_t>(product0 >> 32) ^ x3[lane] ^ key1;
        x1[lane] = static_cast<std::uint32_t>(product1);
        x3[lane] = static_cast<std::uint32_t>(product0);
        x0[lane] = next0;
        x2[lane] = next2;
      }
      key0 += kWeyl0;
      key1 += kWeyl1;
    }
    std::uint32_t* out = words.data() + group * kPhiloxGroup;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      out[lane] = x0[lane];
      out[kLanes + lane] = x1[lane];
      out[2 * kLanes + lane] = x2[lane];
      out[3 * kLanes + lane] = x3[lane];
    }
  }
}

}  // namespace contend
