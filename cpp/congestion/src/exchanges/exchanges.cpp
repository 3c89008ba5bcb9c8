#include "exchanges.hpp"

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "../drawing/round_drawer.hpp"
#include "../rounds/stopwatch.hpp"
#include "contend/base/error.hpp"
#include "contend/base/threads.hpp"
#include "contend/routes/ways/route_trees.hpp"
#include "seated_exchange.hpp"

namespace contend {

namespace {

/// As many as a count of one by one holds: the histogram has an entry for every pi.
constexpr std::uint64_t kMostMessages = 0x7FFF'FFFF;

/// Targets of an exchange whose trees are grown together.
struct Piece {
  std::size_t exchange;
  std::size_t first;
  std::size_t size;
};

/// All exchanges of a round.
struct Round {
  Round(const RouteTrees& trees, const Pattern& pattern, const RoundDrawer& drawer,
        std::uint32_t round, std::size_t places, std::span<const double> injection)
      : sent(places, 0) {
    const auto place_of = [&](Rank rank) { return drawer.place_of(rank); };
    for (const Exchange& ranks : pattern.exchanges(round)) {
      SeatedExchange& exchange = exchanges.emplace_back(ranks, trees, place_of);
      const std::size_t size = exchange.places().size();
      for (std::size_t i = 0; i < size; ++i) {
        sent[exchange.places()[i]] += exchange.sent(i);
        stayed += exchange.stayed(i);
      }
      for (std::size_t first = 0; first < size; first += RouteTrees::Grower::kMost) {
        pieces.push_back({exchanges.size() - 1, first,
                          std::min<std::size_t>(RouteTrees::Grower::kMost, size - first)});
      }
    }
    for (SeatedExchange& exchange : exchanges) exchange.group(trees, sent, injection);
  }

  std::vector<SeatedExchange> exchanges;
  std::vector<Piece> pieces;
  std::vector<std::uint64_t> sent;  ///< by place, and as many received
  std::uint64_t stayed = 0;
};

/// The values that pi may have in a round, ascending: 0, 1 and all loads above.
struct Values {
  void number(std::span<const std::uint64_t> load, std::span<const std::uint64_t> sent) {
    value.assign({0, 1});
    for (const auto& some : {load, sent}) {
      for (const std::uint64_t messages : some) {
        if (messages > 1) value.push_back(messages);
      }
    }
    std::ranges::sort(value);
    const auto rest = std::ranges::unique(value);
    value.erase(rest.begin(), rest.end());
    number_all(load, of_channel);
    number_all(sent, of_place);
  }
  std::uint32_t number_of(std::uint64_t messages) const {
    return static_cast<std::uint32_t>(std::ranges::lower_bound(value, messages) - value.begin());
  }

  std::vector<std::uint64_t> value;
  std::vector<std::uint32_t> of_channel;
  std::vector<std::uint32_t> of_place;

 private:
  void number_all(std::span<const std::uint64_t> some, std::vector<std::uint32_t>& numbers) const {
    numbers.clear();
    for (const std::uint64_t messages : some) numbers.push_back(number_of(messages));
  }
};

/// What a message needs for a byte where channels differ in rate.
struct Seconds {
  Seconds(const Resolver& resolver, const ChannelRates* rates) {
    if (rates == nullptr) return;
    between = rates->seconds_between(0);
    for (Place place = 0; place < resolver.places(); ++place) {
      injection.push_back(1 / rates->injection(place));
      ejection.push_back(1 / rates->ejection(place));
    }
  }

  bool none() const { return injection.empty(); }

  std::vector<double> between;  ///< by channel; all are empty where rates do not matter
  std::vector<double> injection;
  std::vector<double> ejection;
};

/// One thread's share of a round.
class ExchangeCounter {
 public:
  ExchangeCounter(const RouteTrees& trees, std::size_t channels)
      : grower_(trees),
        load_(channels, 0),
        ranks_at_(trees.switches(), 0),
        flow_(trees.switches(), 0),
        worst_(trees.switches(), 0) {}

  std::vector<std::uint64_t>& load() { return load_; }
  std::vector<std::uint64_t>& by_value() { return by_value_; }
  Stopwatch& watch() { return watch_; }

  void begin() { exchange_ = nullptr; }

  /// Adds what the targets of a piece get to the channels on the way.
  void count(const Round& round, const Piece& piece) {
    turn_to(round.exchanges[piece.exchange]);
    for_each_tree(piece, [&](std::size_t i, const InTree& tree, std::span<const Step> steps) {
      const std::uint64_t ranks = exchange_->ranks_at(i);
      const std::span<const SwitchId> order = tree.order();
      for (const SwitchId s : order) flow_[s] = ranks_at_[s] * ranks;
      exchange_->left_out(i, [&](const SeatedExchange::FromGroup& from) {
        flow_[exchange_->groups()[from.group].leaf] -= from.messages;
      });
      for (std::size_t k = order.size(); k-- > 1;) {
        const Step step = steps[order[k]];
        const std::uint64_t messages = flow_[order[k]];
        load_[step.channel] += messages;
        flow_[step.onward.to()] += messages;
      }
    });
  }

  void begin_judging(const Values& values) {
    exchange_ = nullptr;
    by_value_.assign(values.value.size(), 0);
  }

  /// Counts the messages to the targets of a piece by their value of pi. What they get by the rates
  /// where there are any.
  RoundShares judge(const Round& round, const Piece& piece, const Values& values,
                    std::span<const std::uint64_t> load, const Seconds& seconds) {
    turn_to(round.exchanges[piece.exchange]);
    number_groups(values);
    if (!seconds.none()) seconds_.resize(worst_.size());
    RoundShares shares;
    for_each_tree(piece, [&](std::size_t i, const InTree& tree, std::span<const Step> steps) {
      const Place target = exchange_->places()[i];
      find_worst(tree, steps, values.of_channel);
      find_messages(i);
      const std::span<const SeatedExchange::Group> groups = exchange_->groups();
      const std::uint32_t received = values.of_place[target];
      for (std::size_t g = 0; g < groups.size(); ++g) {
        by_value_[std::max({worst_[groups[g].leaf], number_[g], received})] += messages_[g];
      }
      if (seconds.none()) return;
      find_seconds(tree, steps, load, seconds.between);
      const double out = seconds.ejection[target];
      const double last = static_cast<double>(round.sent[target]) * out;
      for (std::size_t g = 0; g < groups.size(); ++g) {
        if (messages_[g] == 0) continue;
        const SeatedExchange::Group& group = groups[g];
        const double first = static_cast<double>(group.sent) * group.injection;
        const double alone = std::max(group.injection, out);
        const double all = std::max({alone, seconds_[group.leaf], first, last});
        const double ports = std::max({alone, first, last});
        shares.add(share(static_cast<double>(messages_[g]), alone, all, ports));
      }
    });
    return shares;
  }

 private:
  void turn_to(const SeatedExchange& exchange) {
    if (exchange_ == &exchange) return;
    std::ranges::fill(ranks_at_, std::uint64_t{0});
    for (const SeatedExchange::Group& group : exchange.groups()) {
      ranks_at_[group.leaf] += group.ranks;
    }
    exchange_ = &exchange;
    number_.clear();
  }

  void number_groups(const Values& values) {
    if (!number_.empty()) return;
    for (const SeatedExchange::Group& group : exchange_->groups()) {
      number_.push_back(values.number_of(group.sent));
    }
  }

  template <class Visit>
  void for_each_tree(const Piece& piece, const Visit& visit) {
    std::size_t i = piece.first;
    grower_.grow(
        exchange_->places().subspan(piece.first, piece.size), exchange_->leaves(),
        [&](Place, const InTree& tree, std::span<const Step> steps) { visit(i++, tree, steps); });
  }

  /// The number of the largest load on the way from every switch of a tree; that of 1 without any.
  void find_worst(const InTree& tree, std::span<const Step> steps,
                  std::span<const std::uint32_t> number) {
    const std::span<const SwitchId> order = tree.order();
    worst_[order.front()] = 1;
    for (const SwitchId s : order.subspan(1)) {
      worst_[s] = std::max(worst_[steps[s].onward.to()], number[steps[s].channel]);
    }
  }

  void find_seconds(const InTree& tree, std::span<const Step> steps,
                    std::span<const std::uint64_t> load, std::span<const double> seconds) {
    const std::span<const SwitchId> order = tree.order();
    seconds_[order.front()] = 0;
    for (const SwitchId s : order.subspan(1)) {
      const ChannelId channel = steps[s].channel;
      seconds_[s] = std::max(seconds_[steps[s].onward.to()],
                             static_cast<double>(load[channel]) * seconds[channel]);
    }
  }

  /// What every group sends to the i-th place.
  void find_messages(std::size_t i) {
    const std::uint64_t ranks = exchange_->ranks_at(i);
    messages_.clear();
    for (const SeatedExchange::Group& group : exchange_->groups()) {
      messages_.push_back(group.ranks * ranks);
    }
    exchange_->left_out(
        i, [&](const SeatedExchange::FromGroup& from) { messages_[from.group] -= from.messages; });
  }

  static RoundShares share(double messages, double alone, double seconds, double ports) {
    return {messages,
            messages * (alone / seconds),
            messages * (seconds / alone),
            seconds / alone,
            messages / seconds,
            messages * seconds,
            seconds,
            0,
            0,
            ports};
  }

  RouteTrees::Grower grower_;
  std::vector<std::uint64_t> load_;
  std::vector<std::uint64_t> ranks_at_;  ///< by switch, of exchange_
  const SeatedExchange* exchange_ = nullptr;
  std::vector<std::uint32_t> number_;    ///< by group of exchange_: the number of what each sends
  std::vector<std::uint64_t> flow_;      ///< by switch: what it passes on to a target
  std::vector<std::uint32_t> worst_;     ///< by switch, to a target
  std::vector<double> seconds_;          ///< by switch, to a target
  std::vector<std::uint64_t> messages_;  ///< by group, to a target
  std::vector<std::uint64_t> by_value_;
  Stopwatch watch_;
};

/// All threads' work.
class ExchangeRounds {
 public:
  ExchangeRounds(const Resolver& resolver, const Pattern& pattern, const Seating& seating,
                 const Samples& samples, int threads, const ChannelRates* rates)
      : resolver_(resolver),
        pattern_(pattern),
        drawer_(pattern, seating, samples, true),
        threads_(threads),
        seconds_(resolver, rates),
        total_(resolver.switch_channels() + 2 * resolver.places(), 0) {
    for (int thread = 0; thread < threads; ++thread) {
      counters_.emplace_back(*resolver.trees(), resolver.switch_channels());
    }
  }

  RoundAverages run(std::uint64_t sample, std::uint32_t number, RoundShares* shares) {
    Stopwatch& watch = counters_.front().watch();
    watch.start();
    Progress passes(2);
    drawer_.begin(sample, number);
    const Round round(*resolver_.trees(), pattern_, drawer_, number, resolver_.places(),
                      seconds_.injection);
    watch.drew();
    watch.stop();
    const std::span<const std::uint64_t> load = count(round);
    passes.done();
    watch.start();
    values_.number(load, round.sent);
    add_totals(load, round.sent);
    if (values_.value.back() > kMostMessages) {
      throw Error("at most " + std::to_string(kMostMessages) +
                  " messages on a channel in one round can be counted");
    }
    watch.counted();
    watch.stop();
    const std::span<const std::uint64_t> by_value = judge(round, load, shares);
    add_to_histogram(by_value, round.stayed);
    RoundAverages averages = average(by_value, std::span<const std::uint64_t>(values_.value));
    averages.ports = static_cast<double>(std::ranges::max(round.sent));
    return averages;
  }

  void add_to(BatchResult& result) {
    result.histogram = std::move(histogram_);
    result.channel_messages = std::move(total_);
    for (ExchangeCounter& counter : counters_) counter.watch().add_to(result);
  }

 private:
  template <class Work>
  void in_pieces(const Round& round, const Work& work) {
    const std::size_t pieces = round.pieces.size();
    in_parallel(threads_, pieces, run_length(pieces, threads_), [&](const Pieces& mine) {
      ExchangeCounter& counter = counters_[mine.thread()];
      counter.watch().start();
      for (const std::size_t piece : mine) work(counter, piece);
      counter.watch().counted();
      counter.watch().stop();
    });
  }

  std::span<const std::uint64_t> count(const Round& round) {
    for (ExchangeCounter& counter : counters_) {
      counter.begin();
      std::ranges::fill(counter.load(), std::uint64_t{0});
    }
    in_pieces(round, [&](ExchangeCounter& counter, std::size_t piece) {
      counter.count(round, round.pieces[piece]);
    });
    return sum([](ExchangeCounter& counter) -> auto& { return counter.load(); });
  }

  std::span<const std::uint64_t> judge(const Round& round, std::span<const std::uint64_t> load,
                                       RoundShares* shares) {
    for (ExchangeCounter& counter : counters_) counter.begin_judging(values_);
    std::vector<RoundShares> found(shares != nullptr ? round.pieces.size() : 0);
    in_pieces(round, [&](ExchangeCounter& counter, std::size_t piece) {
      const RoundShares these = counter.judge(round, round.pieces[piece], values_, load, seconds_);
      if (shares != nullptr) found[piece] = these;
    });
    // In the order of the pieces: sums of rounded numbers depend on it.
    for (const RoundShares& these : found) shares->add(these);
    return sum([](ExchangeCounter& counter) -> auto& { return counter.by_value(); });
  }

  template <class Part>
  std::span<const std::uint64_t> sum(const Part& part) {
    std::vector<std::uint64_t>& first = part(counters_.front());
    for (std::size_t k = 1; k < counters_.size(); ++k) {
      const std::vector<std::uint64_t>& other = part(counters_[k]);
      for (std::size_t n = 0; n < first.size(); ++n) first[n] += other[n];
    }
    return first;
  }

  void add_totals(std::span<const std::uint64_t> load, std::span<const std::uint64_t> sent) {
    for (std::size_t c = 0; c < load.size(); ++c) total_[c] += load[c];
    for (std::size_t place = 0; place < sent.size(); ++place) {
      total_[load.size() + place] += sent[place];
      total_[load.size() + sent.size() + place] += sent[place];
    }
  }

  void add_to_histogram(std::span<const std::uint64_t> by_value, std::uint64_t stayed) {
    histogram_.resize(std::max<std::size_t>(histogram_.size(), values_.value.back() + 1), 0);
    for (std::size_t n = 1; n < by_value.size(); ++n) histogram_[values_.value[n]] += by_value[n];
    histogram_[0] += stayed;
  }

  const Resolver& resolver_;
  const Pattern& pattern_;
  RoundDrawer drawer_;
  int threads_;
  Seconds seconds_;
  Values values_;
  std::deque<ExchangeCounter> counters_;
  std::vector<std::uint64_t> total_;
  std::vector<std::uint64_t> histogram_;
};

}  // namespace

bool counts_exchanges(const Resolver& resolver, const Pattern& pattern) {
  if (resolver.trees() == nullptr) return false;
  const std::uint64_t targets = std::min<std::uint64_t>(pattern.ranks(), resolver.places());
  const std::uint64_t steps = pattern.rounds() * targets * resolver.trees()->switches();
  // One by one, each message is looked up twice, as a round of many has several pieces.
  if (2 * pattern.messages_expected() < steps) return false;
  for (std::uint32_t round = 0; round < pattern.rounds(); ++round) {
    if (pattern.exchanges(round).empty()) return false;
  }
  return true;
}

void count_exchanges(const Resolver& resolver, const Pattern& pattern, const Seating& seating,
                     const Samples& samples, int threads, const ChannelRates* rates,
                     std::span<RoundAverages> cells, std::span<RoundShares> shares,
                     BatchResult& result) {
  ExchangeRounds rounds(resolver, pattern, seating, samples, threads, rates);
  for (const std::size_t cell : InParts(cells.size())) {
    cells[cell] = rounds.run(samples.first + cell / pattern.rounds(),
                             static_cast<std::uint32_t>(cell % pattern.rounds()),
                             shares.empty() ? nullptr : &shares[cell]);
  }
  rounds.add_to(result);
}

}  // namespace contend
