#pragma once

namespace contend::probe {

/// The version of contend that a probe belongs to.
constexpr const char* kVersion = "1.0.0";

}  // namespace contend::probe
