#pragma once

namespace contend {

/// True only in the builds that prove the fuzzers able to find a fault: there, every parser leaves
/// out one check that it needs.
#ifdef CONTEND_PLANTED_FAULT
inline constexpr bool kPlantedFault = true;
#else
inline constexpr bool kPlantedFault = false;
#endif

}  // namespace contend
