#include <doctest/doctest.h>

#include "contend/base/scan.hpp"

using namespace contend;

TEST_CASE("decimal numbers are bounded and leave the cursor alone when they are not") {
  Cursor at("255x");
  CHECK(!at.take_decimal(254));
  CHECK(at.rest() == "255x");
  CHECK(at.take_decimal(255) == 255u);
  CHECK(at.rest() == "x");
  CHECK(!at.take_decimal(255));
  CHECK(!Cursor("99999999999999999999999").take_decimal(0xFFFFFFFF));
  CHECK(!Cursor("").take_decimal(1));
}

TEST_CASE("hexadecimal numbers have at most 16 digits") {
  CHECK(Cursor("fFfFffffffffffff").take_hexadecimal() == ~std::uint64_t{0});
  CHECK(!Cursor("00000000000000000").take_hexadecimal());
  CHECK(Cursor("0xb:").take_prefixed_hexadecimal() == 11u);
  Cursor at("0x");
  CHECK(!at.take_prefixed_hexadecimal());
  CHECK(at.rest() == "0x");
}

TEST_CASE("words and blanks") {
  Cursor at(" \tlid 9");
  CHECK(at.at_blank());
  CHECK(at.skip_blanks().take_word() == "lid");
  CHECK(at.skip_blanks().at_digit());
  CHECK(!at.take("99"));
  CHECK(at.take('9'));
  CHECK(at.at_end());
  CHECK(at.take_word().empty());
}

TEST_CASE("excerpts are short and printable") {
  CHECK(excerpt("a\tb\x1b\xff") == "'a b\\x1b\\xff'");
  CHECK(excerpt("") == "the end of the line");
  CHECK(excerpt(std::string(61, 'x')) == "'" + std::string(60, 'x') + "...'");
}

TEST_CASE("a tally tells how many and the first") {
  Tally tally;
  std::vector<std::string> notes;
  tally.note(notes, "line", "lines");
  CHECK(notes.empty());
  tally.add(7, "x");
  CHECK(tally.note("line", "lines") == "1 line, in line 7: 'x'");
  tally.add(9, "y");
  tally.note(notes, "line", "lines");
  CHECK(notes == std::vector<std::string>{"2 lines, first in line 7: 'x'"});
}
