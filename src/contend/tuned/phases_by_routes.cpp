#include "phases_by_routes.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace contend::tuned {

namespace {

using Rank = std::uint32_t;
using Phase = std::uint32_t;
/// A message from rank s to rank t is number s * ranks + t.
using Message = std::uint32_t;

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t kWordBits = 64;
constexpr std::uint32_t kMostRanks = 65535;

/// Numbers that only depend on where they begin, on any machine (the generator splitmix64).
class Random {
 public:
  explicit Random(std::uint64_t begin) : state_(begin) {}

  std::uint64_t next() {
    std::uint64_t mixed = state_ += 0x9e3779b97f4a7c15;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31);
  }
  /// A number below `end`.
  std::uint32_t below(std::size_t end) {
    return static_cast<std::uint32_t>(((next() >> 32) * end) >> 32);
  }

 private:
  std::uint64_t state_;
};

std::uint32_t lowest_bit(std::uint64_t word) {
  return static_cast<std::uint32_t>(__builtin_ctzll(word));
}

/// Checks what was given; O(channels of all routes).
void check(const HostRoutes& routes, const std::vector<std::uint32_t>& host_of_rank) {
  const std::size_t hosts = routes.hosts;
  const auto refuse = [](const std::string& what, std::uint64_t expected, std::uint64_t got) {
    throw std::invalid_argument("phases by routes: expected " + what + " " +
                                std::to_string(expected) + ", got " + std::to_string(got));
  };
  if (host_of_rank.size() > kMostRanks) refuse("ranks up to", kMostRanks, host_of_rank.size());
  if (routes.begin.size() != hosts * hosts + 1) {
    refuse("beginnings of routes:", hosts * hosts + 1, routes.begin.size());
  }
  for (const std::uint32_t host : host_of_rank) {
    if (host >= hosts) refuse("hosts below", hosts, host);
  }
  for (std::size_t pair = 0; pair < hosts * hosts; ++pair) {
    if (routes.begin[pair] > routes.begin[pair + 1]) {
      refuse("a route that ends at or after", routes.begin[pair], routes.begin[pair + 1]);
    }
  }
  if (routes.begin.front() != 0 || routes.begin.back() != routes.channel.size()) {
    refuse("routes that end at", routes.channel.size(), routes.begin.back());
  }
  for (const std::uint32_t channel : routes.channel) {
    if (channel >= routes.channels) refuse("channels below", routes.channels, channel);
  }
}

/// What one message at a time may use, numbered: every rank as a source and as a target, the ports
/// of hosts with several ranks, and those channels that are not idle anyhow while a rank or a port
/// is: what all messages over a channel have in common, their source or their target, keeps them
/// apart.
class Resources {
 public:
  Resources(const HostRoutes& routes, const std::vector<std::uint32_t>& host_of_rank)
      : host_of_rank_(host_of_rank), hosts_(routes.hosts), ranks_on_(routes.hosts) {
    const std::size_t ranks = host_of_rank.size();
    for (const std::uint32_t host : host_of_rank) ++ranks_on_[host];
    load_.assign(2 * ranks, ranks == 0 ? 0 : ranks - 1);
    add_ports();
    add_channels(routes);
  }

  std::size_t ranks() const { return host_of_rank_.size(); }
  std::size_t count() const { return load_.size(); }

  /// Messages of the fullest one.
  std::uint64_t largest_load() const {
    return load_.empty() ? 0 : *std::max_element(load_.begin(), load_.end());
  }
  /// Of those that a message uses, the largest load.
  std::uint64_t largest_load(const std::vector<std::uint32_t>& used) const {
    std::uint64_t most = 0;
    for (const std::uint32_t resource : used) most = std::max(most, load_[resource]);
    return most;
  }

  /// Writes what a message uses to `used`; O(channels of its route).
  void find(Message message, std::vector<std::uint32_t>& used) const {
    const auto ranks = static_cast<std::uint32_t>(host_of_rank_.size());
    const Rank source = message / ranks, target = message % ranks;
    used.clear();
    used.push_back(source);
    used.push_back(ranks + target);
    const std::uint32_t from = host_of_rank_[source], to = host_of_rank_[target];
    if (from == to) return;
    if (injection_[from] != kNone) used.push_back(injection_[from]);
    if (ejection_[to] != kNone) used.push_back(ejection_[to]);
    const std::size_t pair = from * hosts_ + to;
    used.insert(used.end(), channel_.begin() + static_cast<std::ptrdiff_t>(begin_[pair]),
                channel_.begin() + static_cast<std::ptrdiff_t>(begin_[pair + 1]));
  }

 private:
  std::uint32_t add(std::uint64_t load) {
    load_.push_back(load);
    return static_cast<std::uint32_t>(load_.size() - 1);
  }

  /// A host's only rank stands for its ports.
  void add_ports() {
    for (const std::uint64_t here : ranks_on_) {
      const std::uint64_t load = here * (ranks() - here);
      injection_.push_back(here > 1 ? add(load) : kNone);
      ejection_.push_back(here > 1 ? add(load) : kNone);
    }
  }

  void add_channels(const HostRoutes& routes) {
    constexpr std::uint32_t several = kNone - 1;
    struct Channel {
      std::uint64_t load = 0;
      std::uint32_t source = kNone;
      std::uint32_t target = kNone;
      std::uint32_t number = kNone;
    };
    std::vector<Channel> channels(routes.channels);
    const auto each_route = [&](const auto& visit) {
      for (std::uint32_t from = 0; from < hosts_; ++from) {
        for (std::uint32_t to = 0; to < hosts_; ++to) {
          const std::size_t pair = from * hosts_ + to;
          const bool used = from != to && ranks_on_[from] != 0 && ranks_on_[to] != 0;
          for (std::uint64_t at = routes.begin[pair]; used && at < routes.begin[pair + 1]; ++at) {
            visit(channels[routes.channel[at]], from, to);
          }
          begin_.push_back(channel_.size());
        }
      }
    };
    const auto note = [](std::uint32_t& seen, std::uint32_t host) {
      seen = seen == kNone || seen == host ? host : several;
    };
    each_route([&](Channel& channel, std::uint32_t from, std::uint32_t to) {
      channel.load += ranks_on_[from] * ranks_on_[to];
      note(channel.source, from);
      note(channel.target, to);
    });
    for (Channel& channel : channels) {
      if (channel.source == several && channel.target == several) {
        channel.number = add(channel.load);
      }
    }
    begin_.assign(1, 0);
    each_route([&](const Channel& channel, std::uint32_t, std::uint32_t) {
      if (channel.number != kNone) channel_.push_back(channel.number);
    });
  }

  const std::vector<std::uint32_t>& host_of_rank_;
  std::size_t hosts_;
  std::vector<std::uint64_t> ranks_on_;
  std::vector<std::uint32_t> injection_, ejection_;
  std::vector<std::uint64_t> load_;
  // Routes of hosts, as in HostRoutes, over numbers of resources.
  std::vector<std::uint64_t> begin_;
  std::vector<std::uint32_t> channel_;
};

std::uint32_t bound_of(const Resources& resources) {
  const auto ranks = static_cast<std::uint32_t>(resources.ranks());
  // Two ranks have one partner each. Four have three derangements without pairs that swap: they
  // would have to be circles of all four, of which no three make up all messages.
  const std::uint64_t banned = ranks == 2 || ranks == 4 ? ranks : 0;
  return static_cast<std::uint32_t>(std::max(resources.largest_load(), banned));
}

/// Which message uses what in which phase, in bits and by name, and in which phase every message
/// is. Memory: O(resources * phases + ranks^2).
class Board {
 public:
  Board(const Resources& resources, Phase phases) : resources_(resources) {
    ranks_ = static_cast<std::uint32_t>(resources.ranks());
    phase_of_.assign(std::size_t{ranks_} * ranks_, kNone);
    make_room(phases);
  }

  Phase phases() const { return phases_; }
  std::uint32_t ranks() const { return ranks_; }
  Phase phase_of(Message message) const { return phase_of_[message]; }
  Message opposite(Message message) const { return message % ranks_ * ranks_ + message / ranks_; }

  /// More phases.
  void add_phases(Phase more) {
    if (phases_ + more > words_ * kWordBits) {
      make_room(phases_ + more);
    } else {
      phases_ += more;
    }
  }

  void put(Message message, Phase phase) {
    phase_of_[message] = phase;
    resources_.find(message, placed_);
    for (const std::uint32_t resource : placed_) {
      busy(resource, phase / kWordBits) |= bit(phase);
      user(resource, phase) = message;
    }
  }
  void take(Message message) {
    const Phase phase = std::exchange(phase_of_[message], kNone);
    resources_.find(message, placed_);
    for (const std::uint32_t resource : placed_) {
      busy(resource, phase / kWordBits) &= ~bit(phase);
      user(resource, phase) = kNone;
    }
  }

  /// The next phase from `first` on, around the end, in which nothing is in a message's way; kNone
  /// for none. O(channels of its route * phases / 64).
  Phase free_phase(Message message, Phase first) {
    resources_.find(message, used_);
    // The first word is looked at twice: its lower bits at the end.
    for (std::uint32_t step = 0; step <= words_; ++step) {
      const std::uint32_t word = (first / kWordBits + step) % words_;
      std::uint64_t free = ~hindered(message, used_, word).once & existing(word);
      if (step == 0) free &= ~std::uint64_t{0} << (first % kWordBits);
      if (free != 0) return word * kWordBits + lowest_bit(free);
    }
    return kNone;
  }

  /// Calls visit(phase, other message) for every phase in which one thing alone is in a message's
  /// way, until it returns true; whether it did. O(as above).
  template <class Visit>
  bool each_with_one_in_the_way(Message message, Phase first, const Visit& visit) {
    // Not in used_: what is called may look at other messages.
    resources_.find(message, hindering_);
    for (std::uint32_t step = 0; step < words_; ++step) {
      const std::uint32_t word = (first / kWordBits + step) % words_;
      const Hindered here = hindered(message, hindering_, word);
      for (std::uint64_t one = here.once & ~here.again & existing(word); one != 0; one &= one - 1) {
        const Phase phase = word * kWordBits + lowest_bit(one);
        if (visit(phase, in_the_way(message, phase).front())) return true;
      }
    }
    return false;
  }

  /// The messages in a message's way in a phase; O(channels of its route).
  const std::vector<Message>& in_the_way(Message message, Phase phase) {
    resources_.find(message, used_);
    others_.clear();
    for (const std::uint32_t resource : used_) add_other(user(resource, phase));
    if (phase_of_[opposite(message)] == phase) add_other(opposite(message));
    return others_;
  }

 private:
  /// Phases in which something is in the way, and those in which something else is too.
  struct Hindered {
    std::uint64_t once = 0;
    std::uint64_t again = 0;
  };

  static std::uint64_t bit(Phase phase) { return std::uint64_t{1} << (phase % kWordBits); }
  std::uint64_t& busy(std::uint32_t resource, std::uint32_t word) {
    return busy_[std::size_t{resource} * words_ + word];
  }
  Message& user(std::uint32_t resource, Phase phase) {
    return user_[std::size_t{resource} * words_ * kWordBits + phase];
  }
  /// The phases of a word that there are.
  std::uint64_t existing(std::uint32_t word) const {
    const Phase left = phases_ - std::min(phases_, word * kWordBits);
    return left >= kWordBits ? ~std::uint64_t{0} : (std::uint64_t{1} << left) - 1;
  }
  /// Of a word of phases, for a message and what it uses.
  Hindered hindered(Message message, const std::vector<std::uint32_t>& used, std::uint32_t word) {
    Hindered found;
    const auto add = [&](std::uint64_t phases) {
      found.again |= found.once & phases;
      found.once |= phases;
    };
    for (const std::uint32_t resource : used) add(busy(resource, word));
    const Phase banned = phase_of_[opposite(message)];
    if (banned != kNone && banned / kWordBits == word) add(bit(banned));
    return found;
  }
  void add_other(Message other) {
    if (other == kNone) return;
    if (std::find(others_.begin(), others_.end(), other) == others_.end()) others_.push_back(other);
  }

  void make_room(Phase phases) {
    phases_ = phases;
    words_ = std::max<std::uint32_t>(1, (phases + kWordBits - 1) / kWordBits);
    busy_.assign(resources_.count() * words_, 0);
    user_.assign(resources_.count() * words_ * kWordBits, kNone);
    for (std::size_t message = 0; message < phase_of_.size(); ++message) {
      if (phase_of_[message] != kNone) put(static_cast<Message>(message), phase_of_[message]);
    }
  }

  const Resources& resources_;
  std::uint32_t ranks_ = 0;
  Phase phases_ = 0;
  std::uint32_t words_ = 0;
  std::vector<std::uint64_t> busy_;
  std::vector<Message> user_;
  std::vector<Phase> phase_of_;
  // Room for what is found on the way.
  std::vector<std::uint32_t> placed_, used_, hindering_;
  std::vector<Message> others_;
};

/// All messages: those over the fullest channels first, among these shift after shift, with the
/// ranks in the order of their hosts. In regular trees shifts of that order hardly meet. With every
/// message comes the phase in which it is tried first: that of its shift.
std::vector<std::pair<Message, Phase>> in_order(const Resources& resources,
                                                const std::vector<std::uint32_t>& host_of_rank) {
  const auto ranks = static_cast<std::uint32_t>(resources.ranks());
  std::vector<Rank> by_host(ranks);
  for (Rank rank = 0; rank < ranks; ++rank) by_host[rank] = rank;
  std::stable_sort(by_host.begin(), by_host.end(),
                   [&](Rank a, Rank b) { return host_of_rank[a] < host_of_rank[b]; });
  struct Entry {
    std::uint64_t load;
    std::pair<Message, Phase> message;
  };
  std::vector<Entry> entries;
  entries.reserve(std::size_t{ranks} * ranks);
  std::vector<std::uint32_t> used;
  for (std::uint32_t places = 1; places < ranks; ++places) {
    for (std::uint32_t at = 0; at < ranks; ++at) {
      const Message message = by_host[at] * ranks + by_host[(at + places) % ranks];
      resources.find(message, used);
      entries.push_back({resources.largest_load(used), {message, places - 1}});
    }
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.load > b.load; });
  std::vector<std::pair<Message, Phase>> ordered;
  ordered.reserve(entries.size());
  for (const Entry& entry : entries) ordered.push_back(entry.message);
  return ordered;
}

/// Finds phases for messages that found none free, by moving others out of their way.
///
/// A message drawn from those that are left takes a phase in which one other message alone is in
/// its way; best one whose other message is free to move to another phase. Otherwise the other one,
/// that which has stayed longest, is left over in its place, and so on: a search for a chain of
/// moves without going back. Where every phase has several messages in its way, the fewest give
/// way.
class Repair {
 public:
  explicit Repair(Board& board)
      : board_(board), moved_at_(std::size_t{board.ranks()} * board.ranks(), 0) {}

  /// Adds phases when long nothing has got better.
  void place(std::vector<Message> left) {
    left_ = std::move(left);
    std::size_t fewest_left = left_.size();
    std::uint64_t idle = 0;
    while (!left_.empty()) {
      place(draw());
      if (left_.size() < fewest_left) {
        fewest_left = left_.size();
        idle = 0;
      } else if (++idle > patience()) {
        board_.add_phases(std::max<Phase>(1, board_.phases() / 128));
        fewest_left = left_.size();
        idle = 0;
      }
    }
  }

 private:
  /// Steps without progress; more of them gain a phase at best, in small cases.
  std::uint64_t patience() const { return 500 + std::uint64_t{20} * board_.ranks(); }

  Message draw() {
    Message& drawn = left_[random_.below(left_.size())];
    const Message message = drawn;
    drawn = left_.back();
    left_.pop_back();
    return message;
  }

  void place(Message message) {
    const Phase free = board_.free_phase(message, random_.below(board_.phases()));
    if (free != kNone) {
      board_.put(message, free);
    } else if (!move_one_on(message)) {
      drive_out(message);
    }
  }

  /// Moves the one message that is in the way to a free phase. Otherwise notes, of such phases, the
  /// one whose message has stayed longest.
  bool move_one_on(Message message) {
    constexpr int most_tries = 40;
    int tries = 0;
    longest_ = {kNone, kNone};
    return board_.each_with_one_in_the_way(
        message, random_.below(board_.phases()), [&](Phase phase, Message other) {
          if (tries++ < most_tries) {
            const Phase free = board_.free_phase(other, random_.below(board_.phases()));
            if (free != kNone) {
              board_.take(other);
              board_.put(other, free);
              board_.put(message, phase);
              return true;
            }
          }
          if (longest_.first == kNone || moved_at_[other] < moved_at_[longest_.second]) {
            longest_ = {phase, other};
          }
          return false;
        });
  }

  /// Takes a phase, and leaves over what is in the way there.
  void drive_out(Message message) {
    const Phase phase = longest_.first != kNone ? longest_.first : cheapest(message);
    const std::vector<Message> others = board_.in_the_way(message, phase);
    ++now_;
    for (const Message other : others) {
      board_.take(other);
      moved_at_[other] = now_;
      left_.push_back(other);
    }
    board_.put(message, phase);
    moved_at_[message] = now_;
  }

  /// The phase with the fewest messages in the way; among these, those that have stayed longest.
  Phase cheapest(Message message) {
    Phase best = 0;
    std::pair<std::size_t, std::uint64_t> least{std::numeric_limits<std::size_t>::max(), 0};
    const Phase first = random_.below(board_.phases());
    for (Phase step = 0; step < board_.phases(); ++step) {
      const Phase phase = (first + step) % board_.phases();
      std::pair<std::size_t, std::uint64_t> cost{0, 0};
      for (const Message other : board_.in_the_way(message, phase)) {
        ++cost.first;
        cost.second += moved_at_[other];
      }
      if (cost < least) {
        least = cost;
        best = phase;
      }
    }
    return best;
  }

  Board& board_;
  Random random_{1};
  std::vector<Message> left_;
  std::vector<std::uint32_t> moved_at_;
  std::uint32_t now_ = 0;
  std::pair<Phase, Message> longest_{kNone, kNone};
};

Phases phases_of(const Board& board, std::uint32_t bound) {
  Phases made;
  made.ranks = board.ranks();
  made.count = board.phases();
  made.bound = bound;
  made.to.assign(std::size_t{made.ranks} * made.count, -1);
  made.from.assign(made.to.size(), -1);
  for (Rank source = 0; source < made.ranks; ++source) {
    for (Rank target = 0; target < made.ranks; ++target) {
      if (source == target) continue;
      const Phase phase = board.phase_of(source * made.ranks + target);
      made.to[std::size_t{source} * made.count + phase] = static_cast<std::int32_t>(target);
      made.from[std::size_t{target} * made.count + phase] = static_cast<std::int32_t>(source);
    }
  }
  return made;
}

}  // namespace

Phases phases_by_routes(const HostRoutes& routes, const std::vector<std::uint32_t>& host_of_rank) {
  check(routes, host_of_rank);
  const Resources resources(routes, host_of_rank);
  const std::uint32_t bound = bound_of(resources);
  Board board(resources, bound);
  std::vector<Message> left;
  for (const auto& [message, first] : in_order(resources, host_of_rank)) {
    const Phase phase = board.free_phase(message, first);
    if (phase == kNone) {
      left.push_back(message);
    } else {
      board.put(message, phase);
    }
  }
  Repair(board).place(std::move(left));
  return phases_of(board, bound);
}

std::uint32_t fewest_phases(const HostRoutes& routes,
                            const std::vector<std::uint32_t>& host_of_rank) {
  check(routes, host_of_rank);
  return bound_of(Resources(routes, host_of_rank));
}

}  // namespace contend::tuned
