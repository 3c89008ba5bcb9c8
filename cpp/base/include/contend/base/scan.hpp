#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace contend {

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Value of a hexadecimal digit, or -1.
inline int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// Reads a line from left to right; never beyond its end. Every `take` leaves the cursor where it
/// was when what it looks for is not there. Cost: one pass.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  bool at_end() const { return text_.empty(); }
  bool at(char c) const { return !text_.empty() && text_.front() == c; }
  bool at_digit() const { return !text_.empty() && is_digit(text_.front()); }
  bool at_blank() const { return !text_.empty() && is_blank(text_.front()); }
  std::string_view rest() const { return text_; }

  Cursor& skip_blanks() {
    std::size_t blanks = 0;
    while (blanks < text_.size() && is_blank(text_[blanks])) ++blanks;
    text_.remove_prefix(blanks);
    return *this;
  }

  bool take(char c) {
    if (!at(c)) return false;
    text_.remove_prefix(1);
    return true;
  }

  bool take(std::string_view literal) {
    if (!text_.starts_with(literal)) return false;
    text_.remove_prefix(literal.size());
    return true;
  }

  /// Up to the next blank.
  std::string_view take_word() {
    std::size_t length = 0;
    while (length < text_.size() && !is_blank(text_[length])) ++length;
    return take_first(length);
  }

  /// A decimal number of at most `largest`.
  std::optional<std::uint32_t> take_decimal(std::uint32_t largest) {
    std::uint64_t value = 0;
    std::size_t length = 0;
    for (; length < text_.size() && is_digit(text_[length]); ++length) {
      value = 10 * value + static_cast<std::uint64_t>(text_[length] - '0');
      if (value > largest) return std::nullopt;
    }
    if (length == 0) return std::nullopt;
    text_.remove_prefix(length);
    return static_cast<std::uint32_t>(value);
  }

  /// A hexadecimal number of 1 to 16 digits, without a prefix.
  std::optional<std::uint64_t> take_hexadecimal() {
    std::uint64_t value = 0;
    std::size_t length = 0;
    for (; length < text_.size(); ++length) {
      const int digit = hex_value(text_[length]);
      if (digit < 0) break;
      if (length == 16) return std::nullopt;
      value = value << 4 | static_cast<std::uint64_t>(digit);
    }
    if (length == 0) return std::nullopt;
    text_.remove_prefix(length);
    return value;
  }

  /// The same with the prefix 0x.
  std::optional<std::uint64_t> take_prefixed_hexadecimal() {
    Cursor ahead = *this;
    if (!ahead.take("0x") && !ahead.take("0X")) return std::nullopt;
    const std::optional<std::uint64_t> value = ahead.take_hexadecimal();
    if (value) *this = ahead;
    return value;
  }

 private:
  std::string_view take_first(std::size_t length) {
    const std::string_view first = text_.substr(0, length);
    text_.remove_prefix(length);
    return first;
  }

  std::string_view text_;
};

/// A piece of a file for an error message: printable ASCII, the rest escaped, shortened.
std::string excerpt(std::string_view text);

/// "0x" and 16 digits, as tools print GUIDs.
std::string guid_text(std::uint64_t guid);

/// Something that occurs again and again in a file: how often, and where first.
class Tally {
 public:
  void add(std::size_t line, std::string_view text);
  std::size_t count() const { return count_; }

  /// "3 MANY, first in line 7: 'text'".
  std::string note(std::string_view one, std::string_view many) const;
  /// Appends the note when there is something to note.
  void note(std::vector<std::string>& notes, std::string_view one, std::string_view many) const;

 private:
  std::size_t count_ = 0;
  std::size_t first_line_ = 0;
  std::string first_text_;
};

}  // namespace contend
