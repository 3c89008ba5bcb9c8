#include "common/operation.hpp"

#include <algorithm>
#include <new>

#include "common/ranks.hpp"
#include "io/json.hpp"
#include "timing/clock.hpp"
#include "timing/waiting.hpp"

namespace contend::probe {

std::string words_of(const Label& label) {
  if (const auto* text = std::get_if<std::string>(&label)) {
    return *text;
  }
  if (const auto* whole = std::get_if<std::int64_t>(&label)) {
    return std::to_string(*whole);
  }
  return json_number(std::get<double>(label));
}

const Label& Cell::at(const std::string& name) const {
  const auto found = std::find_if(labels.begin(), labels.end(),
                                  [&](const auto& label) { return label.first == name; });
  if (found == labels.end()) {
    fail("a cell has no label '" + name + "'");
  }
  return found->second;
}

std::int64_t Cell::integer(const std::string& name) const {
  const auto* value = std::get_if<std::int64_t>(&at(name));
  if (value == nullptr) {
    fail("a cell's label '" + name + "' is not a whole number");
  }
  return *value;
}

const std::string& Cell::text(const std::string& name) const {
  const auto* value = std::get_if<std::string>(&at(name));
  if (value == nullptr) {
    fail("a cell's label '" + name + "' is not text");
  }
  return *value;
}

std::string Cell::name() const {
  std::string line;
  for (const auto& [name, label] : labels) {
    line += (line.empty() ? "" : " ") + words_of(label);
  }
  return line;
}

void Stamps::mark() { values_.push_back({true, local_now(), 0.0}); }

void Stamps::add(double seconds) { values_.push_back({false, 0, seconds}); }

void Stamps::clear(std::size_t expected) {
  values_.clear();
  values_.reserve(expected);
}

void agree(bool has_memory, MPI_Comm comm) {
  const int mine = has_memory ? 1 : 0;
  int all = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  CHECKED(MPI_Iallreduce, &mine, &all, 1, MPI_INT, MPI_MIN, comm, &request);
  wait(request);
  if (all == 0) {
    throw std::bad_alloc();
  }
}

}  // namespace contend::probe
