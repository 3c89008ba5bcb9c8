#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "contend/base/lines.hpp"

using namespace contend;

namespace {

struct Seen {
  std::string text;
  std::size_t number;
  bool ended;
  bool operator==(const Seen&) const = default;
};

std::vector<Seen> split(const std::vector<std::string>& chunks, std::size_t longest = 100) {
  std::vector<Seen> seen;
  LineSplitter lines(longest);
  const auto each = [&](const Line& line) {
    seen.push_back({std::string(line.text), line.number, line.ended});
  };
  for (const std::string& chunk : chunks) lines.feed(chunk, each);
  lines.finish(each);
  return seen;
}

}  // namespace

TEST_CASE("lines end in LF or CRLF and the last one may not end") {
  const std::vector<Seen> expected = {
      {"a", 1, true}, {"", 2, true}, {"b", 3, true}, {"c", 4, false}};
  CHECK(split({"a\n\r\nb\r\nc"}) == expected);
}

TEST_CASE("where the chunks are cut changes nothing") {
  const std::string text = "\xEF\xBB\xBFone\r\ntwo\n" + std::string("\0three", 6) + "\r\n\n";
  const std::vector<Seen> expected = split({text});
  CHECK(expected.size() == 4);
  CHECK(expected[0].text == "one");
  CHECK(expected[2].text == std::string("\0three", 6));
  for (std::size_t a = 0; a <= text.size(); ++a) {
    for (std::size_t b = a; b <= text.size(); ++b) {
      CHECK(split({text.substr(0, a), text.substr(a, b - a), text.substr(b)}) == expected);
    }
  }
}

TEST_CASE("a line longer than allowed is refused, in one chunk or in many") {
  CHECK(split({"1234\n1234"}, 4).size() == 2);
  const std::vector<std::vector<std::string>> files = {{"1\n12345\n"}, {"1\n123", "45"}};
  for (const std::vector<std::string>& chunks : files) {
    try {
      split(chunks, 4);
      FAIL("accepted");
    } catch (const InputError& error) {
      CHECK(error.line() == 2);
      CHECK(error.expected() == "a line of at most 4 bytes");
    }
  }
}

TEST_CASE("no bytes are no lines") { CHECK(split({"", ""}).empty()); }
