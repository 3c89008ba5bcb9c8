#include "io/pattern_file.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "common/ranks.hpp"

namespace contend::probe {

namespace {

constexpr int bad_input = 2;

/// Takes the next word off a line; empty at its end.
std::string_view next_word(std::string_view& rest) {
  const std::size_t begin = rest.find_first_not_of(" \t\r,");
  if (begin == std::string_view::npos) {
    rest = {};
    return {};
  }
  const std::size_t end = std::min(rest.find_first_of(" \t\r,", begin), rest.size());
  const std::string_view word = rest.substr(begin, end - begin);
  rest.remove_prefix(end);
  return word;
}

}  // namespace

PatternFile::PatternFile(std::string path, int ranks)
    : path_(std::move(path)), file_(path_), ranks_(ranks) {
  if (!file_) {
    fail(path_ + ": cannot be read", bad_input);
  }
}

std::int64_t PatternFile::count() {
  rewind();
  std::vector<int> destination;
  std::int64_t found = 0;
  while (next(destination)) {
    ++found;
  }
  rewind();
  return found;
}

bool PatternFile::next(std::vector<int>& destination) {
  do {
    if (!std::getline(file_, line_)) {
      return false;
    }
    ++line_number_;
  } while (line_.empty() || line_.front() == '#');
  const auto ranks = static_cast<std::size_t>(ranks_);
  destination.clear();
  receives_.assign(ranks, 0);
  std::string_view rest = line_;
  for (std::string_view word = next_word(rest); !word.empty(); word = next_word(rest)) {
    int to = -1;
    if (word != "-") {
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), to);
      if (error != std::errc() || end != word.data() + word.size() || to < 0 || to >= ranks_) {
        refuse("a rank below " + std::to_string(ranks_) + " or -", std::string(word));
      }
      if (std::exchange(receives_[static_cast<std::size_t>(to)], 1) != 0) {
        refuse("each rank as a destination once", std::string(word) + " again");
      }
      if (static_cast<std::size_t>(to) == destination.size()) {
        refuse("no rank sending to itself", std::string(word));
      }
    }
    destination.push_back(to);
  }
  if (destination.size() != ranks) {
    refuse(std::to_string(ranks) + " destinations", std::to_string(destination.size()));
  }
  return true;
}

void PatternFile::rewind() {
  file_.clear();
  file_.seekg(0);
  line_number_ = 0;
}

void PatternFile::refuse(const std::string& expected, const std::string& got) const {
  fail(path_ + ":" + std::to_string(line_number_) + ": expected " + expected + ", got " + got,
       bad_input);
}

}  // namespace contend::probe
