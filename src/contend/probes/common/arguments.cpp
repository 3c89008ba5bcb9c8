#include "common/arguments.hpp"

#include <algorithm>

#include "common/check.hpp"

namespace contend::probe {

namespace {

// The shortest number of changes from one word to another, for "did you mean".
std::size_t changes(const std::string& from, const std::string& to) {
  std::vector<std::size_t> row(to.size() + 1);
  for (std::size_t column = 0; column <= to.size(); ++column) {
    row[column] = column;
  }
  for (std::size_t line = 1; line <= from.size(); ++line) {
    std::size_t diagonal = row[0];
    row[0] = line;
    for (std::size_t column = 1; column <= to.size(); ++column) {
      const std::size_t above = row[column];
      const std::size_t same = diagonal + (from[line - 1] == to[column - 1] ? 0 : 1);
      row[column] = std::min({same, above + 1, row[column - 1] + 1});
      diagonal = above;
    }
  }
  return row.back();
}

std::string nearest(const std::string& word, const std::vector<std::string>& known) {
  const auto best = std::min_element(known.begin(), known.end(), [&](const auto& a, const auto& b) {
    return changes(word, a) < changes(word, b);
  });
  // A word of which hardly a letter is right was meant for something else.
  const std::size_t most = std::min<std::size_t>(2, word.size() / 3);
  const bool near = best != known.end() && changes(word, *best) <= most;
  return near ? ", did you mean '" + *best + "'?" : "";
}

void refuse_unknown(const std::string& word, const std::vector<std::string>& choices) {
  if (choices.empty() || std::find(choices.begin(), choices.end(), word) != choices.end()) {
    return;
  }
  std::string list;
  for (const std::string& choice : choices) {
    list += (list.empty() ? "" : ", ") + choice;
  }
  const std::string hint = nearest(word, choices);
  throw BadInput("got '" + word + "'" + (hint.empty() ? ", expected one of " + list : hint));
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
    std::vector<std::string> names;
    for (const Option& one : options_) {
      names.push_back(one.name);
    }
    throw BadInput("no such option --" + name + nearest(name, names));
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
      case Kind::size:
        static_cast<void>(parse_size(value));
        break;
      case Kind::words:
      case Kind::integers:
      case Kind::sizes:
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

std::int64_t Arguments::size(const std::string& name) const { return parse_size(text(name)); }

double Arguments::number(const std::string& name) const { return parse_number(text(name), true); }

std::vector<Label> Arguments::labels(const std::string& name) const {
  return parse_labels(option(name), text(name));
}

std::vector<Label> parse_labels(const Option& option, const std::string& text) {
  std::vector<Label> labels;
  if (option.kind == Kind::size || option.kind == Kind::sizes) {
    for (const std::int64_t size : parse_sizes(text)) {
      labels.emplace_back(size);
    }
    return labels;
  }
  if (option.kind == Kind::words && text == "all" && !option.choices.empty()) {
    labels.assign(option.choices.begin(), option.choices.end());
    return labels;
  }
  for (const std::string& part : split_text(text, ',')) {
    if (option.kind == Kind::integer || option.kind == Kind::integers) {
      labels.emplace_back(parse_integer(part, 0));
    } else {
      if (part.empty()) {
        throw BadInput("expected words with commas between, got '" + text + "'");
      }
      refuse_unknown(part, option.choices);
      labels.emplace_back(part);
    }
  }
  return labels;
}

}  // namespace contend::probe
