#include "contend/base/scan.hpp"

namespace contend {

static constexpr std::size_t kLongestExcerpt = 60;
static constexpr char kDigits[] = "0123456789abcdef";

std::string excerpt(std::string_view text) {
  if (text.empty()) return "the end of the line";
  std::string shown = "'";
  for (const char c : text.substr(0, kLongestExcerpt)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\t') {
      shown += ' ';
    } else if (byte >= 0x20 && byte < 0x7F) {
      shown += c;
    } else {
      shown += "\\x";
      shown += kDigits[byte >> 4];
      shown += kDigits[byte & 15];
    }
  }
  shown += text.size() > kLongestExcerpt ? "...'" : "'";
  return shown;
}

std::string guid_text(std::uint64_t guid) {
  std::string shown = "0x";
  for (int shift = 60; shift >= 0; shift -= 4) shown += kDigits[guid >> shift & 15];
  return shown;
}

void Tally::add(std::size_t line, std::string_view text) {
  if (count_++ > 0) return;
  first_line_ = line;
  first_text_ = excerpt(text);
}

std::string Tally::note(std::string_view one, std::string_view many) const {
  std::string text = std::to_string(count_) + ' ';
  text += count_ == 1 ? one : many;
  text += count_ == 1 ? ", in line " : ", first in line ";
  return text + std::to_string(first_line_) + ": " + first_text_;
}

void Tally::note(std::vector<std::string>& notes, std::string_view one,
                 std::string_view many) const {
  if (count_ > 0) notes.push_back(note(one, many));
}

}  // namespace contend
