#pragma once

// The words that node records and port listings of ibnetdiscover have in common.

#include <cstdint>
#include <optional>
#include <string_view>

#include "contend/base/lines.hpp"
#include "contend/base/scan.hpp"
#include "contend/fabric/subnet.hpp"

namespace contend::ibnetdiscover {

[[noreturn]] void fail(const Line& line, const char* expected, const Cursor& at);

/// A number of at most `largest`, or an InputError.
std::uint32_t number(Cursor& at, std::uint32_t largest, const Line& line, const char* expected);

/// A port number, from 1.
std::uint16_t port_number(Cursor& at, const Line& line);

/// A LID; 0xFFFF, which stands for none, becomes 0.
std::uint32_t lid(Cursor& at, const Line& line);

/// Whether a word is a link rate, `4xHDR` or, of contend's own files, `100GbE`; unknown parts are
/// question marks.
bool is_rate(std::string_view word);

struct NodeName {
  NodeKind kind;
  std::uint64_t guid;
};
/// A node's name in quotes, `"S-0002c903007b78b0"`, or an InputError.
NodeName node_name(Cursor& at, const Line& line);

/// What stands behind the # of a line: `lid 9 lmc 0 "description" lid 13 4xEDR`.
struct Comment {
  std::uint32_t own_lid = 0;  ///< before the description
  std::uint8_t own_lmc = 0;
  std::string_view description;
  std::uint32_t lid = 0;  ///< behind the description
  std::uint8_t lmc = 0;
  std::string_view rate;
};
/// The comment, or an empty one where the line has none. A description may hold any characters: it
/// ends at the line's last quote.
Comment comment(Cursor& at, const Line& line);

}  // namespace contend::ibnetdiscover
