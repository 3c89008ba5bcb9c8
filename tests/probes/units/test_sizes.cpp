#include <doctest/doctest.h>

#include "io/arguments.hpp"

using namespace contend::probe;

TEST_CASE("sizes are powers of 1024 by their units") {
  CHECK(parse_size("0") == 0);
  CHECK(parse_size("4K") == 4096);
  CHECK(parse_size("3MiB") == 3 * 1048576);
  CHECK(parse_size("2g") == std::int64_t{2} << 30);
  CHECK(parse_size("7B") == 7);
  for (const char* wrong : {"", "K", "-1", "+1", " 1", "1.5K", "1KK", "1X", "1 K", "0x10"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(parse_size(wrong), BadInput);
  }
}

TEST_CASE("sizes beyond 63 bits are refused, not wrapped") {
  CHECK(parse_size("9223372036854775807") == INT64_MAX);
  CHECK_THROWS_AS(parse_size("9223372036854775808"), BadInput);
  CHECK(parse_size("8388607T") == std::int64_t{8388607} << 40);
  CHECK_THROWS_AS(parse_size("8388608T"), BadInput);
}

TEST_CASE("ranges double") {
  CHECK(parse_sizes("1:8") == std::vector<std::int64_t>{1, 2, 4, 8});
  CHECK(parse_sizes("3:20,1,0") == std::vector<std::int64_t>{3, 6, 12, 1, 0});
  CHECK(parse_sizes("1K:2K") == std::vector<std::int64_t>{1024, 2048});
  // The last doubling would pass 63 bits.
  CHECK(parse_sizes("4611686018427387904:9223372036854775807").size() == 1);
  for (const char* wrong : {"0:4", "8:1", "1:", ":4", "1,,2", "1:2:3"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(parse_sizes(wrong), BadInput);
  }
}
