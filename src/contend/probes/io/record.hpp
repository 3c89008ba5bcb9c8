#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/machine.hpp"
#include "common/operation.hpp"
#include "timing/clock.hpp"
#include "timing/pacing.hpp"

namespace contend::probe {

/// The file of samples cannot be written; what() says which and why.
class CannotWrite : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One sample's frame but for its times.
struct SampleHead {
  std::uint32_t cell;
  std::uint32_t repetition;
  bool warm_up;
  bool verified;
  /// Global time at which all ranks were to start.
  double agreed;
};

/// Writes samples in frames: a byte that says the kind, the length in four bytes, the payload.
///
/// Every frame is handed to the operating system at once, so that it stays when the program is
/// killed. When that fails the file is cut back to its last whole frame.
class SampleFile {
 public:
  /// Begins a file, replacing what was there. An empty path writes nothing. Throws CannotWrite.
  explicit SampleFile(const std::string& path);
  SampleFile(const SampleFile&) = delete;
  SampleFile& operator=(const SampleFile&) = delete;
  ~SampleFile();

  /// Writes a JSON object. Throws CannotWrite.
  void write(const std::string& json);
  /// Writes a sample: `times` are those of all ranks, rank after rank. Throws CannotWrite.
  void write(const SampleHead& head, const std::vector<double>& times);
  /// Closes the file; some file systems say only then that they are full. Throws CannotWrite.
  void close();

 private:
  void write_frame(char kind);
  void write_whole(const std::string& bytes);
  [[noreturn]] void give_up();

  std::string path_;
  int file_ = -1;
  std::int64_t whole_ = 0;
  std::string payload_;
  std::string frame_;
};

/// What a run is: all that its first frame says.
struct RunFacts {
  std::string probe;
  std::string version;
  int ranks;
  std::string library;
  std::string standard;
  std::vector<std::string> arguments;
  Settings settings;
  std::int64_t seed;
  double epoch_unix;
  double timer;
  std::size_t cells;
};

/// Why a cell has ended.
struct Ending {
  /// precision, repetitions, budget, skipped, failed
  std::string reason;
  /// Whether its data was right; nothing when it was never looked at.
  std::optional<bool> verified;
  /// What there is to say about it, or nothing.
  std::string said;
};

/// What rank 0 keeps of a run: a file of samples, or a table on standard output where there is no
/// file. Every function may throw CannotWrite.
class Record {
 public:
  /// What a cell whose samples take so many seconds means; may be empty.
  using Remark = std::function<std::string(const Cell&, double)>;

  /// An empty path: the table.
  Record(const std::string& path, Remark remark)
      : file_(path), table_(path.empty()), remark_(std::move(remark)) {}

  void begin(const RunFacts& facts);
  void ranks(const Machines& machines, bool oversubscribed);
  void clock(const Synchronised& found);
  void cell(std::size_t number, const Cell& cell, const std::vector<std::string>& columns);
  void sample(const SampleHead& head, const std::vector<double>& times) {
    file_.write(head, times);
  }
  void end(std::size_t number, const Cell& cell, const Ending& ending, const Results& results);
  /// `overhead`: seconds from the end of a sample to the start of the next, of all samples.
  void done(std::vector<double> overhead);

 private:
  void row(const Cell& cell, const Ending& ending, const Results& results);

  SampleFile file_;
  bool table_;
  Remark remark_;
  /// The heading of the last row.
  std::string title_;
};

}  // namespace contend::probe
