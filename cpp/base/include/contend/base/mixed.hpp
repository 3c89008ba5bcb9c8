#pragma once

#include <cstdint>

namespace contend {

/// Every bit of the result depends on every bit of the number (the finaliser of SplitMix64).
inline std::uint64_t mixed(std::uint64_t number) {
  number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9u;
  number = (number ^ number >> 27) * 0x94D049BB133111EBu;
  return number ^ number >> 31;
}

}  // namespace contend
