#include "contend/schedule/carry_streams.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "contend/base/error.hpp"
#include "contend/base/interruption.hpp"

namespace contend {

namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
/// Bytes that a message has beside its own, and of a request or an answer.
constexpr double kEnvelope = 64;
/// Bytes that a host takes over from a rank.
constexpr double kTaken = 64 << 10;
/// Within a host.
constexpr double kMemoryBps = 10e9;
constexpr double kMemoryLatency = 1e-6;

/// Both ways between all ranks that speak to each other.
struct Pairs {
  Pairs(const Schedule& schedule, std::span<const Match> matches,
        std::span<const std::uint32_t> place_of_rank) {
    const auto rank = [&](std::uint32_t strand) { return schedule.rank_of_strand[strand]; };
    std::vector<std::uint64_t> keys;
    for (const Match& one : matches) {
      keys.push_back(key(rank(one.source), rank(one.target)));
      keys.push_back(key(rank(one.target), rank(one.source)));
    }
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    const auto find = [&](std::uint64_t wanted) {
      return static_cast<std::uint32_t>(std::lower_bound(keys.begin(), keys.end(), wanted) -
                                        keys.begin());
    };
    for (const std::uint64_t one : keys) {
      const auto from = static_cast<std::uint32_t>(one >> 32);
      const auto to = static_cast<std::uint32_t>(one);
      back.push_back(find(key(to, from)));
      source.push_back(place_of_rank[from]);
      target.push_back(place_of_rank[to]);
    }
    for (const Match& one : matches)
      of_message.push_back(find(key(rank(one.source), rank(one.target))));
  }
  static std::uint64_t key(std::uint32_t from, std::uint32_t to) {
    return std::uint64_t{from} << 32 | to;
  }

  std::vector<std::uint32_t> back;
  std::vector<Place> source;
  std::vector<Place> target;
  std::vector<std::uint32_t> of_message;
};

class StreamCarrier final : public Streams::Listener {
 public:
  StreamCarrier(const Schedule& schedule, const Resolver& resolver, const StreamedCalls& calls)
      : schedule_(schedule),
        calls_(calls),
        matches_(match(schedule)),
        pairs_(schedule, matches_, calls.place_of_rank),
        routes_(resolver, pairs_.source, pairs_.target),
        streams_(routes_, pairs_.back, calls.model,
                 DroppingPorts(calls.rate, resolver.places(), calls.model.queues, calls.switch_of),
                 *this),
        lines_(pairs_.back.size()),
        message_of_(schedule.operations(), kNone),
        strand_of_(schedule.operations()) {
    for (std::uint32_t m = 0; m < matches_.size(); ++m) {
      message_of_[matches_[m].send] = m;
      message_of_[matches_[m].receive] = m;
    }
    for (std::uint32_t s = 0; s < schedule.strands(); ++s) {
      std::fill(strand_of_.begin() + static_cast<std::ptrdiff_t>(schedule.begin[s]),
                strand_of_.begin() + static_cast<std::ptrdiff_t>(schedule.begin[s + 1]), s);
    }
  }

  StreamedOutcome run() {
    const std::size_t ranks = calls_.place_of_rank.size();
    for (std::size_t call = 0; call * ranks < calls_.starts.size(); ++call) {
      carry_out(calls_.starts.subspan(call * ranks, ranks));
      if (calls_.until_timeout && outcome_.timeouts.back() > 0) break;
    }
    outcome_.drops = streams_.counts().drops;
    for (std::uint32_t c = 0; c < outcome_.drops.size(); ++c) {
      outcome_.most.push_back(streams_.ports().most(c));
    }
    return std::move(outcome_);
  }

  void come(std::uint32_t stream, std::uint32_t packets) override {
    // What is done with it may write to the same stream.
    while (!lines_[stream].coming.empty() && lines_[stream].coming.front().end <= packets) {
      const Item item = lines_[stream].coming.front();
      lines_[stream].coming.pop();
      take(item);
    }
  }

  void known(std::uint32_t stream, std::uint32_t packets) override {
    auto& leaving = lines_[stream].leaving;
    while (!leaving.empty() && leaving.front().end <= packets) {
      const std::uint64_t send = matches_[leaving.front().message].send;
      leaving.pop();
      end(send);
    }
  }

  void woken(std::uint64_t token) override {
    const auto index = static_cast<std::uint32_t>(token);
    if (token >> 32 == 0) {
      go_on(index);
    } else {
      take({0, index, Item::Kind::data});
    }
  }

 private:
  /// What goes over a stream, and when it has come.
  struct Item {
    enum class Kind : std::uint8_t { request, answer, data };
    std::uint32_t end;
    std::uint32_t message;
    Kind kind;
  };
  struct Line {
    packets::Ring<Item> coming;
    packets::Ring<Item> leaving;
  };
  struct Strand {
    std::uint64_t next;
    std::uint32_t begun = 0;
    std::uint32_t ended = 0;
    bool sleeps = false;
  };
  struct Message {
    bool posted = false;  ///< its receive
    bool there = false;   ///< it or its request
  };

  bool within(std::uint32_t message) const {
    const std::uint32_t stream = pairs_.of_message[message];
    return pairs_.source[stream] == pairs_.target[stream];
  }
  double bytes(std::uint32_t message) const { return schedule_.amount[matches_[message].send]; }
  bool eager(std::uint32_t message) const { return bytes(message) <= calls_.eager; }

  void carry_out(std::span<const double> starts) {
    messages_.assign(matches_.size(), {});
    done_.assign(schedule_.operations(), 0);
    strands_.clear();
    left_ = schedule_.strands();
    open_ = 2 * matches_.size();
    const double began = streams_.now();
    double first = std::numeric_limits<double>::infinity();
    for (std::uint32_t s = 0; s < schedule_.strands(); ++s) {
      strands_.push_back({schedule_.begin[s], 0, 0, true});
      const double at = began + starts[schedule_.rank_of_strand[s]];
      first = std::min(first, at);
      streams_.wake(at, s);
    }
    StreamCounts& counts = streams_.counts();
    counts.first_channel = kNone;
    const std::uint64_t before = counts.timeouts;
    for (std::uint32_t steps = 0; left_ + open_ > 0; ++steps) {
      if (steps % 0x10000u == 0) check_interruption();
      if (!streams_.step()) refuse();
    }
    outcome_.seconds.push_back(ended_at_ - first);
    outcome_.timeouts.push_back(counts.timeouts - before);
    const bool none = counts.first_channel == kNone;
    outcome_.first_channel.push_back(none ? static_cast<std::uint32_t>(counts.drops.size())
                                          : counts.first_channel);
    outcome_.first_at.push_back(none ? 0 : counts.first_at - first);
  }

  void refuse() const {
    for (std::uint32_t s = 0; s < strands_.size(); ++s) {
      if (strands_[s].next == schedule_.begin[s + 1]) continue;
      throw Error(name_operation(schedule_, strands_[s].next) + " waits for ever");
    }
    throw Error("a schedule that cannot end");
  }

  /// A strand does what it can.
  void go_on(std::uint32_t index) {
    strands_[index].sleeps = false;
    while (strands_[index].next < schedule_.begin[index + 1]) {
      Strand& strand = strands_[index];
      const std::uint64_t at = strand.next;
      const double amount = schedule_.amount[at];
      const auto count = static_cast<std::uint64_t>(amount);
      switch (static_cast<Action>(schedule_.action[at])) {
        case Action::compute:
        case Action::elapse:
          ++strand.next;
          strand.sleeps = true;
          streams_.wake(streams_.now() + amount, index);
          return;
        case Action::send:
        case Action::receive:
          ++strand.next;
          ++strand.begun;
          // No end of it may come back here.
          strand.sleeps = true;
          begin(at);
          strands_[index].sleeps = false;
          continue;
        case Action::wait:
          if (done_[schedule_.begin[index] + count] == 0) return;
          break;
        case Action::wait_for:
          if (strand.ended < count) return;
          break;
        case Action::wait_all:
          if (strand.ended < strand.begun) return;
          break;
      }
      ++strands_[index].next;
    }
    --left_;
    ended_at_ = streams_.now();
    strands_[index].sleeps = true;
  }

  void begin(std::uint64_t operation) {
    const std::uint32_t m = message_of_[operation];
    if (matches_[m].receive == operation) {
      messages_[m].posted = true;
      if (messages_[m].there) proceed(m);
    } else if (within(m)) {
      const double after = kMemoryLatency + bytes(m) / kMemoryBps;
      streams_.wake(streams_.now() + after, std::uint64_t{1} << 32 | m);
      end(operation);
    } else if (eager(m)) {
      put(m, Item::Kind::data);
      end(operation);
    } else {
      put(m, Item::Kind::request);
    }
  }

  void put(std::uint32_t m, Item::Kind kind) {
    const std::uint32_t there = pairs_.of_message[m];
    const std::uint32_t stream = kind == Item::Kind::answer ? pairs_.back[there] : there;
    const double whole = kEnvelope + (kind == Item::Kind::data ? bytes(m) : 0);
    const std::uint32_t until = streams_.write(stream, whole);
    lines_[stream].coming.push({until, m, kind});
    if (kind != Item::Kind::data || eager(m)) return;
    const auto taken = static_cast<std::uint32_t>(std::floor(kTaken / calls_.model.payload));
    const auto all = static_cast<std::uint32_t>(std::ceil(whole / calls_.model.payload));
    lines_[stream].leaving.push({until - std::min(taken, all - 1), m, kind});
  }

  void take(const Item& item) {
    const std::uint32_t m = item.message;
    if (item.kind == Item::Kind::answer) {
      put(m, Item::Kind::data);
    } else if (item.kind == Item::Kind::data && !eager(m) && !within(m)) {
      end(matches_[m].receive);
    } else {
      messages_[m].there = true;
      if (messages_[m].posted) proceed(m);
    }
  }

  /// Its receive is posted, and it or its request is there.
  void proceed(std::uint32_t m) {
    if (eager(m) || within(m)) {
      end(matches_[m].receive);
    } else {
      put(m, Item::Kind::answer);
    }
  }

  void end(std::uint64_t operation) {
    done_[operation] = 1;
    --open_;
    const std::uint32_t index = strand_of_[operation];
    ++strands_[index].ended;
    if (!strands_[index].sleeps) go_on(index);
  }

  const Schedule& schedule_;
  const StreamedCalls& calls_;
  const std::vector<Match> matches_;
  const Pairs pairs_;
  const Crossings routes_;
  Streams streams_;
  std::vector<Line> lines_;
  std::vector<std::uint32_t> message_of_;  ///< by operation
  std::vector<std::uint32_t> strand_of_;   ///< likewise
  std::vector<Message> messages_;
  std::vector<std::uint8_t> done_;
  std::vector<Strand> strands_;
  std::size_t left_ = 0;  ///< strands that have not ended
  std::size_t open_ = 0;  ///< sends and receives that have not
  double ended_at_ = 0;
  StreamedOutcome outcome_;
};

void check(const Schedule& schedule, const Resolver& resolver, const StreamedCalls& calls) {
  const std::size_t ranks = calls.place_of_rank.size();
  for (const std::uint32_t rank : schedule.rank_of_strand) {
    if (rank >= ranks) throw Error("rank " + std::to_string(rank) + " has no place");
  }
  if (calls.rate.size() != resolver.switch_channels() + 2 * resolver.places()) {
    throw Error("a rate for every channel");
  }
  if (ranks == 0 || calls.starts.empty() || calls.starts.size() % ranks != 0) {
    throw Error("when every rank begins every call");
  }
}

}  // namespace

StreamedOutcome carry_streams(const Schedule& schedule, const Resolver& resolver,
                              const StreamedCalls& calls) {
  check(schedule, resolver, calls);
  return StreamCarrier(schedule, resolver, calls).run();
}

}  // namespace contend
