#include "common/cells.hpp"

#include <sstream>
#include <utility>

#include "common/random.hpp"

namespace contend::probe {

namespace {

std::vector<Cell> combine(const std::vector<Option>& axes,
                          const std::vector<std::vector<Label>>& values) {
  std::vector<Cell> cells(1);
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    std::vector<Cell> longer;
    for (const Cell& cell : cells) {
      for (const Label& value : values[axis]) {
        longer.push_back(cell);
        longer.back().labels.emplace_back(axes[axis].name, value);
      }
    }
    cells = std::move(longer);
  }
  return cells;
}

std::vector<std::string> words_in(std::string line) {
  line.erase(line.find('#') == std::string::npos ? line.size() : line.find('#'));
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) {
    words.push_back(word);
  }
  return words;
}

}  // namespace

std::vector<Cell> cross_product(const std::vector<Option>& axes, const Arguments& arguments) {
  std::vector<std::vector<Label>> values;
  for (const Option& axis : axes) {
    values.push_back(arguments.labels(axis.name));
  }
  return combine(axes, values);
}

std::vector<Cell> parse_cells(const std::string& text, const std::string& source,
                              const std::vector<Option>& axes, const Arguments& arguments) {
  std::vector<Cell> cells;
  std::istringstream stream(text);
  int number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    const std::vector<std::string> words = words_in(line);
    if (words.empty()) {
      continue;
    }
    const std::string place = source + ":" + std::to_string(number) + ": ";
    if (words.size() > axes.size()) {
      throw BadInput(place + "expected at most " + std::to_string(axes.size()) + " words, got " +
                     std::to_string(words.size()));
    }
    const std::size_t left_out = axes.size() - words.size();
    std::vector<std::vector<Label>> values;
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
      try {
        values.push_back(axis < left_out ? arguments.labels(axes[axis].name)
                                         : parse_labels(axes[axis], words[axis - left_out]));
      } catch (const BadInput& problem) {
        throw BadInput(place + problem.what());
      }
    }
    for (Cell& cell : combine(axes, values)) {
      cells.push_back(std::move(cell));
    }
  }
  if (cells.empty()) {
    throw BadInput(source + ": expected a cell a line, got none");
  }
  return cells;
}

void shuffle(std::vector<Cell>& cells, std::uint64_t seed) {
  if (seed == 0) {
    return;
  }
  Random random(seed);
  for (std::size_t left = cells.size(); left > 1; --left) {
    std::swap(cells[left - 1], cells[random.below(left)]);
  }
}

}  // namespace contend::probe
