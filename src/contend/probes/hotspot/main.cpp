// Measures a pair of ranks while other pairs load the channels that it shares with them.

#include <mpi.h>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/operation.hpp"
#include "common/pages.hpp"
#include "common/probe.hpp"
#include "common/ranks.hpp"
#include "timing/clock.hpp"
#include "timing/waiting.hpp"

namespace contend::probe {

namespace {

/// Messages under way at a time: while one ends the next has begun.
constexpr std::size_t under_way = 2;
constexpr int load_tag = 11;
constexpr int stop_tag = 12;
constexpr int victim_tag = 13;
constexpr auto wiped = std::byte{0xA5};

std::byte content(int rank, std::size_t place) {
  return static_cast<std::byte>((static_cast<std::size_t>(rank) * 31 + place * 7 + place / 251) &
                                0xFF);
}

/// A stream of large messages from one rank to another, which lasts until it is told to stop.
class Load {
 public:
  /// Takes the memory: throws std::bad_alloc where there is not enough.
  Load(std::int64_t bytes, MPI_Comm comm)
      : bytes_(bytes),
        comm_(comm),
        buffer_(static_cast<std::size_t>(bytes) * under_way, std::byte{0x5A}) {}

  /// Sends message after message to a rank until `stopper` says so with an empty message.
  void send_to(int receiver, int stopper) {
    std::array<MPI_Request, under_way> sends;
    sends.fill(MPI_REQUEST_NULL);
    MPI_Request stopped = MPI_REQUEST_NULL;
    CHECKED(MPI_Irecv, nullptr, 0, MPI_BYTE, stopper, stop_tag, comm_, &stopped);
    int is_stopped = 0;
    for (std::size_t message = 0; is_stopped == 0; ++message) {
      MPI_Request& slot = sends[message % under_way];
      wait(slot);
      CHECKED(MPI_Isend, buffer_.data(), static_cast<int>(bytes_), MPI_BYTE, receiver, load_tag,
              comm_, &slot);
      CHECKED(MPI_Test, &stopped, &is_stopped, MPI_STATUS_IGNORE);
    }
    // Messages between two ranks stay in order: empty ones fill the receives that are still open.
    for (MPI_Request& slot : sends) {
      wait(slot);
      CHECKED(MPI_Isend, nullptr, 0, MPI_BYTE, receiver, load_tag, comm_, &slot);
    }
    for (MPI_Request& slot : sends) {
      wait(slot);
    }
  }

  /// Receives what send_to() sends, to the last message.
  void receive_from(int sender) {
    std::array<MPI_Request, under_way> receives;
    const auto post = [&](std::size_t slot) {
      CHECKED(MPI_Irecv, buffer_.data() + slot * static_cast<std::size_t>(bytes_),
              static_cast<int>(bytes_), MPI_BYTE, sender, load_tag, comm_, &receives[slot]);
    };
    for (std::size_t slot = 0; slot < under_way; ++slot) {
      post(slot);
    }
    std::size_t open = under_way;
    for (std::size_t slot = 0; open > 0; slot = (slot + 1) % under_way) {
      MPI_Status status{};
      wait(receives[slot], status);
      int received = 0;
      CHECKED(MPI_Get_count, &status, MPI_BYTE, &received);
      if (received == 0) {
        --open;
      } else {
        post(slot);
      }
    }
  }

  /// Tells a rank in send_to() to stop.
  static void stop(int sender, MPI_Comm comm) {
    CHECKED(MPI_Send, nullptr, 0, MPI_BYTE, sender, stop_tag, comm);
  }

 private:
  std::int64_t bytes_;
  MPI_Comm comm_;
  Pages<std::byte> buffer_;
};

/// Sender and receiver, by rank.
using Pair = std::pair<int, int>;

/// What the victim pair does while it is measured.
enum class Measured { round_trip, stream };

/// A pair's latency or bandwidth while other pairs keep the network busy.
///
/// The rivals start with everybody; the victim waits until their load has built up, then runs a few
/// single operations, each stamped by itself, and tells the rivals to stop.
/// Source: Hoefler, Schneider, Lumsdaine, CLUSTER 2008, section 2.2.2, figures 2 and 3. There the
/// rivals play ping-pong with 8 MB, so each loads a direction half of the time; here they stream.
class Hotspot : public Operation {
 public:
  struct Settings {
    Measured measured;
    std::int64_t bytes;
    std::int64_t load_bytes;
    double lead;
    std::int64_t operations;
    /// Messages under way at a time in a stream.
    std::int64_t window;
  };

  Hotspot(const Settings& settings, Pair victim, std::vector<Pair> rivals, MPI_Comm comm)
      : settings_(settings), victim_(victim), rivals_(std::move(rivals)), comm_(comm) {
    const int rank = rank_in(comm);
    role_ = Role::idle;
    if (rank == victim_.first || rank == victim_.second) {
      role_ = rank == victim_.first ? Role::asks : Role::answers;
      other_ = rank == victim_.first ? victim_.second : victim_.first;
      const auto bytes = static_cast<std::size_t>(settings_.bytes);
      const auto window = static_cast<std::size_t>(settings_.window);
      sent_.resize(bytes);
      for (std::size_t place = 0; place < bytes; ++place) {
        sent_[place] = content(rank, place);
      }
      received_.assign(bytes * window, wiped);
      requests_.assign(window, MPI_REQUEST_NULL);
    }
    for (const Pair& rival : rivals_) {
      if (rank == rival.first || rank == rival.second) {
        role_ = rank == rival.first ? Role::loads : Role::drains;
        other_ = rank == rival.first ? rival.second : rival.first;
        load_.emplace(settings_.load_bytes, comm);
      }
    }
  }

  /// "begin", then an instant after each operation; not-a-number on ranks other than the victim's.
  [[nodiscard]] std::vector<std::string> columns() const override {
    std::vector<std::string> names = {"begin"};
    for (std::int64_t operation = 1; operation <= settings_.operations; ++operation) {
      names.push_back("after_" + std::to_string(operation));
    }
    return names;
  }

  [[nodiscard]] bool takes_part() const override { return role_ != Role::idle; }
  void reset(bool verified) override {
    if (verified) {
      std::fill(received_.begin(), received_.end(), wiped);
    }
  }

  void run(Stamps& stamps) override {
    if (role_ == Role::loads) {
      load_->send_to(other_, victim_.first);
      skip(stamps);
      return;
    }
    if (role_ == Role::drains) {
      load_->receive_from(other_);
      skip(stamps);
      return;
    }
    if (!rivals_.empty()) {
      wait_until(local_now() + static_cast<std::int64_t>(settings_.lead * 1e9));
    }
    stamps.mark();
    for (std::int64_t operation = 0; operation < settings_.operations; ++operation) {
      exchange();
      stamps.mark();
    }
    if (role_ == Role::asks) {
      for (const Pair& rival : rivals_) {
        Load::stop(rival.first, comm_);
      }
    }
  }

  [[nodiscard]] std::optional<std::string> verify() override {
    const bool streams = settings_.measured == Measured::stream;
    if (load_ || (streams && role_ == Role::asks)) {
      return std::nullopt;
    }
    const auto bytes = static_cast<std::size_t>(settings_.bytes);
    const std::size_t looked_at = streams ? received_.size() : bytes;
    for (std::size_t place = 0; place < looked_at; ++place) {
      if (received_[place] != content(other_, place % bytes)) {
        return "byte " + std::to_string(place % bytes) + " from rank " + std::to_string(other_) +
               " is wrong";
      }
    }
    return std::nullopt;
  }

 private:
  enum class Role { idle, asks, answers, loads, drains };

  void exchange() {
    const bool asks = role_ == Role::asks;
    if (asks) {
      send_window();
      receive_window();
    } else {
      receive_window();
      send_window();
    }
  }

  void send_window() {
    // A round trip is answered in full; a stream with one empty message when all of it is here.
    const bool streams = settings_.measured == Measured::stream;
    const bool answer = streams && role_ == Role::answers;
    const int count = answer ? 0 : static_cast<int>(settings_.bytes);
    const std::size_t messages = streams && !answer ? requests_.size() : 1;
    for (std::size_t message = 0; message < messages; ++message) {
      CHECKED(MPI_Isend, sent_.data(), count, MPI_BYTE, other_, victim_tag, comm_,
              &requests_[message]);
    }
    wait_all(requests_);
  }

  void receive_window() {
    const bool streams = settings_.measured == Measured::stream;
    const bool answer = streams && role_ == Role::asks;
    const int count = answer ? 0 : static_cast<int>(settings_.bytes);
    const std::size_t messages = streams && !answer ? requests_.size() : 1;
    const auto bytes = static_cast<std::size_t>(settings_.bytes);
    for (std::size_t message = 0; message < messages; ++message) {
      CHECKED(MPI_Irecv, received_.data() + message * bytes, count, MPI_BYTE, other_, victim_tag,
              comm_, &requests_[message]);
    }
    wait_all(requests_);
  }

  void skip(Stamps& stamps) const {
    for (std::int64_t column = 0; column <= settings_.operations; ++column) {
      stamps.add(std::numeric_limits<double>::quiet_NaN());
    }
  }

  Settings settings_;
  Pair victim_;
  std::vector<Pair> rivals_;
  MPI_Comm comm_;
  Role role_;
  int other_ = -1;
  Pages<std::byte> sent_;
  Pages<std::byte> received_;
  std::vector<MPI_Request> requests_;
  std::optional<Load> load_;
};

/// Pairs of ranks: "0:5,1:6".
std::vector<Pair> parse_pairs(const std::string& option, const std::string& text, int ranks) {
  std::vector<Pair> pairs;
  if (text.empty()) {
    return pairs;
  }
  for (const std::string& part : split_text(text, ',')) {
    const std::vector<std::string> ends = split_text(part, ':');
    if (ends.size() != 2) {
      throw BadInput("--" + option + ": expected FROM:TO, got '" + part + "'");
    }
    const std::int64_t from = parse_integer(ends[0], 0);
    const std::int64_t to = parse_integer(ends[1], 0);
    if (from == to || std::max(from, to) >= ranks) {
      throw BadInput("--" + option + ": expected two ranks below " + std::to_string(ranks) +
                     ", got '" + part + "'");
    }
    pairs.emplace_back(static_cast<int>(from), static_cast<int>(to));
  }
  return pairs;
}

/// The cell with the window and the operations that send no more in a sample than is asked for: of
/// long messages a few tell as much, and on a slow network they take their time.
Cell limited(Cell cell, const Arguments& arguments) {
  const std::int64_t most = arguments.integer("sample-bytes");
  const std::int64_t bytes = std::max<std::int64_t>(cell.integer("bytes"), 1);
  std::int64_t window = cell.text("algorithm") == "stream" ? arguments.integer("window") : 1;
  std::int64_t operations = arguments.integer("operations");
  if (most > 0) {
    window = std::clamp<std::int64_t>(most / bytes, 1, window);
    operations = std::clamp<std::int64_t>(most / (window * bytes), 1, operations);
  }
  cell.labels.emplace_back("window", window);
  cell.labels.emplace_back("operations", operations);
  return cell;
}

std::vector<Cell> checked(const Cell& cell, const Arguments& arguments, int ranks) {
  std::vector<Pair> pairs = parse_pairs("victim", arguments.text("victim"), ranks);
  if (pairs.size() != 1) {
    throw BadInput("--victim: expected one pair FROM:TO");
  }
  const std::vector<Pair> rivals = parse_pairs("rivals", arguments.text("rivals"), ranks);
  pairs.insert(pairs.end(), rivals.begin(), rivals.end());
  std::set<int> ends;
  for (const Pair& pair : pairs) {
    for (const int end : {pair.first, pair.second}) {
      if (!ends.insert(end).second) {
        throw BadInput("--rivals: expected each rank in one pair only, got " + std::to_string(end) +
                       " twice");
      }
    }
  }
  if (cell.integer("rivals-active") > static_cast<std::int64_t>(rivals.size())) {
    throw BadInput("--rivals-active: expected at most the " + std::to_string(rivals.size()) +
                   " pairs of --rivals");
  }
  if (arguments.integer("operations") < 1 || arguments.integer("window") < 1) {
    throw BadInput("--operations and --window: expected at least 1");
  }
  for (const std::int64_t bytes : {cell.integer("bytes"), arguments.integer("load-bytes")}) {
    if (bytes < 0 || bytes > std::numeric_limits<int>::max()) {
      throw BadInput("--bytes and --load-bytes: expected at most 2147483647");
    }
  }
  if (arguments.integer("load-bytes") < 1) {
    throw BadInput("--load-bytes: expected at least 1");
  }
  return {limited(cell, arguments)};
}

std::unique_ptr<Operation> make(const Cell& cell, const Context& context, MPI_Comm comm) {
  const Arguments& arguments = context.arguments;
  const int ranks = size_of(comm);
  std::vector<Pair> rivals = parse_pairs("rivals", arguments.text("rivals"), ranks);
  rivals.resize(static_cast<std::size_t>(cell.integer("rivals-active")));
  const bool streams = cell.text("algorithm") == "stream";
  const Hotspot::Settings settings{streams ? Measured::stream : Measured::round_trip,
                                   cell.integer("bytes"),
                                   arguments.integer("load-bytes"),
                                   arguments.number("lead"),
                                   cell.integer("operations"),
                                   cell.integer("window")};
  return std::make_unique<Hotspot>(settings,
                                   parse_pairs("victim", arguments.text("victim"), ranks).front(),
                                   std::move(rivals), comm);
}

}  // namespace

}  // namespace contend::probe

int main(int argc, char** argv) {
  using namespace contend::probe;
  Probe probe;
  probe.name = "hotspot";
  probe.about =
      "Measures latency and bandwidth of one pair of ranks while other pairs send large messages "
      "without a pause. Choose pairs whose routes share a channel; contend measure hotspot does "
      "so.";
  probe.example = "--victim 0:2 --rivals 1:3 --rivals-active 0,1 --bytes 1,1024,1048576";
  probe.axes = {
      {"algorithm",
       Kind::words,
       "round-trip,stream",
       "What the victim does: send a message there and back, or --window messages one way.",
       {"round-trip", "stream"}},
      {"rivals-active", Kind::integers, "0,1", "Number of rival pairs that send meanwhile."},
      {"bytes", Kind::integers,
       "1,2,4,8,16,32,64,128,256,512,1024,2048,"
       "4096,8192,16384,32768,65536,131072,262144,524288,1048576",
       "Bytes of the victim's message."},
  };
  probe.together = "rivals-active";
  probe.options = {
      {"victim", Kind::word, "", "The measured pair: FROM:TO."},
      {"rivals", Kind::word, "", "The pairs that load the network: FROM:TO,FROM:TO,..."},
      {"load-bytes", Kind::integer, "8388608", "Bytes of a rival's messages."},
      {"lead", Kind::number, "0.02", "Seconds that the rivals send before the victim begins."},
      {"operations", Kind::integer, "10", "The victim's operations in a sample; each is timed."},
      {"window", Kind::integer, "16", "Messages in flight at a time in a stream."},
      {"sample-bytes", Kind::integer, "0",
       "Limit on the bytes that the victim sends in a sample, kept by fewer operations and smaller "
       "windows; 0 sets no limit."},
  };
  probe.expand = checked;
  probe.make = make;
  return run_probe(argc, argv, probe);
}
