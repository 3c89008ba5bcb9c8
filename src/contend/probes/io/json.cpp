#include "io/json.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace contend::probe {

namespace {

// The length of the UTF-8 letter that starts here; 0 when there is none.
std::size_t letter_length(const std::string& text, std::size_t at) {
  const auto byte = [&](std::size_t place) { return static_cast<unsigned char>(text[place]); };
  const unsigned char first = byte(at);
  const std::size_t length = first < 0x80                      ? 1
                             : (first >= 0xC2 && first < 0xE0) ? 2
                             : (first >= 0xE0 && first < 0xF0) ? 3
                             : (first >= 0xF0 && first < 0xF5) ? 4
                                                               : 0;
  if (length == 0 || at + length > text.size()) {
    return 0;
  }
  for (std::size_t next = at + 1; next < at + length; ++next) {
    if ((byte(next) & 0xC0U) != 0x80U) {
      return 0;
    }
  }
  // Too long forms, halves of surrogate pairs, and what lies beyond Unicode.
  if (length > 2) {
    const unsigned char second = byte(at + 1);
    if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second >= 0xA0) ||
        (first == 0xF0 && second < 0x90) || (first == 0xF4 && second >= 0x90)) {
      return 0;
    }
  }
  return length;
}

template <class Values, class Write>
std::string json_list(const Values& values, Write write) {
  std::string list = "[";
  for (const auto& value : values) {
    if (list.size() > 1) {
      list += ",";
    }
    list += write(value);
  }
  return list + "]";
}

}  // namespace

std::string json_number(double value) {
  if (!std::isfinite(value)) {
    return "null";
  }
  char digits[32];
  for (const int precision : {15, 17}) {
    std::snprintf(digits, sizeof digits, "%.*g", precision, value);
    if (std::strtod(digits, nullptr) == value) {
      break;
    }
  }
  return digits;
}

std::string json_text(const std::string& text) {
  std::string quoted = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = letter_length(text, at);
    const char letter = text[at];
    if (length == 0) {
      quoted += "\\ufffd";
    } else if (letter == '"' || letter == '\\') {
      quoted += '\\';
      quoted += letter;
    } else if (static_cast<unsigned char>(letter) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(letter));
      quoted += code;
    } else {
      quoted.append(text, at, length);
    }
    at += length == 0 ? 1 : length;
  }
  return quoted + "\"";
}

JsonObject& JsonObject::member(const std::string& name, const std::string& value) {
  if (members_.size() > 1) {
    members_ += ",";
  }
  members_ += json_text(name) + ":" + value;
  return *this;
}

JsonObject& JsonObject::text(const std::string& name, const std::string& value) {
  return member(name, json_text(value));
}

JsonObject& JsonObject::integer(const std::string& name, std::int64_t value) {
  return member(name, std::to_string(value));
}

JsonObject& JsonObject::number(const std::string& name, double value) {
  return member(name, json_number(value));
}

JsonObject& JsonObject::truth(const std::string& name, bool value) {
  return member(name, value ? "true" : "false");
}

JsonObject& JsonObject::null(const std::string& name) { return member(name, "null"); }

JsonObject& JsonObject::label(const std::string& name, const Label& value) {
  const bool quoted = std::holds_alternative<std::string>(value);
  return member(name, quoted ? json_text(std::get<std::string>(value)) : words_of(value));
}

JsonObject& JsonObject::texts(const std::string& name, const std::vector<std::string>& values) {
  return member(name, json_list(values, json_text));
}

JsonObject& JsonObject::integers(const std::string& name, const std::vector<std::int64_t>& values) {
  return member(name, json_list(values, [](std::int64_t value) { return std::to_string(value); }));
}

JsonObject& JsonObject::numbers(const std::string& name, const std::vector<double>& values) {
  return member(name, json_list(values, json_number));
}

}  // namespace contend::probe
