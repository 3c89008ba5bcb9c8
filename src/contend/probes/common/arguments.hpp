#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/operation.hpp"
#include "common/sizes.hpp"

namespace contend::probe {

/// What may stand behind an option.
enum class Kind {
  flag,      ///< nothing
  word,      ///< one of the choices, or any text where there are none
  words,     ///< several of them, with commas; "all" for every choice
  integer,   ///< a whole number from 0
  integers,  ///< several, with commas
  number,    ///< a number from 0
  size,      ///< bytes: 4K
  sizes      ///< several sizes or ranges: 1,2,4K:1M
};

/// An option of the command line.
struct Option {
  /// Without its dashes.
  std::string name;
  Kind kind;
  /// What is taken when it is not given; "" for nothing.
  std::string standard;
  /// What it does, in a line or two.
  std::string help;
  /// The words that are allowed.
  std::vector<std::string> choices = {};
};

/// A command line against its options.
class Arguments {
 public:
  /// Throws BadInput with a message for the user.
  Arguments(std::vector<Option> options, const std::vector<std::string>& words);

  [[nodiscard]] bool given(const std::string& name) const;
  [[nodiscard]] bool flag(const std::string& name) const { return given(name); }
  [[nodiscard]] const std::string& text(const std::string& name) const;
  [[nodiscard]] std::int64_t integer(const std::string& name) const;
  [[nodiscard]] std::int64_t size(const std::string& name) const;
  [[nodiscard]] double number(const std::string& name) const;
  /// All values of an option that takes several, as labels of cells.
  [[nodiscard]] std::vector<Label> labels(const std::string& name) const;

 private:
  [[nodiscard]] const Option& option(const std::string& name) const;
  void take(const Option& option, const std::string& value);

  std::vector<Option> options_;
  std::map<std::string, std::string> values_;
  std::map<std::string, bool> given_;
};

/// The values that a text stands for, as labels. Throws BadInput.
[[nodiscard]] std::vector<Label> parse_labels(const Option& option, const std::string& text);

/// A page about options: each with what it takes, what it does, and what it is by itself.
[[nodiscard]] std::string describe(const std::vector<Option>& options);

}  // namespace contend::probe
