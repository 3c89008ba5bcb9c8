#pragma once

#include <string>

namespace contend::probe {

/// What the library says of itself, in one line.
[[nodiscard]] std::string library_version();

/// The version of the MPI standard that it follows when running: "3.1".
[[nodiscard]] std::string library_standard();

}  // namespace contend::probe
