#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace contend {

/// A request that cannot be met: arrays that do not fit together, a number out of range.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Something in a file that is not what it should be, at a line counted from 1 (0: the whole file).
class InputError : public Error {
 public:
  InputError(std::size_t line, std::string expected, std::string got)
      : Error("line " + std::to_string(line) + ": expected " + expected + ", got " + got),
        line_(line),
        expected_(std::move(expected)),
        got_(std::move(got)) {}

  std::size_t line() const { return line_; }
  const std::string& expected() const { return expected_; }
  const std::string& got() const { return got_; }

 private:
  std::size_t line_;
  std::string expected_;
  std::string got_;
};

}  // namespace contend
