#pragma once

// What the fuzzers have in common: a file is read whole and in pieces, and both must end alike.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "contend/base/error.hpp"

namespace contend::fuzz {

inline void require(bool holds) {
  if (!holds) std::abort();
}

/// Feeds a piece from memory that ends where the piece ends, so that reading on is noticed.
template <class Parser>
void feed_exactly(Parser& parser, std::string_view piece) {
  const std::unique_ptr<char[]> copy(new char[piece.size()]);
  std::memcpy(copy.get(), piece.data(), piece.size());
  parser.feed({copy.get(), piece.size()});
}

/// The columns that a parser makes of a file in pieces of a size, or the error's text.
template <class Parser>
auto columns_of(std::string_view file, std::size_t piece, std::string& error)
    -> std::optional<decltype(Parser().finish())> {
  try {
    Parser parser;
    for (std::size_t at = 0; at < file.size(); at += piece) {
      feed_exactly(parser, file.substr(at, piece));
    }
    return parser.finish();
  } catch (const Error& thrown) {
    error = thrown.what();
    return std::nullopt;
  }
}

/// The first byte says how large the pieces are, the others are the file.
template <class Parser, class Check>
int run(const std::uint8_t* data, std::size_t size, Check&& check) {
  if (size == 0) return 0;
  const std::string_view file(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::string error_whole;
  std::string error_pieces;
  const auto whole = columns_of<Parser>(file, file.size() + 1, error_whole);
  const auto pieces = columns_of<Parser>(file, data[0] + std::size_t{1}, error_pieces);
  require(whole.has_value() == pieces.has_value() && error_whole == error_pieces);
  if (whole) check(*whole, *pieces);
  return 0;
}

}  // namespace contend::fuzz
