#pragma once

// The words that all dumps of forwarding tables have in common.

#include "contend/base/lines.hpp"
#include "contend/base/scan.hpp"

namespace contend::dumps {

[[noreturn]] void fail(const Line& line, const char* expected, const Cursor& at);

/// The LID that a row begins with, `0x01ff`, checked to be unicast.
std::uint32_t row_lid(Cursor& at, const Line& line);

/// A port of at most 255 that is followed by a blank or by a line end that was not cut off.
std::uint32_t row_port(Cursor& at, const Line& line);

}  // namespace contend::dumps
