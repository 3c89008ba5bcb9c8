#include "contend/congestion/channel_users.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>

#include "../drawing/round_drawer.hpp"
#include "../ideal/ideal_rates.hpp"
#include "contend/base/error.hpp"
#include "contend/base/threads.hpp"
#include "contend/routes/ways/ways.hpp"

namespace contend {

namespace {

constexpr auto kNotAsked = std::numeric_limits<std::uint32_t>::max();

/// Row of every channel that was asked for, else kNotAsked: between switches with the padding of
/// short routes behind them, then of hosts' channels by place.
struct Rows {
  Rows(const Resolver& resolver, std::span<const std::uint32_t> channels)
      : between(resolver.switch_channels() + kPads, kNotAsked),
        injection(resolver.places(), kNotAsked),
        ejection(resolver.places(), kNotAsked) {
    const std::size_t switches = resolver.switch_channels();
    for (std::uint32_t row = 0; row < channels.size(); ++row) {
      const std::size_t channel = channels[row];
      if (channel >= switches + 2 * resolver.places()) throw Error("channels of the fabric");
      std::uint32_t& place = channel < switches ? between[channel]
                             : channel < switches + resolver.places()
                                 ? injection[channel - switches]
                                 : ejection[channel - switches - resolver.places()];
      if (place != kNotAsked) throw Error("every channel once");
      place = row;
    }
  }

  std::vector<std::uint32_t> between;
  std::vector<std::uint32_t> injection;
  std::vector<std::uint32_t> ejection;
};

/// Where messages split over ways that no resolver tells one by one: the part of those from a leaf
/// to a class of targets that crosses a channel, for every channel between switches that was asked
/// for.
class Parts {
 public:
  /// A message counts for so many, so that sums do not depend on the order: a millionth is told.
  static constexpr std::uint32_t kUnit = 1U << 20;

  Parts(const Ways* ways, const Rows& rows) : ways_(ways) {
    if (ways_ == nullptr) return;
    for (ChannelId channel = 0; channel < rows.between.size(); ++channel) {
      if (rows.between[channel] == kNotAsked) continue;
      std::vector<std::uint32_t>& part = of_rows_.emplace_back(rows.between[channel]).part;
      for (const double each : ways_->parts_across(channel)) {
        part.push_back(static_cast<std::uint32_t>(std::lround(each * kUnit)));
      }
    }
  }

  bool any() const { return ways_ != nullptr; }

  template <class Visit>
  void for_each(Place source, Place target, const Visit& visit) const {
    const std::size_t pair = ways_->class_of(target) * ways_->leaves() + ways_->leaf_of(source);
    for (const OfRow& of_row : of_rows_) {
      if (of_row.part[pair] > 0) visit(of_row.row, of_row.part[pair]);
    }
  }

 private:
  struct OfRow {
    explicit OfRow(std::uint32_t number) : row(number) {}
    std::uint32_t row;
    std::vector<std::uint32_t> part;  ///< by target's class and source's leaf
  };

  const Ways* ways_;
  std::vector<OfRow> of_rows_;
};

/// One thread's share of the work.
template <class Id>
class Watcher {
 public:
  Watcher(const Resolver& resolver, const Pattern& pattern, const Seating& seating,
          const Samples& samples, const Rows& rows, const Parts& parts, std::uint32_t unit,
          std::size_t channels)
      : resolver_(resolver),
        pattern_(pattern),
        rows_(rows),
        parts_(parts),
        unit_(unit),
        drawer_(pattern, seating, samples, pattern.shares_ends() || shares_places(seating)),
        sources_(channels * resolver.places(), 0),
        targets_(sources_.size(), 0) {}

  void run(std::uint64_t sample, std::uint32_t round) {
    begin(sample, round);
    for (const std::uint32_t piece : InParts(pattern_.pieces(round))) {
      run_piece(piece);
    }
  }

  void begin(std::uint64_t sample, std::uint32_t round) {
    drawer_.begin(sample, round);
    draw_ = drawer_.routes_of(sample);
  }

  void run_piece(std::uint32_t piece) {
    const Messages& messages = drawer_.draw(piece);
    for (std::size_t m = 0; m < messages.size(); ++m) {
      const Place source = messages.source[m];
      const Place target = messages.target[m];
      add(rows_.injection[source], source, target, unit_);
      add(rows_.ejection[target], source, target, unit_);
    }
    if (parts_.any()) {
      add_parts(messages);
    } else {
      add_routes(messages);
    }
  }

  void add_to(ChannelUsers& users) const {
    for (std::size_t i = 0; i < sources_.size(); ++i) users.sources[i] += sources_[i];
    for (std::size_t i = 0; i < targets_.size(); ++i) users.targets[i] += targets_[i];
  }

 private:
  void add_parts(const Messages& messages) {
    for (std::size_t m = 0; m < messages.size(); ++m) {
      const Place source = messages.source[m];
      const Place target = messages.target[m];
      parts_.for_each(source, target, [&](std::uint32_t row, std::uint32_t part) {
        add(row, source, target, part);
      });
    }
  }

  /// A message has as many parts as it counts for: each counts for one.
  void add_routes(const Messages& messages) {
    const std::size_t stride = resolver_.stride();
    routes_.resize(std::max(routes_.size(), messages.size() * stride));
    resolver_.resolve_drawn(messages.source, messages.target, draw_, routes_.data());
    const Id* route = routes_.data();
    for (std::size_t m = 0; m < messages.size(); ++m, route += stride) {
      const Place source = messages.source[m];
      const Place target = messages.target[m];
      for (std::size_t k = 0; k < stride; ++k) add(rows_.between[route[k]], source, target, 1);
    }
  }

  void add(std::uint32_t row, Place source, Place target, std::uint32_t amount) {
    if (row == kNotAsked) return;
    sources_[row * resolver_.places() + source] += amount;
    targets_[row * resolver_.places() + target] += amount;
  }

  const Resolver& resolver_;
  const Pattern& pattern_;
  const Rows& rows_;
  const Parts& parts_;
  std::uint32_t unit_;
  RoundDrawer drawer_;
  std::uint64_t draw_ = 0;
  std::vector<Id> routes_;
  std::vector<std::uint64_t> sources_;
  std::vector<std::uint64_t> targets_;
};

/// Where messages split as is best for all of their round: one thread's share of the work.
class IdealWatcher {
 public:
  IdealWatcher(const Resolver& resolver, const Pattern& pattern, const Seating& seating,
               const Samples& samples, std::span<const std::uint32_t> channels,
               std::span<const double> rate)
      : pattern_(pattern),
        channels_(channels),
        between_(resolver.switch_channels()),
        places_(resolver.places()),
        rates_(resolver, rate),
        drawer_(pattern, seating, samples, pattern.shares_ends() || shares_places(seating)),
        sources_(channels.size() * places_, 0),
        targets_(sources_.size(), 0) {}

  void run(std::uint64_t sample, std::uint32_t round) {
    drawer_.begin(sample, round);
    std::vector<std::uint64_t> sent;
    for (const std::uint32_t piece : InParts(pattern_.pieces(round))) {
      const Messages& messages = drawer_.draw(piece);
      for (std::size_t m = 0; m < messages.size(); ++m) {
        sent.push_back(key_of_pair(messages.source[m], messages.target[m]));
      }
    }
    const PairsOfPlaces pairs = distinct_pairs(sent);
    rates_.solve(pairs);
    for (std::size_t row = 0; row < channels_.size(); ++row) add(row, pairs);
  }

  void add_to(ChannelUsers& users) const {
    for (std::size_t i = 0; i < sources_.size(); ++i) users.sources[i] += sources_[i];
    for (std::size_t i = 0; i < targets_.size(); ++i) users.targets[i] += targets_[i];
  }

 private:
  void add(std::size_t row, const PairsOfPlaces& pairs) {
    const ChannelId channel = channels_[row];
    const bool crosses = channel < between_;
    const std::vector<double> parts =
        crosses ? rates_.parts_across(channel) : std::vector<double>();
    for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
      const Place source = pairs.source[pair], target = pairs.target[pair];
      const bool at_port = channel == between_ + source || channel == between_ + places_ + target;
      const double part = crosses ? parts[pair] : at_port ? 1.0 : 0.0;
      const auto amount =
          static_cast<std::uint64_t>(std::llround(part * Parts::kUnit)) * pairs.messages[pair];
      sources_[row * places_ + source] += amount;
      targets_[row * places_ + target] += amount;
    }
  }

  const Pattern& pattern_;
  std::span<const std::uint32_t> channels_;
  std::size_t between_;
  std::size_t places_;
  IdealRates rates_;
  RoundDrawer drawer_;
  std::vector<std::uint64_t> sources_;
  std::vector<std::uint64_t> targets_;
};

ChannelUsers run_ideal(const Resolver& resolver, const Pattern& pattern, const Seating& seating,
                       const Samples& samples, std::span<const std::uint32_t> channels,
                       std::span<const double> rate, int threads) {
  const Rows checked(resolver, channels);
  ChannelUsers users;
  users.unit = Parts::kUnit;
  users.sources.resize(channels.size() * resolver.places(), 0);
  users.targets.resize(users.sources.size(), 0);
  std::deque<IdealWatcher> watchers;
  for (int thread = 0; thread < threads; ++thread) {
    watchers.emplace_back(resolver, pattern, seating, samples, channels, rate);
  }
  const std::uint32_t rounds = pattern.rounds();
  const std::size_t cells = std::size_t{samples.count} * rounds;
  in_parallel(threads, cells, run_length(cells, threads), [&](const Pieces& mine) {
    for (const std::size_t cell : mine) {
      watchers[mine.thread()].run(samples.first + cell / rounds,
                                  static_cast<std::uint32_t>(cell % rounds));
    }
  });
  for (const IdealWatcher& watcher : watchers) watcher.add_to(users);
  return users;
}

template <class Id>
ChannelUsers run(const Resolver& resolver, const Pattern& pattern, const Seating& seating,
                 const Samples& samples, std::span<const std::uint32_t> channels, int threads) {
  const Rows rows(resolver, channels);
  const Parts parts(resolver.ways(), rows);
  ChannelUsers users;
  const std::uint32_t unit = parts.any() ? Parts::kUnit : resolver.unit();
  users.unit = unit;
  users.sources.resize(channels.size() * resolver.places(), 0);
  users.targets.resize(users.sources.size(), 0);
  std::deque<Watcher<Id>> watchers;
  for (int thread = 0; thread < threads; ++thread) {
    watchers.emplace_back(resolver, pattern, seating, samples, rows, parts, unit, channels.size());
  }
  const std::uint32_t rounds = pattern.rounds();
  const std::size_t cells = std::size_t{samples.count} * rounds;
  if (shares_pieces(pattern, cells, threads)) {
    for (std::size_t cell = 0; cell < cells; ++cell) {
      const auto round = static_cast<std::uint32_t>(cell % rounds);
      for (Watcher<Id>& watcher : watchers) watcher.begin(samples.first + cell / rounds, round);
      const std::size_t pieces = pattern.pieces(round);
      in_parallel(threads, pieces, run_length(pieces, threads), [&](const Pieces& mine) {
        Watcher<Id>& watcher = watchers[mine.thread()];
        for (const std::size_t piece : mine) watcher.run_piece(static_cast<std::uint32_t>(piece));
      });
    }
  } else {
    in_parallel(threads, cells, run_length(cells, threads), [&](const Pieces& mine) {
      Watcher<Id>& watcher = watchers[mine.thread()];
      for (const std::size_t cell : mine) {
        watcher.run(samples.first + cell / rounds, static_cast<std::uint32_t>(cell % rounds));
      }
    });
  }
  for (const Watcher<Id>& watcher : watchers) watcher.add_to(users);
  return users;
}

}  // namespace

ChannelUsers channel_users(const Resolver& resolver, const Pattern& pattern, const Seating& seating,
                           const Samples& samples, std::span<const std::uint32_t> channels,
                           std::span<const double> rate, int threads) {
  check_samples(resolver, pattern, seating, samples);
  threads = thread_count(threads);
  if (resolver.ideal_ways() != nullptr) {
    return run_ideal(resolver, pattern, seating, samples, channels, rate, threads);
  }
  return resolver.narrow()
             ? run<std::uint16_t>(resolver, pattern, seating, samples, channels, threads)
             : run<std::uint32_t>(resolver, pattern, seating, samples, channels, threads);
}

}  // namespace contend
