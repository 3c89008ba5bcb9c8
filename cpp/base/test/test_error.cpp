#include <doctest/doctest.h>

#include <string>

#include "contend/base/error.hpp"

TEST_CASE("an InputError keeps its parts and says them in one line") {
  const contend::InputError error(12, "a port number", "\"x\"");
  CHECK(error.line() == 12);
  CHECK(error.expected() == "a port number");
  CHECK(error.got() == "\"x\"");
  CHECK(std::string(error.what()) == "line 12: expected a port number, got \"x\"");
}
