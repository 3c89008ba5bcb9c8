#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/arguments.hpp"
#include "common/operation.hpp"

namespace contend::probe {

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

/// Brings cells into an order that the seed decides, the same on all ranks; 0 leaves them.
void shuffle(std::vector<Cell>& cells, std::uint64_t seed);

}  // namespace contend::probe
