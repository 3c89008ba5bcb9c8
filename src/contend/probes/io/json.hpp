#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/operation.hpp"

namespace contend::probe {

/// A number with as many digits as bring it back; "null" for what JSON has no word for.
[[nodiscard]] std::string json_number(double value);
/// A text between quotation marks. Bytes that are no UTF-8 become U+FFFD.
[[nodiscard]] std::string json_text(const std::string& text);

/// Writes one JSON object, member after member.
class JsonObject {
 public:
  JsonObject& text(const std::string& name, const std::string& value);
  JsonObject& integer(const std::string& name, std::int64_t value);
  JsonObject& number(const std::string& name, double value);
  JsonObject& truth(const std::string& name, bool value);
  JsonObject& null(const std::string& name);
  JsonObject& label(const std::string& name, const Label& value);
  JsonObject& texts(const std::string& name, const std::vector<std::string>& values);
  JsonObject& integers(const std::string& name, const std::vector<std::int64_t>& values);
  JsonObject& numbers(const std::string& name, const std::vector<double>& values);

  /// The whole object as text.
  [[nodiscard]] std::string str() const { return members_ + "}"; }

 private:
  JsonObject& member(const std::string& name, const std::string& value);

  std::string members_ = "{";
};

}  // namespace contend::probe
