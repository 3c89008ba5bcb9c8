#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace contend::probe {

/// Something on the command line, or in a file that it names, is not as it should be.
class BadInput : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The parts of a text between a separator's places; one empty part for an empty text.
[[nodiscard]] std::vector<std::string> split_text(const std::string& text, char separator);

/// A whole number of at least `least`. Throws BadInput.
[[nodiscard]] std::int64_t parse_integer(const std::string& text, std::int64_t least);

/// A number above zero, or zero when that is allowed. Throws BadInput.
[[nodiscard]] double parse_number(const std::string& text, bool zero_allowed);

/// Bytes: "512", "4K", "1M", "2GiB"; units are powers of 1024. Throws BadInput.
[[nodiscard]] std::int64_t parse_size(const std::string& text);

/// Several sizes: "1,2,4K", "1:1M" (doubling from the first while not above the last), or both.
[[nodiscard]] std::vector<std::int64_t> parse_sizes(const std::string& text);

}  // namespace contend::probe
