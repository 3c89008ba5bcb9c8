#include "contend/congestion/channel_users.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <type_traits>
#include <vector>

#include "../drawing/round_drawer.hpp"
#include "../ideal/ideal_rates.hpp"
#include "contend/base/error.hpp"
#include "contend/base/threads.hpp"
#include "contend/routes/split/ways.hpp"

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

/// What is drawn, and the channels that are watched.
struct Watched {
  const Resolver& resolver;
  const Pattern& pattern;
  const Seating& seating;
  const Samples& samples;
  std::span<const std::uint32_t> channels;
};

/// One thread's share of the work.
class Watcher {
 public:
  explicit Watcher(const Watched& watched)
      : resolver_(watched.resolver),
        pattern_(watched.pattern),
        drawer_(watched.pattern, watched.seating, watched.samples,
                watched.pattern.shares_ends() || shares_places(watched.seating)),
        users_{1, std::vector<std::uint64_t>(watched.channels.size() * resolver_.places(), 0), {}} {
    users_.targets = users_.sources;
  }

  void begin(std::uint64_t sample, std::uint32_t round) {
    drawer_.begin(sample, round);
    draw_ = drawer_.routes_of(sample);
  }

  void add_to(ChannelUsers& users) const {
    for (std::size_t i = 0; i < users.sources.size(); ++i) users.sources[i] += users_.sources[i];
    for (std::size_t i = 0; i < users.targets.size(); ++i) users.targets[i] += users_.targets[i];
  }

 protected:
  void add(std::size_t row, Place source, Place target, std::uint64_t amount) {
    users_.sources[row * resolver_.places() + source] += amount;
    users_.targets[row * resolver_.places() + target] += amount;
  }

  const Resolver& resolver_;
  const Pattern& pattern_;
  RoundDrawer drawer_;
  std::uint64_t draw_ = 0;

 private:
  ChannelUsers users_;
};

/// Where messages go their ways whatever else is sent.
template <class Id>
class WayWatcher : public Watcher {
 public:
  WayWatcher(const Watched& watched, const Rows& rows, const Parts& parts, std::uint32_t unit)
      : Watcher(watched), rows_(rows), parts_(parts), unit_(unit) {}

  void run(std::uint64_t sample, std::uint32_t round) {
    begin(sample, round);
    for (const std::uint32_t piece : InParts(pattern_.pieces(round))) {
      run_piece(piece);
    }
  }

  void run_piece(std::uint32_t piece) {
    const Messages& messages = drawer_.draw(piece);
    for (std::size_t m = 0; m < messages.size(); ++m) {
      const Place source = messages.source[m];
      const Place target = messages.target[m];
      add_asked(rows_.injection[source], source, target, unit_);
      add_asked(rows_.ejection[target], source, target, unit_);
    }
    if (parts_.any()) {
      add_parts(messages);
    } else {
      add_routes(messages);
    }
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
      for (std::size_t k = 0; k < stride; ++k)
        add_asked(rows_.between[route[k]], source, target, 1);
    }
  }

  void add_asked(std::uint32_t row, Place source, Place target, std::uint32_t amount) {
    if (row != kNotAsked) add(row, source, target, amount);
  }

  const Rows& rows_;
  const Parts& parts_;
  std::uint32_t unit_;
  std::vector<Id> routes_;
};

/// Where messages split as is best for all of their round.
class IdealWatcher : public Watcher {
 public:
  IdealWatcher(const Watched& watched, std::span<const double> rate)
      : Watcher(watched), channels_(watched.channels), rates_(watched.resolver, rate) {}

  void run(std::uint64_t sample, std::uint32_t round) {
    begin(sample, round);
    std::vector<std::uint64_t> sent;
    for (const std::uint32_t piece : InParts(pattern_.pieces(round))) {
      const Messages& messages = drawer_.draw(piece);
      for (std::size_t m = 0; m < messages.size(); ++m) {
        sent.push_back(key_of_pair(messages.source[m], messages.target[m]));
      }
    }
    const PairsOfPlaces pairs = distinct_pairs(sent);
    rates_.solve(pairs);
    for (std::size_t row = 0; row < channels_.size(); ++row) add_pairs(row, pairs);
  }

 private:
  void add_pairs(std::size_t row, const PairsOfPlaces& pairs) {
    const ChannelId channel = channels_[row];
    const std::size_t between = resolver_.switch_channels();
    const bool crosses = channel < between;
    const std::vector<double> parts =
        crosses ? rates_.parts_across(channel) : std::vector<double>();
    for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
      const Place source = pairs.source[pair], target = pairs.target[pair];
      const bool at_port =
          channel == between + source || channel == between + resolver_.places() + target;
      const double part = crosses ? parts[pair] : at_port ? 1.0 : 0.0;
      const auto amount = static_cast<std::uint64_t>(std::llround(part * Parts::kUnit));
      add(row, source, target, amount * pairs.messages[pair]);
    }
  }

  std::span<const std::uint32_t> channels_;
  IdealRates rates_;
};

/// All samples by as many watchers as there are threads, each made with `more`.
template <class Each, class... More>
ChannelUsers run(const Watched& watched, std::uint32_t unit, int threads, const More&... more) {
  const std::size_t size = watched.channels.size() * watched.resolver.places();
  ChannelUsers users{unit, std::vector<std::uint64_t>(size, 0),
                     std::vector<std::uint64_t>(size, 0)};
  std::deque<Each> watchers;
  for (int thread = 0; thread < threads; ++thread) watchers.emplace_back(watched, more...);
  const std::uint32_t rounds = watched.pattern.rounds();
  const std::size_t cells = std::size_t{watched.samples.count} * rounds;
  const auto sample = [&](std::size_t cell) { return watched.samples.first + cell / rounds; };
  const auto round = [&](std::size_t cell) { return static_cast<std::uint32_t>(cell % rounds); };
  bool together = false;
  if constexpr (!std::is_same_v<Each, IdealWatcher>) {
    together = shares_pieces(watched.pattern, cells, threads);
    for (std::size_t cell = 0; cell < cells && together; ++cell) {
      for (Each& watcher : watchers) watcher.begin(sample(cell), round(cell));
      const std::size_t pieces = watched.pattern.pieces(round(cell));
      in_parallel(threads, pieces, run_length(pieces, threads), [&](const Pieces& mine) {
        Each& watcher = watchers[mine.thread()];
        for (const std::size_t piece : mine) watcher.run_piece(static_cast<std::uint32_t>(piece));
      });
    }
  }
  if (!together) {
    in_parallel(threads, cells, run_length(cells, threads), [&](const Pieces& mine) {
      Each& watcher = watchers[mine.thread()];
      for (const std::size_t cell : mine) watcher.run(sample(cell), round(cell));
    });
  }
  for (const Each& watcher : watchers) watcher.add_to(users);
  return users;
}

}  // namespace

ChannelUsers channel_users(const Resolver& resolver, const Pattern& pattern, const Seating& seating,
                           const Samples& samples, std::span<const std::uint32_t> channels,
                           std::span<const double> rate, int threads) {
  check_samples(resolver, pattern, seating, samples);
  threads = thread_count(threads);
  const Watched watched{resolver, pattern, seating, samples, channels};
  const Rows rows(resolver, channels);
  if (resolver.ideal_ways() != nullptr) {
    return run<IdealWatcher>(watched, Parts::kUnit, threads, rate);
  }
  const Parts parts(resolver.ways(), rows);
  const std::uint32_t unit = parts.any() ? Parts::kUnit : resolver.unit();
  return resolver.narrow()
             ? run<WayWatcher<std::uint16_t>>(watched, unit, threads, rows, parts, unit)
             : run<WayWatcher<std::uint32_t>>(watched, unit, threads, rows, parts, unit);
}

}  // namespace contend
