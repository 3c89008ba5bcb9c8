#include <doctest/doctest.h>

#include <cstdlib>
#include <limits>

#include "io/json.hpp"

using namespace contend::probe;

TEST_CASE("numbers come back, and what JSON cannot say is null") {
  CHECK(json_number(0.1) == "0.1");
  CHECK(json_number(-2) == "-2");
  const double third = 1.0 / 3.0;
  CHECK(std::strtod(json_number(third).c_str(), nullptr) == third);
  CHECK(json_number(std::numeric_limits<double>::infinity()) == "null");
  CHECK(json_number(std::numeric_limits<double>::quiet_NaN()) == "null");
}

TEST_CASE("texts are quoted, and bytes that are no UTF-8 replaced") {
  CHECK(json_text("a\"b\\c\n\x01") == "\"a\\\"b\\\\c\\u000a\\u0001\"");
  CHECK(json_text("\xc3\xa9 \xf0\x9f\x98\x80") == "\"\xc3\xa9 \xf0\x9f\x98\x80\"");
  // A lone continuation, a cut letter, a too long form, half of a surrogate pair.
  CHECK(json_text("\x80") == "\"\\ufffd\"");
  CHECK(json_text("\xc3") == "\"\\ufffd\"");
  CHECK(json_text("\xc0\xaf") == "\"\\ufffd\\ufffd\"");
  CHECK(json_text("\xed\xa0\x80") == "\"\\ufffd\\ufffd\\ufffd\"");
}

TEST_CASE("an object has its members in order") {
  JsonObject object;
  object.text("kind", "x").integers("n", {1, 2}).truth("good", true).null("none");
  object.label("bytes", Label{std::int64_t{4}}).label("how", Label{std::string("a")});
  CHECK(object.str() == R"({"kind":"x","n":[1,2],"good":true,"none":null,"bytes":4,"how":"a"})");
}
