#pragma once

#include <cstdint>
#include <string>

namespace contend::probe {

/// Bytes that this process's host can still give without swapping: what the kernel calls available,
/// and no more than the limits of the control groups (version 1 or 2) that the process is in leave.
///
/// The most that 64 bits hold where nobody tells. `root` stands before every path that is read.
[[nodiscard]] std::int64_t available_memory(const std::string& root = "");

}  // namespace contend::probe
