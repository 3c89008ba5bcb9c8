#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

#include "contend/base/error.hpp"

namespace contend {

/// One line of a file, without its end; the text is valid only while it is handed out.
struct Line {
  std::string_view text;
  std::size_t number;  ///< counted from 1
  bool ended;          ///< false for a last line without a line end, which may have been cut
};

/// Cuts a stream of chunks into lines, wherever the chunks begin and end. Accepts LF and CRLF,
/// drops a byte order mark, passes every other byte on. Cost: one search for LF per line; only a
/// line that spans chunks is copied, so memory is bounded by the longest line that is allowed.
class LineSplitter {
 public:
  /// Lines longer than `longest` bytes are an InputError.
  explicit LineSplitter(std::size_t longest = 65536) : longest_(longest) {}

  /// Calls `each(const Line&)` for every line that ends in this chunk.
  template <class Each>
  void feed(std::string_view chunk, Each&& each) {
    while (!chunk.empty()) {
      const void* found = std::memchr(chunk.data(), '\n', chunk.size());
      const std::size_t length =
          found ? static_cast<std::size_t>(static_cast<const char*>(found) - chunk.data())
                : chunk.size();
      if (length > longest_ - carried_.size()) too_long();
      if (!found) {
        carried_.append(chunk);
        return;
      }
      if (carried_.empty()) {
        hand_out(chunk.substr(0, length), true, each);
      } else {
        carried_.append(chunk.substr(0, length));
        hand_out(carried_, true, each);
        carried_.clear();
      }
      chunk.remove_prefix(length + 1);
    }
  }

  /// Hands out a last line that has no line end.
  template <class Each>
  void finish(Each&& each) {
    if (carried_.empty()) return;
    hand_out(carried_, false, each);
    carried_.clear();
  }

 private:
  template <class Each>
  void hand_out(std::string_view text, bool ended, Each&& each) {
    ++number_;
    if (number_ == 1 && text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    while (!text.empty() && text.back() == '\r') text.remove_suffix(1);
    each(Line{text, number_, ended});
  }

  [[noreturn]] void too_long() const {
    throw InputError(number_ + 1, "a line of at most " + std::to_string(longest_) + " bytes",
                     "a longer one");
  }

  std::size_t longest_;
  std::size_t number_ = 0;
  std::string carried_;
};

}  // namespace contend
