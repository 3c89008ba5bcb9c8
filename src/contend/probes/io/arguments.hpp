#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/operation.hpp"

namespace contend::probe {

/// Something on the command line, or in a file that it names, is not as it should be.
class BadInput : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The parts of a text between a separator's places; one empty part for an empty text.
[[nodiscard]] std::vector<std::string> split_text(const std::string& text, char separator);

/// A whole number of at least `least`. Throws BadInput.
[[nodiscard]] std::int64_t parse_integer(const std::string& text, std::int64_t least);

/// A number above zero, or zero when that is allowed. Throws BadInput.
[[nodiscard]] double parse_number(const std::string& text, bool zero_allowed);

/// What may stand behind an option.
enum class Kind {
  flag,      ///< nothing
  word,      ///< one of the choices, or any text where there are none
  words,     ///< several of them, with commas; "all" for every choice
  integer,   ///< a whole number from 0
  integers,  ///< several, with commas
  number     ///< a number from 0
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

/// Every combination of the axes' values, the last axis fastest.
[[nodiscard]] std::vector<Cell> cross_product(const std::vector<Option>& axes,
                                              const Arguments& arguments);

/// The cells of a file's text: a line for each, its words the values of the axes in order.
///
/// A line may leave out the first axes: those come from their options, each combination a cell.
/// Empty lines and what follows a # are passed over. `source` names the file in messages.
/// Throws BadInput: "FILE:LINE: expected X, got Y".
[[nodiscard]] std::vector<Cell> parse_cells(const std::string& text, const std::string& source,
                                            const std::vector<Option>& axes,
                                            const Arguments& arguments);

/// Takes out the cells that a file's text names: a line for each kind of them, its words
/// NAME=VALUE.
///
/// A cell goes when it has all labels of a line. Empty lines and what follows a # are passed over.
/// `source` names the file in messages. Throws BadInput: "FILE:LINE: expected X, got Y".
void leave_out(std::vector<Cell>& cells, const std::string& text, const std::string& source);

/// Brings cells into an order that the seed decides, the same on all ranks; 0 leaves them. Cells
/// that differ in the label `together` alone follow each other, so that a budget ends after all.
void shuffle(std::vector<Cell>& cells, std::uint64_t seed, const std::string& together = "");

}  // namespace contend::probe
