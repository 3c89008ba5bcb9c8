#include "common/sizes.hpp"

#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace contend::probe {

namespace {

constexpr std::int64_t kLargestSize = std::numeric_limits<std::int64_t>::max();

// How many bits a unit shifts by; -1 when it is none.
int shift_of(std::string unit) {
  for (char& letter : unit) {
    letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  }
  if (unit.empty() || unit == "B") {
    return 0;
  }
  const std::size_t place = std::string("KMGT").find(unit.front());
  const std::string rest = unit.substr(1);
  const bool known = rest.empty() || rest == "B" || rest == "IB";
  return place == std::string::npos || !known ? -1 : 10 * (static_cast<int>(place) + 1);
}

}  // namespace

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

std::int64_t parse_size(const std::string& text) {
  const std::string problem = "expected a size such as 512, 4K or 1M, got '" + text + "'";
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text.front())) == 0) {
    throw BadInput(problem);
  }
  errno = 0;
  char* end = nullptr;
  const long long digits = std::strtoll(text.c_str(), &end, 10);
  const int shift = shift_of(end);
  if (shift < 0) {
    throw BadInput(problem);
  }
  if (errno != 0 || digits > (kLargestSize >> shift)) {
    throw BadInput("'" + text + "' is more bytes than 64 bits can count");
  }
  return static_cast<std::int64_t>(digits) << shift;
}

std::vector<std::int64_t> parse_sizes(const std::string& text) {
  std::vector<std::int64_t> sizes;
  for (const std::string& part : split_text(text, ',')) {
    const std::size_t colon = part.find(':');
    if (colon == std::string::npos) {
      sizes.push_back(parse_size(part));
      continue;
    }
    const std::int64_t first = parse_size(part.substr(0, colon));
    const std::int64_t last = parse_size(part.substr(colon + 1));
    if (first < 1 || last < first) {
      throw BadInput("expected a range that doubles from at least 1, such as 1:1M, got '" + part +
                     "'");
    }
    for (std::int64_t size = first; size <= last; size *= 2) {
      sizes.push_back(size);
      if (size > kLargestSize / 2) {
        break;
      }
    }
  }
  return sizes;
}

}  // namespace contend::probe
