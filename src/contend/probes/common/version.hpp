#pragma once

namespace contend::probe {

/// The version of contend that a probe belongs to.
constexpr const char* kVersion = "0.1.0";

}  // namespace contend::probe
