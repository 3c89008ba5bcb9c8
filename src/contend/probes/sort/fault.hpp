#pragma once

#include <algorithm>
#include <cstdint>

#include "sort/records.hpp"

// Compiled with -DCONTEND_FAULT=NAME, a sort spoils its own result, so that a test sees the
// verification find it.
#define CONTEND_FAULT_NONE 0
#define CONTEND_FAULT_ORDER 1
#define CONTEND_FAULT_LOSS 2
#define CONTEND_FAULT_PAYLOAD 3
#define CONTEND_FAULT_BOUNDARY 4

#ifndef CONTEND_FAULT
#define CONTEND_FAULT CONTEND_FAULT_NONE
#endif

namespace contend::probe::sort {

/// Does nothing, unless a fault is compiled in.
inline void plant_fault(const Records& sorted, std::int64_t rank, std::int64_t ranks) {
  if (CONTEND_FAULT == CONTEND_FAULT_NONE || sorted.count < 2) {
    return;
  }
  const auto swap_records = [&](std::int64_t left, std::int64_t right) {
    std::swap_ranges(sorted[left], sorted[left] + sorted.doubles, sorted[right]);
  };
  const std::int64_t last = sorted.count - 1;
  switch (CONTEND_FAULT) {
    case CONTEND_FAULT_ORDER:
      return swap_records(0, last);
    case CONTEND_FAULT_LOSS:
      std::copy_n(sorted[last], sorted.doubles, sorted[last - 1]);
      return;
    case CONTEND_FAULT_PAYLOAD:
      sorted[last][sorted.doubles - 1] += 1;
      return;
    case CONTEND_FAULT_BOUNDARY:
      // The built input's keys change places between the first rank and the last, and so on.
      for (std::int64_t record = 0; record <= last; ++record) {
        sorted[record][0] += static_cast<double>(sorted.count * (ranks - 1 - 2 * rank));
      }
      return;
  }
}

}  // namespace contend::probe::sort
