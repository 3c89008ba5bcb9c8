#include <doctest/doctest.h>

#include <algorithm>
#include <utility>

#include "io/arguments.hpp"

using namespace contend::probe;

namespace {

const std::vector<Option> kAxes = {{"algorithm", Kind::words, "a", "", {"a", "b"}},
                                   {"bytes", Kind::integers, "1,2", ""}};

std::vector<std::string> names(const std::vector<Cell>& cells) {
  std::vector<std::string> all;
  for (const Cell& cell : cells) {
    all.push_back(cell.name());
  }
  return all;
}

std::string fault_of(const std::string& text) {
  try {
    static_cast<void>(parse_cells(text, "f", kAxes, Arguments(kAxes, {})));
  } catch (const BadInput& problem) {
    return problem.what();
  }
  return "";
}

}  // namespace

TEST_CASE("cells are every combination, the last axis fastest") {
  const Arguments arguments(kAxes, {"--algorithm", "all"});
  CHECK(names(cross_product(kAxes, arguments)) ==
        std::vector<std::string>{"a 1", "a 2", "b 1", "b 2"});
}

TEST_CASE("a line that leaves out the first axes takes them from their options") {
  const Arguments arguments(kAxes, {"--algorithm=all"});
  CHECK(names(parse_cells("4096\nb 1,2\n", "f", kAxes, arguments)) ==
        std::vector<std::string>{"a 4096", "b 4096", "b 1", "b 2"});
}

TEST_CASE("sizes are plain numbers that 63 bits hold") {
  CHECK(parse_integer("9223372036854775807", 0) == INT64_MAX);
  for (const char* wrong : {"", "4K", "1:8", " 1", "1.5", "0x10", "-1", "9223372036854775808"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(static_cast<void>(parse_integer(wrong, 0)), BadInput);
  }
}

TEST_CASE("a command line that is wrong is told what was expected") {
  const std::vector<Option> options = {{"algorithm", Kind::words, "a", "", {"good", "truth"}},
                                       {"bytes", Kind::integers, "1,2", ""},
                                       {"precision", Kind::number, "0.1", ""},
                                       {"seed", Kind::integer, "1", ""},
                                       {"verify", Kind::flag, "", ""}};
  const std::vector<std::pair<std::string, std::string>> faults = {
      {"8", "expected an option that begins with --, got '8'"},
      {"--byte 8", "no such option --byte; --help lists them"},
      {"--bytes", "--bytes needs a value"},
      {"--verify=yes", "--verify takes no value"},
      {"--bytes 4K", "--bytes: expected a whole number of at least 0, got '4K'"},
      {"--algorithm best", "--algorithm: expected one of good, truth, got 'best'"},
      {"--algorithm good,", "--algorithm: expected words separated by commas, got 'good,'"},
      {"--precision x", "--precision: expected a number of at least 0, got 'x'"},
      {"--seed -1", "--seed: expected a whole number of at least 0, got '-1'"}};
  for (const auto& [words, said] : faults) {
    CAPTURE(words);
    CHECK_THROWS_WITH_AS(Arguments(options, split_text(words, ' ')), said.c_str(), BadInput);
  }
}

TEST_CASE("faults name their line") {
  CHECK(fault_of("a 1\n\nc 1\n") == "f:3: expected one of a, b, got 'c'");
  CHECK(fault_of("a 1 2\n") == "f:1: expected at most 2 words, got 3");
  CHECK(fault_of("# none\n") == "f: expected at least one cell, got none");
}

TEST_CASE("cells that a file names are left out") {
  const Arguments arguments(kAxes, {"--algorithm=all", "--bytes=1,2"});
  const auto left = [&](const std::string& text) {
    std::vector<Cell> cells = cross_product(kAxes, arguments);
    try {
      leave_out(cells, text, "f");
    } catch (const BadInput& problem) {
      return std::vector<std::string>{problem.what()};
    }
    return names(cells);
  };
  CHECK(left("algorithm=a bytes=2\n\nbytes=1 # both of them\n") == std::vector<std::string>{"b 2"});
  CHECK(left("algorithm=c\nradix=2 bytes=1\n") ==
        std::vector<std::string>{"a 1", "a 2", "b 1", "b 2"});
  CHECK(left("bytes=1\nb\n") == std::vector<std::string>{"f:2: expected NAME=VALUE, got 'b'"});
  CHECK(left("bytes=1\nbytes=2\n") ==
        std::vector<std::string>{"f: expected a cell to be left, got none"});
}

TEST_CASE("the seed alone decides the order, and 0 keeps it") {
  const Arguments arguments(kAxes, {"--bytes", "1,2,4,8,16,32,64"});
  const std::vector<Cell> cells = cross_product(kAxes, arguments);
  std::vector<Cell> first = cells;
  std::vector<Cell> second = cells;
  shuffle(first, 3);
  shuffle(second, 3);
  CHECK(names(first) == names(second));
  CHECK(names(first) != names(cells));
  shuffle(second, 0);
  CHECK(names(first) == names(second));
  std::vector<std::string> sorted = names(first);
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::string> expected = names(cells);
  std::sort(expected.begin(), expected.end());
  CHECK(sorted == expected);
}

TEST_CASE("cells that differ in one label alone follow each other in any order") {
  const Arguments arguments(kAxes, {"--algorithm=all", "--bytes=1,2,4,8,16,32,64"});
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    std::vector<Cell> cells = cross_product(kAxes, arguments);
    shuffle(cells, seed, "algorithm");
    for (std::size_t index = 0; index < cells.size(); index += 2) {
      CHECK(cells[index].integer("bytes") == cells[index + 1].integer("bytes"));
      CHECK(cells[index].text("algorithm") != cells[index + 1].text("algorithm"));
    }
  }
}
