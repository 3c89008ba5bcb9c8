#include "pingpong/messages.hpp"

#include <mpi.h>
#include <algorithm>
#include <limits>
#include <new>

#include "io/arguments.hpp"

namespace contend::probe::pingpong {

namespace {

const std::string kAllShifts = "all-shifts";
const std::string kShift = "shift-";

// The two ranks of "A-B".
std::vector<std::int64_t> ends_of(const std::string& pair, int ranks) {
  std::vector<std::int64_t> ends;
  const std::vector<std::string> words = split_text(pair, '-');
  try {
    for (const std::string& word : words) {
      ends.push_back(parse_integer(word, 0));
    }
  } catch (const BadInput&) {
    ends.clear();
  }
  const bool good = ends.size() == 2 && ends[0] != ends[1];
  if (!good) {
    throw BadInput("--pairs: expected two ranks such as 0-1, or " + kAllShifts + ", got '" + pair +
                   "'");
  }
  if (ends[0] >= ranks || ends[1] >= ranks) {
    throw BadInput("--pairs: expected ranks below " + std::to_string(ranks) +
                   ", the number of ranks, got '" + pair + "'");
  }
  return ends;
}

}  // namespace

bool Partners::any() const { return to != MPI_PROC_NULL || from != MPI_PROC_NULL; }

std::vector<std::string> name_pairs(const std::string& text, int ranks) {
  std::vector<std::string> names;
  for (const std::string& word : split_text(text, ',')) {
    if (word != kAllShifts) {
      static_cast<void>(ends_of(word, ranks));
      names.push_back(word);
      continue;
    }
    for (int shift = 1; shift <= ranks / 2; ++shift) {
      names.push_back(kShift + std::to_string(shift));
    }
  }
  return names;
}

Partners partners_in(const std::string& pairs, int rank, int ranks) {
  if (pairs.compare(0, kShift.size(), kShift) == 0) {
    const int shift = static_cast<int>(parse_integer(pairs.substr(kShift.size()), 1));
    return {(rank + shift) % ranks, (rank - shift + ranks) % ranks};
  }
  const std::vector<std::int64_t> ends = ends_of(pairs, ranks);
  return {rank == ends[0] ? static_cast<int>(ends[1]) : MPI_PROC_NULL,
          rank == ends[1] ? static_cast<int>(ends[0]) : MPI_PROC_NULL};
}

namespace {

std::size_t whole(std::size_t bytes, std::size_t count) {
  if (count != 0 &&
      bytes > static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()) / count) {
    throw std::bad_alloc();
  }
  return bytes * count;
}

}  // namespace

Messages::Messages(int source, int destination, int way, std::size_t bytes, std::size_t count)
    : source_(source),
      destination_(destination),
      way_(way),
      bytes_(bytes),
      count_(count),
      own_(whole(bytes, count)),
      data_(own_.data()),
      right_(count > 0 ? bytes : 0) {
  for (std::size_t place = 0; place < right_.size(); ++place) {
    right_[place] = expected_byte(place);
  }
}

Messages::Messages(int source, int destination, int way, Messages& kept)
    : source_(source),
      destination_(destination),
      way_(way),
      bytes_(kept.bytes_),
      count_(kept.count_),
      data_(kept.data_),
      right_(kept.right_) {}

// Cheap, and different for neighbouring bytes, pages, ranks and ways.
unsigned char Messages::expected_byte(std::size_t place) const {
  const std::size_t mixed = place * 167 + (place >> 8U) * 13 + (place >> 16U) * 59 +
                            static_cast<std::size_t>(source_) * 31 +
                            static_cast<std::size_t>(destination_) * 101 +
                            static_cast<std::size_t>(way_) * 7;
  return static_cast<unsigned char>(mixed & 0xFFU);
}

void Messages::fill() {
  if (!own_.empty()) {
    std::copy(right_.begin(), right_.end(), data_);
    repeat_first();
  }
}

void Messages::clear() {
  if (!own_.empty()) {
    std::transform(right_.begin(), right_.end(), data_,
                   [](unsigned char byte) { return static_cast<unsigned char>(~byte); });
    repeat_first();
  }
}

void Messages::repeat_first() {
  for (std::size_t number = 1; number < count_; ++number) {
    std::copy_n(message(0), bytes_, message(number));
  }
}

std::optional<std::string> Messages::verify() const {
  const unsigned char* got = data_;
  for (std::size_t number = 0; number < count_; ++number) {
    const auto [wrong, expected] = std::mismatch(got, got + bytes_, right_.begin());
    got += bytes_;
    if (wrong != got) {
      return "byte " + std::to_string(expected - right_.begin()) + " of message " +
             std::to_string(number) + " from rank " + std::to_string(source_) + " is " +
             std::to_string(*wrong) + ", expected " + std::to_string(*expected);
    }
  }
  return std::nullopt;
}

}  // namespace contend::probe::pingpong
