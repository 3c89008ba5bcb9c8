#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

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

}  // namespace contend::probe
