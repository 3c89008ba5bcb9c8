#include "ibnetdiscover_words.hpp"

#include <algorithm>

#include "contend/base/error.hpp"
#include "contend/base/planted_fault.hpp"

namespace contend::ibnetdiscover {

void fail(const Line& line, const char* expected, const Cursor& at) {
  throw InputError(line.number, expected, excerpt(at.rest()));
}

std::uint32_t number(Cursor& at, std::uint32_t largest, const Line& line, const char* expected) {
  const std::optional<std::uint32_t> value = at.take_decimal(largest);
  if (!value) fail(line, expected, at);
  return *value;
}

std::uint16_t port_number(Cursor& at, const Line& line) {
  const Cursor before = at;
  const std::uint32_t port = number(at, kHighestPort, line, "a port from 1 to 254");
  if (port == 0) fail(line, "a port from 1 to 254", before);
  return static_cast<std::uint16_t>(port);
}

std::uint32_t lid(Cursor& at, const Line& line) {
  const std::uint32_t value = number(at, kHighestLid, line, "a LID of at most 65535");
  return value == kHighestLid ? 0 : value;
}

bool is_ethernet_rate(std::string_view word) {
  if (word.size() < 4 || word.size() > 16 || !word.ends_with("GbE") || !is_digit(word[0])) {
    return false;
  }
  word.remove_suffix(3);
  const std::size_t dot = word.find('.');
  return std::ranges::all_of(word.substr(0, dot), is_digit) &&
         (dot == word.npos ||
          (dot + 1 < word.size() && std::ranges::all_of(word.substr(dot + 1), is_digit)));
}

bool is_rate(std::string_view word) {
  if (is_ethernet_rate(word)) return true;
  std::size_t width = 0;
  while (width < word.size() && (is_digit(word[width]) || word[width] == '?')) ++width;
  if (width == 0 || word.size() > 16) return false;
  const bool known_width = width <= 2 && is_digit(word[0]);
  if (known_width && (width == word.size() || word[width] != 'x')) return false;
  if (!known_width && word[0] != '?') return false;
  for (const char c : word.substr(known_width ? width + 1 : width)) {
    if (c != '?' && !is_digit(c) && !(c >= 'A' && c <= 'Z')) return false;
  }
  return word.size() > width + 1 || !known_width;
}

NodeName node_name(Cursor& at, const Line& line) {
  static constexpr char kExpected[] = "a node such as \"S-0002c903007b78b0\"";
  Cursor ahead = at;
  if (!ahead.take('"')) fail(line, kExpected, at);
  NodeKind kind = NodeKind::adapter;
  if (ahead.take("S-")) {
    kind = NodeKind::switch_;
  } else if (ahead.take("R-")) {
    kind = NodeKind::router;
  } else if (!ahead.take("H-")) {
    fail(line, kExpected, at);
  }
  const std::optional<std::uint64_t> guid = ahead.take_hexadecimal();
  if (!guid || !ahead.take('"')) fail(line, kExpected, at);
  at = ahead;
  return {kind, *guid};
}

/// Words such as `lid 9 lmc 0 4xEDR`; unknown ones are left alone. A LID or LMC without its number,
/// `lid 4xEDR`, is one that the tool did not know.
static void attributes(std::string_view text, const Line& line, std::uint32_t& lid_value,
                       std::uint8_t& lmc, std::string_view* rate) {
  Cursor at(text);
  while (!at.skip_blanks().at_end()) {
    const std::string_view word = at.take_word();
    if (word == "lid" || word == "smalid" || word == "lmc") {
      Cursor value = at.skip_blanks();
      if (!value.at_digit() || is_rate(Cursor(value).take_word())) continue;
      if (word == "lmc") {
        lmc = static_cast<std::uint8_t>(number(value, kHighestLmc, line, "an LMC of at most 7"));
      } else {
        lid_value = lid(value, line);
      }
      if (!value.at_end() && !value.at_blank()) fail(line, "a number", at);
    } else if (rate && is_rate(word)) {
      *rate = word;
    }
  }
}

static bool is_attribute(std::string_view word) {
  return word == "lid" || word == "smalid" || word == "lmc" || is_rate(word);
}

/// A comment whose description has no quotes: it stands between the attributes before and behind.
static Comment unquoted_comment(std::string_view text, const Line& line) {
  Cursor at(text);
  while (Cursor(at.skip_blanks()).take("lid ") || Cursor(at).take("lmc ")) {
    at.take_word();
    if (at.skip_blanks().at_digit()) at.take_word();
  }
  const std::size_t open = text.size() - at.rest().size();
  std::size_t close = open;
  while (!at.skip_blanks().at_end()) {
    const std::string_view rest = at.rest();
    if (rest.starts_with("base port 0 ") || rest.starts_with("enhanced port 0 ") ||
        rest.starts_with("port 0 ") || is_attribute(at.take_word())) {
      break;
    }
    close = text.size() - at.rest().size();
  }
  Comment result;
  if (close == open) {
    attributes(text, line, result.lid, result.lmc, &result.rate);
    return result;
  }
  result.description = text.substr(open, close - open);
  attributes(text.substr(0, open), line, result.own_lid, result.own_lmc, nullptr);
  attributes(text.substr(close), line, result.lid, result.lmc, &result.rate);
  return result;
}

Comment comment(Cursor& at, const Line& line) {
  Comment result;
  if (!at.skip_blanks().take('#')) {
    if (!at.at_end()) fail(line, "a comment or the end of the line", at);
    return result;
  }
  const std::string_view text = at.rest();
  const std::size_t open = text.find('"');
  if (open == text.npos) return unquoted_comment(text, line);
  std::size_t close = text.rfind('"');
  if (kPlantedFault && close == open) close = text.size() + open;
  if (close == open) fail(line, "a description in quotes", Cursor(text.substr(open)));
  attributes(text.substr(0, open), line, result.own_lid, result.own_lmc, nullptr);
  result.description = {text.data() + open + 1, close - open - 1};
  if (close < text.size()) {
    attributes(text.substr(close + 1), line, result.lid, result.lmc, &result.rate);
  }
  return result;
}

}  // namespace contend::ibnetdiscover
