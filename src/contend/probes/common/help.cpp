#include <algorithm>

#include "common/arguments.hpp"

namespace contend::probe {

namespace {

constexpr std::size_t kWidth = 96;
constexpr std::size_t kIndent = 6;

const char* placeholder(Kind kind) {
  switch (kind) {
    case Kind::flag:
      return "";
    case Kind::word:
      return " WORD";
    case Kind::words:
      return " WORD,...";
    case Kind::integer:
      return " N";
    case Kind::integers:
      return " N,...";
    case Kind::number:
      return " X";
    case Kind::size:
      return " SIZE";
    case Kind::sizes:
      return " SIZE,...|FIRST:LAST";
  }
  return "";
}

// A text in lines that are not too long, each set in.
std::string set_in(const std::string& text) {
  std::string made;
  std::string line;
  for (const std::string& word : split_text(text, ' ')) {
    if (!line.empty() && kIndent + line.size() + 1 + word.size() > kWidth) {
      made += std::string(kIndent, ' ') + line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return made + std::string(kIndent, ' ') + line + "\n";
}

}  // namespace

std::string describe(const std::vector<Option>& options) {
  std::string page;
  for (const Option& option : options) {
    page += "  --" + option.name + placeholder(option.kind) + "\n";
    std::string about = option.help;
    if (!option.choices.empty()) {
      about += about.empty() ? "" : " ";
      about += "One of";
      for (const std::string& choice : option.choices) {
        about += " " + choice;
      }
      about += option.kind == Kind::words ? ", several, or all." : ".";
    }
    if (!option.standard.empty()) {
      about += " By itself: " + option.standard + ".";
    }
    page += set_in(about);
  }
  return page;
}

}  // namespace contend::probe
