#include "io/pattern_file.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "common/ranks.hpp"
#include "timing/waiting.hpp"

namespace contend::probe {

namespace {

constexpr int bad_input = 2;

/// Takes the next word off a line; empty at its end.
std::string_view next_word(std::string_view& rest) {
  const std::size_t begin = rest.find_first_not_of(" \t\r,");
  if (begin == std::string_view::npos) {
    rest = {};
    return {};
  }
  const std::size_t end = std::min(rest.find_first_of(" \t\r,", begin), rest.size());
  const std::string_view word = rest.substr(begin, end - begin);
  rest.remove_prefix(end);
  return word;
}

// Numbers that rank 0 has in memory at a time.
constexpr int kAtATime = 1 << 20;

/// Some patterns of all ranks, those of a rank together: whom it sends to and whom it receives
/// from.
class Part {
 public:
  Part(int ranks, int most) : ranks_(ranks), most_(most) {}

  [[nodiscard]] int numbers_of_rank() const { return 2 * most_; }
  [[nodiscard]] const int* data() const { return numbers_.data(); }

  /// Takes as many patterns of a file as there is room for, and says how many.
  int fill(PatternFile& file) {
    numbers_.assign(static_cast<std::size_t>(ranks_) * 2 * static_cast<std::size_t>(most_), -1);
    std::vector<int> destination;
    int patterns = 0;
    while (patterns < most_ && file.next(destination)) {
      for (int source = 0; source < ranks_; ++source) {
        if (const int to = destination[static_cast<std::size_t>(source)]; to >= 0) {
          at(source, patterns) = to;
          at(to, most_ + patterns) = source;
        }
      }
      ++patterns;
    }
    return patterns;
  }

 private:
  int& at(int rank, int place) {
    return numbers_[static_cast<std::size_t>(rank) * 2 * static_cast<std::size_t>(most_) +
                    static_cast<std::size_t>(place)];
  }

  int ranks_;
  int most_;
  std::vector<int> numbers_;
};

/// Hands every rank its numbers. Collective.
void hand_out(const int* all, std::vector<int>& own, int& patterns, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  CHECKED(MPI_Ibcast, &patterns, 1, MPI_INT, 0, comm, &request);
  wait(request);
  const int count = static_cast<int>(own.size());
  CHECKED(MPI_Iscatter, all, count, MPI_INT, own.data(), count, MPI_INT, 0, comm, &request);
  wait(request);
}

}  // namespace

PatternFile::PatternFile(std::string path, int ranks)
    : path_(std::move(path)), file_(path_), ranks_(ranks) {
  if (!file_) {
    fail(path_ + ": cannot be read", bad_input);
  }
}

std::int64_t PatternFile::count() {
  rewind();
  std::vector<int> destination;
  std::int64_t found = 0;
  while (next(destination)) {
    ++found;
  }
  rewind();
  return found;
}

bool PatternFile::next(std::vector<int>& destination) {
  do {
    if (!std::getline(file_, line_)) {
      return false;
    }
    ++line_number_;
  } while (line_.empty() || line_.front() == '#');
  const auto ranks = static_cast<std::size_t>(ranks_);
  destination.clear();
  receives_.assign(ranks, 0);
  std::string_view rest = line_;
  for (std::string_view word = next_word(rest); !word.empty(); word = next_word(rest)) {
    int to = -1;
    if (word != "-") {
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), to);
      if (error != std::errc() || end != word.data() + word.size() || to < 0 || to >= ranks_) {
        refuse("a rank below " + std::to_string(ranks_) + " or -", std::string(word));
      }
      if (std::exchange(receives_[static_cast<std::size_t>(to)], 1) != 0) {
        refuse("each rank as a destination once", std::string(word) + " again");
      }
      if (static_cast<std::size_t>(to) == destination.size()) {
        refuse("no rank sending to itself", std::string(word));
      }
    }
    destination.push_back(to);
  }
  if (destination.size() != ranks) {
    refuse(std::to_string(ranks) + " destinations", std::to_string(destination.size()));
  }
  return true;
}

void PatternFile::rewind() {
  file_.clear();
  file_.seekg(0);
  line_number_ = 0;
}

void PatternFile::refuse(const std::string& expected, const std::string& got) const {
  fail(path_ + ":" + std::to_string(line_number_) + ": expected " + expected + ", got " + got,
       bad_input);
}

PatternParts read_parts(const std::string& path, MPI_Comm comm) {
  const int rank = rank_in(comm);
  const int ranks = size_of(comm);
  const int most = std::max(1, kAtATime / 2 / ranks);
  Part part(ranks, most);
  std::optional<PatternFile> file;
  if (rank == 0) {
    file.emplace(path, ranks);
  }
  PatternParts made;
  std::vector<int> own(static_cast<std::size_t>(part.numbers_of_rank()));
  for (int patterns = most; patterns == most;) {
    if (file) {
      patterns = part.fill(*file);
    }
    hand_out(part.data(), own, patterns, comm);
    made.to.insert(made.to.end(), own.begin(), own.begin() + patterns);
    made.from.insert(made.from.end(), own.begin() + most, own.begin() + most + patterns);
  }
  return made;
}

}  // namespace contend::probe
