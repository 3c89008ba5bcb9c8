#include "io/record.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

#include "io/json.hpp"

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

namespace {

std::string microseconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", seconds * 1e6);
  return text;
}

std::string padded(const std::string& text, std::size_t width) {
  return std::string(text.size() < width ? width - text.size() : 0, ' ') + text;
}

// Sorts; 0 for no values.
double part(std::vector<double>& values, double share) {
  if (values.empty()) {
    return 0.0;
  }
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

}  // namespace

void Record::begin(const RunFacts& facts) {
  JsonObject frame;
  frame.text("kind", "probe").text("probe", facts.probe).text("version", facts.version);
  frame.integer("ranks", facts.ranks).text("library", facts.library);
  frame.text("standard", facts.standard).texts("arguments", facts.arguments);
  // An endless budget is null.
  const Settings& settings = facts.settings;
  frame.number("budget_s", settings.budget).number("precision", settings.precision);
  frame.integers("repetitions", {settings.least, settings.most});
  frame.integer("warmups", settings.warm_ups)
      .number("pause_s", settings.pause)
      .truth("verify", settings.verify);
  frame.integer("seed", facts.seed);
  frame.number("epoch_unix_s", facts.epoch_unix).number("timer_s", facts.timer);
  frame.integer("cells", static_cast<std::int64_t>(facts.cells));
  file_.write(frame.str());
}

void Record::ranks(const Machines& machines, bool oversubscribed) {
  JsonObject frame;
  frame.text("kind", "ranks").texts("host", machines.host).integers("pid", machines.pid);
  frame.texts("cpus", machines.cpus).integers("host_cpus", machines.host_cpus);
  frame.truth("oversubscribed", oversubscribed);
  file_.write(frame.str());
}

void Record::clock(const Synchronised& found) {
  JsonObject frame;
  frame.text("kind", "clock").number("at_s", found.at);
  frame.numbers("offset_s", found.offset).numbers("drift", found.drift);
  frame.numbers("round_trip_s", found.round_trip).numbers("residual_s", found.residual);
  file_.write(frame.str());
}

void Record::cell(std::size_t number, const Cell& cell, const std::vector<std::string>& columns) {
  JsonObject frame;
  frame.text("kind", "cell").integer("cell", static_cast<std::int64_t>(number));
  frame.texts("columns", columns);
  for (const auto& [name, label] : cell.labels) {
    frame.label(name, label);
  }
  file_.write(frame.str());
}

void Record::end(std::size_t number, const Cell& cell, const Ending& ending,
                 const Results& results) {
  JsonObject frame;
  frame.text("kind", "end").integer("cell", static_cast<std::int64_t>(number));
  frame.text("reason", ending.reason);
  if (ending.verified) {
    frame.truth("verified", *ending.verified);
  } else {
    frame.null("verified");
  }
  frame.text("said", ending.said);
  file_.write(frame.str());
  if (table_) {
    row(cell, ending, results);
  }
}

void Record::done(std::vector<double> overhead) {
  JsonObject frame;
  frame.text("kind", "done").number("overhead_s", part(overhead, 0.5));
  frame.number("overhead_p99_s", part(overhead, 0.99));
  file_.write(frame.str());
  file_.close();
}

void Record::row(const Cell& cell, const Ending& ending, const Results& results) {
  std::string title;
  std::string line;
  for (const auto& [name, label] : cell.labels) {
    const std::size_t width = std::max<std::size_t>(12, name.size());
    title += padded(name, width) + " ";
    line += padded(words_of(label), width) + " ";
  }
  title += "samples  late    median us         95 % interval       max us  ended by\n";
  const std::vector<double>& used = results.used();
  const auto interval = median_interval(used);
  const std::string bounds =
      interval ? microseconds(interval->low) + " - " + microseconds(interval->high) : "-";
  const double middle =
      used.empty() ? 0.0 : 0.5 * (used[(used.size() - 1) / 2] + used[used.size() / 2]);
  line += padded(std::to_string(results.count()), 7) + padded(std::to_string(results.late()), 6);
  line += padded(used.empty() ? "-" : microseconds(middle), 13);
  line += padded(bounds, 22);
  line += padded(used.empty() ? "-" : microseconds(used.back()), 13) + "  " + ending.reason;
  line += ending.said.empty() ? "" : ": " + ending.said;
  line += (remark_ && !used.empty() ? "; " + remark_(cell, middle) : "") + "\n";
  // Not all cells have the same labels.
  if (title != title_) {
    title_ = title;
    line = title + line;
  }
  std::fwrite(line.data(), 1, line.size(), stdout);
  if (std::fflush(stdout) != 0) {
    throw CannotWrite("standard output cannot be written");
  }
}

}  // namespace contend::probe
