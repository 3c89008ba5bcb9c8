#include "common/sample_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace contend::probe {

namespace {

constexpr const char* kFirstLine = "contend-samples 1\n";
constexpr std::uint32_t kWarmUp = 1;
constexpr std::uint32_t kVerified = 2;

// Least significant byte first, whatever the machine.
template <class Word>
void append(std::string& bytes, Word word) {
  for (std::size_t byte = 0; byte < sizeof word; ++byte) {
    bytes += static_cast<char>((word >> (8 * byte)) & 0xFFU);
  }
}

void append_double(std::string& bytes, double value) {
  std::uint64_t bits = 0;
  static_assert(sizeof bits == sizeof value);
  std::memcpy(&bits, &value, sizeof bits);
  append(bytes, bits);
}

}  // namespace

SampleFile::SampleFile(const std::string& path) : path_(path) {
  if (path_.empty()) {
    return;
  }
  // Beyond a limit on file sizes a write shall fail like any other, not end the program.
  std::signal(SIGXFSZ, SIG_IGN);
  file_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file_ < 0) {
    give_up();
  }
  write_whole(kFirstLine);
}

SampleFile::~SampleFile() {
  if (file_ >= 0) {
    ::close(file_);
  }
}

void SampleFile::write(const std::string& json) {
  if (file_ >= 0) {
    payload_ = json;
    write_frame('J');
  }
}

void SampleFile::write(const SampleHead& head, const std::vector<double>& times) {
  if (file_ < 0) {
    return;
  }
  payload_.clear();
  append(payload_, head.cell);
  append(payload_, head.repetition);
  append(payload_, (head.warm_up ? kWarmUp : 0U) | (head.verified ? kVerified : 0U));
  append(payload_, std::uint32_t{0});
  append_double(payload_, head.agreed);
  for (const double time : times) {
    append_double(payload_, time);
  }
  write_frame('S');
}

void SampleFile::close() {
  if (file_ >= 0 && ::close(std::exchange(file_, -1)) != 0) {
    give_up();
  }
}

void SampleFile::write_frame(char kind) {
  frame_.clear();
  frame_ += kind;
  append(frame_, static_cast<std::uint32_t>(payload_.size()));
  frame_ += payload_;
  write_whole(frame_);
}

void SampleFile::write_whole(const std::string& bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t written = ::write(file_, bytes.data() + done, bytes.size() - done);
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      give_up();
    }
    done += static_cast<std::size_t>(written);
  }
  whole_ += static_cast<std::int64_t>(bytes.size());
}

void SampleFile::give_up() {
  const std::string why = std::strerror(errno);
  if (file_ >= 0) {
    // Best effort: readers pass over a torn last frame as well.
    [[maybe_unused]] const int cut = ftruncate(file_, whole_);
    ::close(std::exchange(file_, -1));
  }
  throw CannotWrite(path_ + ": cannot be written: " + why);
}

}  // namespace contend::probe
