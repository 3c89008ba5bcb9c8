#include "io/arguments.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "common/random.hpp"
#include "common/ranks.hpp"

namespace contend::probe {

std::vector<std::string> split_text(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char letter : text) {
    if (letter == separator) {
      parts.emplace_back();
    } else {
      parts.back() += letter;
    }
  }
  return parts;
}

std::int64_t parse_integer(const std::string& text, std::int64_t least) {
  const std::string expected = "expected a whole number of at least " + std::to_string(least);
  errno = 0;
  char* end = nullptr;
  const long long value = std::strtoll(text.c_str(), &end, 10);
  const bool digits = !text.empty() && std::isspace(static_cast<unsigned char>(text[0])) == 0;
  if (!digits || *end != '\0' || errno != 0 || value < least) {
    throw BadInput(expected + ", got '" + text + "'");
  }
  return value;
}

double parse_number(const std::string& text, bool zero_allowed) {
  errno = 0;
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const bool digits = !text.empty() && std::isspace(static_cast<unsigned char>(text[0])) == 0;
  const bool good = digits && *end == '\0' && errno == 0 && std::isfinite(value);
  if (!good || value < 0.0 || (value == 0.0 && !zero_allowed)) {
    throw BadInput("expected a number " + std::string(zero_allowed ? "of at least" : "above") +
                   " 0, got '" + text + "'");
  }
  return value;
}

namespace {

void refuse_unknown(const std::string& word, const std::vector<std::string>& choices) {
  if (choices.empty() || std::find(choices.begin(), choices.end(), word) != choices.end()) {
    return;
  }
  std::string list;
  for (const std::string& choice : choices) {
    list += (list.empty() ? "" : ", ") + choice;
  }
  throw BadInput("expected one of " + list + ", got '" + word + "'");
}

}  // namespace

Arguments::Arguments(std::vector<Option> options, const std::vector<std::string>& words)
    : options_(std::move(options)) {
  for (const Option& option : options_) {
    values_[option.name] = option.standard;
  }
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (word.compare(0, 2, "--") != 0 || word.size() == 2) {
      throw BadInput("expected an option that begins with --, got '" + word + "'");
    }
    const std::size_t sign = word.find('=');
    const std::string name = word.substr(2, sign == std::string::npos ? sign : sign - 2);
    const Option& found = option(name);
    if (found.kind == Kind::flag) {
      if (sign != std::string::npos) {
        throw BadInput("--" + name + " takes no value");
      }
      given_[name] = true;
    } else if (sign != std::string::npos) {
      take(found, word.substr(sign + 1));
    } else if (at + 1 < words.size()) {
      take(found, words[++at]);
    } else {
      throw BadInput("--" + name + " needs a value");
    }
  }
}

const Option& Arguments::option(const std::string& name) const {
  const auto found = std::find_if(options_.begin(), options_.end(),
                                  [&](const Option& one) { return one.name == name; });
  if (found == options_.end()) {
    throw BadInput("no such option --" + name + "; --help lists them");
  }
  return *found;
}

void Arguments::take(const Option& option, const std::string& value) {
  try {
    switch (option.kind) {
      case Kind::flag:
        break;
      case Kind::word:
        refuse_unknown(value, option.choices);
        break;
      case Kind::integer:
        static_cast<void>(parse_integer(value, 0));
        break;
      case Kind::number:
        static_cast<void>(parse_number(value, true));
        break;
      case Kind::words:
      case Kind::integers:
        static_cast<void>(parse_labels(option, value));
        break;
    }
  } catch (const BadInput& problem) {
    throw BadInput("--" + option.name + ": " + problem.what());
  }
  values_[option.name] = value;
  given_[option.name] = true;
}

bool Arguments::given(const std::string& name) const { return given_.count(name) != 0; }

const std::string& Arguments::text(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) {
    fail("the probe has no option --" + name);
  }
  return found->second;
}

std::int64_t Arguments::integer(const std::string& name) const {
  return parse_integer(text(name), 0);
}

double Arguments::number(const std::string& name) const { return parse_number(text(name), true); }

std::vector<Label> Arguments::labels(const std::string& name) const {
  return parse_labels(option(name), text(name));
}

std::vector<Label> parse_labels(const Option& option, const std::string& text) {
  std::vector<Label> labels;
  if (option.kind == Kind::words && text == "all" && !option.choices.empty()) {
    labels.assign(option.choices.begin(), option.choices.end());
    return labels;
  }
  for (const std::string& part : split_text(text, ',')) {
    if (option.kind == Kind::integer || option.kind == Kind::integers) {
      labels.emplace_back(parse_integer(part, 0));
    } else {
      if (part.empty()) {
        throw BadInput("expected words separated by commas, got '" + text + "'");
      }
      refuse_unknown(part, option.choices);
      labels.emplace_back(part);
    }
  }
  return labels;
}

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
    throw BadInput(source + ": expected at least one cell, got none");
  }
  return cells;
}

void leave_out(std::vector<Cell>& cells, const std::string& text, const std::string& source) {
  std::istringstream stream(text);
  int number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    const std::vector<std::string> words = words_in(line);
    for (const std::string& word : words) {
      if (word.find('=') == std::string::npos) {
        throw BadInput(source + ":" + std::to_string(number) + ": expected NAME=VALUE, got '" +
                       word + "'");
      }
    }
    const auto is_named = [&](const Cell& cell) {
      return std::all_of(words.begin(), words.end(), [&](const std::string& word) {
        return std::any_of(cell.labels.begin(), cell.labels.end(), [&](const auto& label) {
          return word == label.first + "=" + words_of(label.second);
        });
      });
    };
    if (!words.empty()) {
      cells.erase(std::remove_if(cells.begin(), cells.end(), is_named), cells.end());
    }
  }
  if (cells.empty()) {
    throw BadInput(source + ": expected a cell to be left, got none");
  }
}

void shuffle(std::vector<Cell>& cells, std::uint64_t seed, const std::string& together) {
  if (seed == 0) {
    return;
  }
  Random random(seed);
  for (std::size_t left = cells.size(); left > 1; --left) {
    std::swap(cells[left - 1], cells[random.below(left)]);
  }
  if (together.empty()) {
    return;
  }
  const auto others = [&](Cell cell) {
    cell.labels.erase(std::remove_if(cell.labels.begin(), cell.labels.end(),
                                     [&](const auto& label) { return label.first == together; }),
                      cell.labels.end());
    return cell.labels;
  };
  for (auto at = cells.begin(); at != cells.end();) {
    at = std::stable_partition(at, cells.end(), [&, wanted = others(*at)](const Cell& cell) {
      return others(cell) == wanted;
    });
  }
}

}  // namespace contend::probe
