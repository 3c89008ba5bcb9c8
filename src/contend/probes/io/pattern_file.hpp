#pragma once

#include <mpi.h>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace contend::probe {

/// Patterns of messages, one in a line: for every rank the rank that it sends to, or -.
///
/// Lines that begin with # are comments. One pattern is held at a time, so that a file may be of
/// any length. Rank 0 alone reads.
class PatternFile {
 public:
  /// Opens the file for patterns of so many ranks; ends the program when it cannot.
  PatternFile(std::string path, int ranks);

  /// The number of patterns; reads the whole file once and checks every line. O(length).
  [[nodiscard]] std::int64_t count();
  /// Reads the next pattern: destinations by rank, -1 where there is none. False at the end.
  bool next(std::vector<int>& destination);
  /// Goes back to the first pattern.
  void rewind();

 private:
  [[noreturn]] void refuse(const std::string& expected, const std::string& got) const;

  std::string path_;
  std::ifstream file_;
  std::string line_;
  std::vector<char> receives_;
  std::int64_t line_number_ = 0;
  int ranks_;
};

/// One rank's part of a file of patterns: in each the rank that it sends to and the rank that it
/// receives from, -1 for none.
struct PatternParts {
  std::vector<int> to;
  std::vector<int> from;
};

/// Rank 0 reads, some patterns at a time, so that no rank has more in memory than its own part and
/// those. Collective; ends the program where the file is none for as many ranks.
[[nodiscard]] PatternParts read_parts(const std::string& path, MPI_Comm comm);

}  // namespace contend::probe
