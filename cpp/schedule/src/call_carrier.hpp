#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <queue>
#include <span>
#include <vector>

#include "contend/base/error.hpp"
#include "contend/base/interruption.hpp"
#include "contend/packets/ring.hpp"
#include "contend/packets/transport.hpp"
#include "contend/schedule/carry_calls.hpp"

namespace contend {

inline constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
inline constexpr double kForever = std::numeric_limits<double>::infinity();
/// Within a host.
inline constexpr double kMemoryBps = 10e9;
inline constexpr double kMemoryLatency = 1e-6;

/// Streams between ranks that speak to each other.
struct RankStreams {
  /// Both ways between two, or where short messages have streams of their own, behind all others,
  /// the ways that are taken.
  RankStreams(const Schedule& schedule, std::span<const Match> matches, const Calls& calls,
              bool apart) {
    const auto rank = [&](std::uint32_t strand) { return schedule.rank_of_strand[strand]; };
    const auto asks = [&](const Match& one) { return schedule.amount[one.send] > calls.eager; };
    const auto keys_of = [&](const Match& one) {
      const std::uint64_t there = key(rank(one.source), rank(one.target));
      const std::uint64_t other = key(rank(one.target), rank(one.source));
      if (!apart) return std::array{there, there, other};
      const bool is_short = schedule.amount[one.send] <= kShortMessage;
      const std::uint64_t data = is_short ? there | kApart : there;
      return asks(one) ? std::array{data, there | kApart, other | kApart}
                       : std::array{data, data, data};
    };
    std::vector<std::uint64_t> keys;
    for (const Match& one : matches) {
      for (const std::uint64_t each : keys_of(one)) keys.push_back(each);
    }
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    const auto find = [&](std::uint64_t wanted) {
      return static_cast<std::uint32_t>(std::lower_bound(keys.begin(), keys.end(), wanted) -
                                        keys.begin());
    };
    first_short = find(kApart);
    for (const std::uint64_t one : keys) {
      const auto from = static_cast<std::uint32_t>((one & ~kApart) >> 32);
      const auto to = static_cast<std::uint32_t>(one);
      if (!apart) back.push_back(find(key(to, from)));
      source.push_back(calls.place_of_rank[from]);
      target.push_back(calls.place_of_rank[to]);
    }
    for (const Match& one : matches) {
      const auto [data, request, answer] = keys_of(one);
      of_message.push_back({find(data), find(request), find(answer)});
    }
  }
  static std::uint64_t key(std::uint32_t from, std::uint32_t to) {
    return std::uint64_t{from} << 32 | to;
  }
  /// Ranks are fewer than half of all numbers.
  static constexpr std::uint64_t kApart = std::uint64_t{1} << 63;

  struct Ways {
    std::uint32_t data;
    std::uint32_t request;
    std::uint32_t answer;
  };
  std::vector<std::uint32_t> back;
  std::vector<Place> source;
  std::vector<Place> target;
  std::vector<Ways> of_message;
  std::uint32_t first_short;
};

/// What a message costs beside its bytes.
struct MessageCosts {
  double envelope = 0;      ///< bytes of every message beside its own, and of what asks or answers
  std::uint32_t taken = 0;  ///< packets that a host takes over from a rank
  double packet_bytes = 1;
  double overhead = 0;  ///< seconds of a rank for each message that it sends
};

/// Carries calls of a schedule out over streams.
class CallCarrier final : public Transport::Listener {
 public:
  CallCarrier(const Schedule& schedule, std::span<const Match> matches, const RankStreams& pairs,
              double eager, const MessageCosts& costs, Transport& transport)
      : schedule_(schedule),
        matches_(matches),
        pairs_(pairs),
        eager_(eager),
        costs_(costs),
        transport_(transport),
        lines_(pairs.source.size()),
        due_(pairs.source.size()),
        message_of_(schedule.operations(), kNone),
        strand_of_(schedule.operations()) {
    for (std::uint32_t m = 0; m < matches.size(); ++m) {
      message_of_[matches[m].send] = m;
      message_of_[matches[m].receive] = m;
    }
    for (std::uint32_t s = 0; s < schedule.strands(); ++s) {
      std::fill(strand_of_.begin() + static_cast<std::ptrdiff_t>(schedule.begin[s]),
                strand_of_.begin() + static_cast<std::ptrdiff_t>(schedule.begin[s + 1]), s);
    }
  }

  /// One call by when every rank begins. Returns how long it took; false where nothing moves any
  /// more.
  std::optional<double> carry_out(std::span<const double> starts) {
    messages_.assign(matches_.size(), {});
    done_.assign(schedule_.operations(), 0);
    strands_.clear();
    left_ = schedule_.strands();
    open_ = 2 * matches_.size();
    const double began = transport_.now();
    first_ = std::numeric_limits<double>::infinity();
    for (std::uint32_t s = 0; s < schedule_.strands(); ++s) {
      strands_.push_back({schedule_.begin[s], 0, 0, true});
      const double at = began + starts[schedule_.rank_of_strand[s]];
      first_ = std::min(first_, at);
      wake(at, s);
    }
    for (std::uint32_t steps = 0; left_ + open_ > 0; ++steps) {
      if (steps % 0x10000u == 0) check_interruption();
      if (transport_.step(alarms_.empty() ? kForever : alarms_.top().at)) continue;
      if (alarms_.empty()) return {};
      const Alarm alarm = alarms_.top();
      alarms_.pop();
      if (alarm.message != kNone) {
        take({0, alarm.message, Item::Kind::data});
      } else {
        go_on(alarm.strand);
      }
    }
    return ended_at_ - first_;
  }

  /// When the first rank began the call.
  double first() const { return first_; }

  /// An operation that never ends.
  [[noreturn]] void refuse() const {
    for (std::uint32_t s = 0; s < strands_.size(); ++s) {
      if (strands_[s].next == schedule_.begin[s + 1]) continue;
      throw Error(name_operation(schedule_, strands_[s].next) + " waits for ever");
    }
    throw Error("a schedule that cannot end");
  }

  void come(std::uint32_t stream, std::uint32_t packets) override {
    // What is done with it may write to the same stream.
    while (packets >= due_[stream].coming) {
      const Item item = lines_[stream].coming.front();
      lines_[stream].coming.pop();
      set_due(stream);
      take(item);
    }
  }

  void known(std::uint32_t stream, std::uint32_t packets) override {
    while (packets >= due_[stream].leaving) {
      const std::uint64_t send = matches_[lines_[stream].leaving.front().message].send;
      lines_[stream].leaving.pop();
      set_due(stream);
      end(send);
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
  /// Packets at which the first in line has come or left: side by side, as every packet is asked.
  struct Due {
    std::uint32_t coming = kNone;
    std::uint32_t leaving = kNone;
  };
  struct Strand {
    std::uint64_t next;
    std::uint32_t begun = 0;
    std::uint32_t ended = 0;
    bool sleeps = false;
    bool prepared = false;  ///< the message that it sends next
  };
  struct Message {
    bool posted = false;  ///< its receive
    bool there = false;   ///< it or its request
  };

  struct Alarm {
    double at;
    std::uint64_t order;
    std::uint32_t strand;
    std::uint32_t message;  ///< that has come within a host; else a strand goes on
    bool operator<(const Alarm& other) const {
      return at != other.at ? at > other.at : order > other.order;
    }
  };

  bool within(std::uint32_t message) const {
    const std::uint32_t stream = pairs_.of_message[message].data;
    return pairs_.source[stream] == pairs_.target[stream];
  }
  double bytes(std::uint32_t message) const { return schedule_.amount[matches_[message].send]; }
  bool eager(std::uint32_t message) const { return bytes(message) <= eager_; }

  void wake(double at, std::uint32_t strand, std::uint32_t message = kNone) {
    alarms_.push({at, order_++, strand, message});
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
          wake(transport_.now() + amount, index);
          return;
        case Action::send:
          if (costs_.overhead > 0 && !strand.prepared) {
            strand.prepared = strand.sleeps = true;
            wake(transport_.now() + costs_.overhead, index);
            return;
          }
          strand.prepared = false;
          [[fallthrough]];
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
    ended_at_ = transport_.now();
    strands_[index].sleeps = true;
  }

  void begin(std::uint64_t operation) {
    const std::uint32_t m = message_of_[operation];
    if (matches_[m].receive == operation) {
      messages_[m].posted = true;
      if (messages_[m].there) proceed(m);
    } else if (within(m)) {
      const double after = kMemoryLatency + bytes(m) / kMemoryBps;
      wake(transport_.now() + after, kNone, m);
      end(operation);
    } else if (eager(m)) {
      put(m, Item::Kind::data);
      end(operation);
    } else {
      put(m, Item::Kind::request);
    }
  }

  void put(std::uint32_t m, Item::Kind kind) {
    const auto [data, request, answer] = pairs_.of_message[m];
    const bool whole = kind == Item::Kind::data;
    const std::uint32_t stream = whole ? data : kind == Item::Kind::request ? request : answer;
    const double amount = costs_.envelope + (whole ? bytes(m) : 0);
    const std::uint32_t until = transport_.write(stream, amount);
    lines_[stream].coming.push({until, m, kind});
    if (whole && !eager(m)) {
      const auto all = static_cast<std::uint32_t>(std::ceil(amount / costs_.packet_bytes));
      lines_[stream].leaving.push({until - std::min(costs_.taken, all - 1), m, kind});
    }
    set_due(stream);
  }

  void set_due(std::uint32_t stream) {
    const auto end_of = [](const packets::Ring<Item>& line) {
      return line.empty() ? kNone : line.front().end;
    };
    due_[stream] = {end_of(lines_[stream].coming), end_of(lines_[stream].leaving)};
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
  const std::span<const Match> matches_;
  const RankStreams& pairs_;
  const double eager_;
  const MessageCosts costs_;
  Transport& transport_;
  std::vector<Line> lines_;
  std::vector<Due> due_;
  std::vector<std::uint32_t> message_of_;  ///< by operation
  std::vector<std::uint32_t> strand_of_;   ///< likewise
  std::vector<Message> messages_;
  std::vector<std::uint8_t> done_;
  std::vector<Strand> strands_;
  std::priority_queue<Alarm> alarms_;
  std::uint64_t order_ = 0;
  std::size_t left_ = 0;  ///< strands that have not ended
  std::size_t open_ = 0;  ///< sends and receives that have not
  double first_ = 0;
  double ended_at_ = 0;
};

}  // namespace contend
