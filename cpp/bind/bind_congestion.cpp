#include <nanobind/stl/optional.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>
#include <algorithm>

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "bind.hpp"
#include "contend/congestion/channel_users.hpp"
#include "contend/congestion/failures.hpp"
#include "contend/congestion/fair_share.hpp"
#include "contend/congestion/ideal_rounds.hpp"
#include "contend/congestion/messages.hpp"
#include "contend/congestion/reach.hpp"
#include "contend/congestion/seats.hpp"
#include "contend/congestion/simulate.hpp"

namespace contend::bind {

namespace {

using BatchColumns = nb::typed<nb::dict, nb::str, nb::any>;
using Slowest = nb::typed<nb::tuple, Numpy<std::uint64_t>, Numpy<std::uint64_t>>;
using Judged = nb::typed<nb::tuple, Numpy<std::uint32_t>, Numpy<double>, Numpy<std::uint64_t>>;

Slowest run_slowest_rounds(const Resolver& resolver, const Pattern& pattern,
                           const Vector<std::uint32_t>& slots, std::uint32_t ranks_per_slot,
                           int threads, const Vector<double>& rate) {
  SlowestRounds found;
  const Seating seating{as_vector(slots), ranks_per_slot, false};
  {
    const Released released;
    found = slowest_rounds(resolver, pattern, seating, threads, as_span(rate));
  }
  return nb::make_tuple(to_numpy(std::move(found.congestion)), to_numpy(std::move(found.time)));
}

BatchColumns columns_of(BatchResult result) {
  BatchColumns columns;
  columns["bandwidth"] = to_numpy(std::move(result.bandwidth));
  columns["mean_congestion"] = to_numpy(std::move(result.mean_congestion));
  columns["max_congestion"] = to_numpy(std::move(result.max_congestion));
  columns["share"] = to_numpy(std::move(result.share));
  columns["mean_slowdown"] = to_numpy(std::move(result.mean_slowdown));
  columns["max_slowdown"] = to_numpy(std::move(result.max_slowdown));
  columns["bytes_per_second"] = to_numpy(std::move(result.bytes_per_second));
  columns["mean_seconds_per_byte"] = to_numpy(std::move(result.mean_seconds_per_byte));
  columns["max_seconds_per_byte"] = to_numpy(std::move(result.max_seconds_per_byte));
  columns["pair_bandwidth"] = to_numpy(std::move(result.pair_bandwidth));
  columns["pair_bytes_per_second"] = to_numpy(std::move(result.pair_bytes_per_second));
  columns["round_mean_congestion"] = to_numpy(std::move(result.round_mean_congestion));
  columns["round_max_congestion"] = to_numpy(std::move(result.round_max_congestion));
  columns["round_samples"] = to_numpy(std::move(result.round_samples));
  columns["round_max_time"] = to_numpy(std::move(result.round_max_time));
  columns["histogram"] = to_numpy(std::move(result.histogram));
  columns["channel_messages"] = to_numpy(std::move(result.channel_messages));
  columns["gap"] = result.gap;
  columns["drawing_seconds"] = result.drawing_seconds;
  columns["counting_seconds"] = result.counting_seconds;
  return columns;
}

BatchColumns run_batch(const Resolver& resolver, const Pattern& pattern,
                       const Vector<std::uint32_t>& slots, std::uint32_t ranks_per_slot,
                       bool random_seating, std::uint64_t seed, std::uint64_t first,
                       std::uint32_t count, bool enumerate, int threads,
                       const Vector<double>& rate) {
  BatchResult result;
  const Seating seating{as_vector(slots), ranks_per_slot, random_seating};
  {
    const Released released;
    result = simulate(resolver, pattern, seating, {seed, first, count, enumerate}, threads,
                      as_span(rate));
  }
  return columns_of(std::move(result));
}

/// What a message counts for, sources and targets, each a row of places for each channel, one after
/// the other.
using Users = nb::typed<nb::tuple, std::uint64_t, Numpy<std::uint64_t>, Numpy<std::uint64_t>>;

Users find_users(const Resolver& resolver, const Pattern& pattern,
                 const Vector<std::uint32_t>& slots, std::uint32_t ranks_per_slot,
                 bool random_seating, std::uint64_t seed, std::uint64_t first, std::uint32_t count,
                 bool enumerate, int threads, const Vector<std::uint32_t>& channels,
                 const Vector<double>& rate) {
  ChannelUsers users;
  const Seating seating{as_vector(slots), ranks_per_slot, random_seating};
  {
    const Released released;
    users = channel_users(resolver, pattern, seating, {seed, first, count, enumerate},
                          as_span(channels), as_span(rate), threads);
  }
  return Users(nb::make_tuple(users.unit, to_numpy(std::move(users.sources)),
                              to_numpy(std::move(users.targets))));
}

/// Share of every message, and channels between switches with the part of it on each, a row each;
/// what is padding has the number `padding` and the part 0. Without parts rows are empty.
using SolvedRound = nb::typed<nb::tuple, Numpy<double>, Numpy<std::uint32_t>, Numpy<double>>;

SolvedRound solve_round(IdealRounds& rounds, const Vector<Place>& source,
                        const Vector<Place>& target, std::uint32_t padding, bool parts) {
  IdealRound found;
  std::size_t width = 0;
  std::vector<std::uint32_t> channels;
  std::vector<double> part;
  const std::size_t messages = source.size();
  {
    const Released released;
    found = rounds.solve(as_span(source), as_span(target), parts);
    for (const auto& row : found.parts) width = std::max(width, row.size());
    channels.assign(messages * width, padding);
    part.assign(messages * width, 0);
    for (std::size_t m = 0; m < found.parts.size(); ++m) {
      for (std::size_t k = 0; k < found.parts[m].size(); ++k) {
        channels[m * width + k] = found.parts[m][k].channel;
        part[m * width + k] = found.parts[m][k].part;
      }
    }
  }
  return SolvedRound(nb::make_tuple(to_numpy(std::move(found.share)),
                                    to_numpy(std::move(channels), {messages, width}),
                                    to_numpy(std::move(part), {messages, width})));
}

std::optional<std::uint64_t> count_outcomes(const Pattern& pattern,
                                            const Vector<std::uint32_t>& slots,
                                            std::uint32_t ranks_per_slot, bool random_seating) {
  return outcomes(pattern, {as_vector(slots), ranks_per_slot, random_seating});
}

/// Of ranks on places of their own numbers.
Numpy<std::uint64_t> count_messages(const Pattern& pattern, std::uint64_t seed, std::uint64_t first,
                                    std::uint32_t count, bool enumerate) {
  std::vector<Place> slots(pattern.ranks());
  std::iota(slots.begin(), slots.end(), 0U);
  std::vector<std::uint64_t> found;
  {
    const Released released;
    found = message_counts(pattern, {slots, 1, false}, {seed, first, count, enumerate});
  }
  return to_numpy(std::move(found));
}

Numpy<Place> draw_slots(const Vector<std::uint32_t>& slots, std::uint64_t seed,
                        std::uint64_t sample) {
  std::vector<Place> drawn = as_vector(slots);
  shuffle_slots(drawn, seed, sample);
  return to_numpy(std::move(drawn));
}

Judged judge_messages(const Resolver& resolver, const Vector<std::uint32_t>& source,
                      const Vector<std::uint32_t>& target, const Vector<double>& rate,
                      std::uint64_t draw) {
  MessageCongestion found;
  {
    const Released released;
    found = message_congestion(resolver, as_span(source), as_span(target), as_span(rate), draw);
  }
  return Judged(nb::make_tuple(to_numpy(std::move(found.congestion)),
                               to_numpy(std::move(found.share)),
                               to_numpy(std::move(found.channel_messages))));
}

Numpy<double> share_routes(const Matrix<std::uint32_t>& route, const Matrix<double>& load,
                           const Vector<double>& rate) {
  const Released released;
  std::vector<double> found = route_shares({route.data(), route.size()}, route.shape(1),
                                           {load.data(), load.size()}, as_span(rate));
  nb::gil_scoped_acquire acquire;
  return to_numpy(std::move(found));
}

Numpy<std::uint64_t> sum_amounts(const Resolver& resolver, const Vector<std::uint32_t>& source,
                                 const Vector<std::uint32_t>& target,
                                 const Vector<std::uint64_t>& amount) {
  const Released released;
  std::vector<std::uint64_t> found =
      channel_amounts(resolver, as_span(source), as_span(target), as_span(amount));
  nb::gil_scoped_acquire acquire;
  return to_numpy(std::move(found));
}

Numpy<double> share_fairly(const Resolver& resolver, const Vector<std::uint32_t>& source,
                           const Vector<std::uint32_t>& target, const Vector<double>& rate,
                           std::uint64_t draw) {
  const Released released;
  std::vector<double> found =
      fair_share(resolver, as_span(source), as_span(target), as_span(rate), draw);
  nb::gil_scoped_acquire acquire;
  return to_numpy(std::move(found));
}

Numpy<double> find_fluid_times(const Resolver& resolver, const Vector<std::uint32_t>& source,
                               const Vector<std::uint32_t>& target, const Vector<double>& size,
                               const Vector<double>& rate) {
  const Released released;
  std::vector<double> found =
      fluid_times(resolver, as_span(source), as_span(target), as_span(size), as_span(rate));
  nb::gil_scoped_acquire acquire;
  return to_numpy(std::move(found));
}

using TwoColumns = nb::typed<nb::tuple, Numpy<std::uint32_t>, Numpy<std::uint32_t>>;

TwoColumns find_reach(const Resolver& resolver, const Vector<std::uint32_t>& leaf) {
  Reach reach;
  {
    const Released released;
    reach = channel_reach(resolver, as_span(leaf));
  }
  return TwoColumns(
      nb::make_tuple(to_numpy(std::move(reach.sources)), to_numpy(std::move(reach.targets))));
}

TwoColumns find_pairs(const Resolver& resolver, const Vector<std::uint32_t>& leaf,
                      std::uint32_t channel) {
  LeafPairs pairs;
  {
    const Released released;
    pairs = pairs_across(resolver, as_span(leaf), channel);
  }
  return TwoColumns(
      nb::make_tuple(to_numpy(std::move(pairs.leaf)), to_numpy(std::move(pairs.target))));
}

PhasedTraffic traffic_of(std::size_t ranks, std::size_t phases, const Vector<std::uint32_t>& phase,
                         const Vector<std::uint32_t>& source, const Vector<std::uint32_t>& target,
                         const Vector<double>& bytes) {
  return {ranks, phases, as_span(phase), as_span(source), as_span(target), as_span(bytes)};
}

using ThreeFigures = nb::typed<nb::tuple, double, double, double>;

ThreeFigures find_seat_figures(const Resolver& resolver, std::size_t phases,
                               const Vector<std::uint32_t>& phase,
                               const Vector<std::uint32_t>& source,
                               const Vector<std::uint32_t>& target, const Vector<double>& bytes,
                               const Vector<double>& seconds_per_byte,
                               const Vector<std::uint32_t>& seats) {
  SeatFigures found;
  {
    const Released released;
    found = judge_seats(resolver, traffic_of(seats.size(), phases, phase, source, target, bytes),
                        as_span(seconds_per_byte), as_span(seats));
  }
  return ThreeFigures(nb::make_tuple(found.seconds, found.mean_congestion, found.hop_bytes));
}

/// `starts` has a row of places by rank for each start.
Numpy<Place> find_seats(const Resolver& resolver, std::size_t phases,
                        const Vector<std::uint32_t>& phase, const Vector<std::uint32_t>& source,
                        const Vector<std::uint32_t>& target, const Vector<double>& bytes,
                        const Vector<double>& seconds_per_byte,
                        const Vector<std::uint32_t>& capacity, const Matrix<std::uint32_t>& starts,
                        std::uint64_t seed, std::uint64_t effort, std::size_t together) {
  std::vector<Place> found;
  {
    const Released released;
    const std::size_t ranks = starts.shape(1);
    std::vector<std::vector<Place>> rows;
    for (std::size_t row = 0; row < starts.shape(0); ++row) {
      rows.emplace_back(starts.data() + row * ranks, starts.data() + (row + 1) * ranks);
    }
    found =
        seat_ranks(resolver, traffic_of(ranks, phases, phase, source, target, bytes),
                   {as_span(seconds_per_byte), as_span(capacity), seed, effort, together}, rows);
  }
  return to_numpy(std::move(found));
}

std::unique_ptr<FailureJudge> make_failure_judge(const Fabric& fabric, const Targets& targets,
                                                 const Matrix<PortNumber>& ports,
                                                 const Pattern& pattern,
                                                 const Vector<HostId>& hosts, std::uint64_t seed,
                                                 std::uint32_t count, bool enumerate,
                                                 const Vector<double>& rate) {
  const Released released;
  check_targets(fabric, targets);
  const Tables tables(ports.data(), ports.data() + ports.size());
  return std::make_unique<FailureJudge>(fabric, targets, tables, pattern, as_span(hosts),
                                        Samples{seed, 0, count, enumerate}, as_span(rate));
}

/// Hosts left, entries changed, and what messages get by sample, before and after.
using Cost = nb::typed<nb::tuple, std::size_t, std::size_t, Numpy<double>, Numpy<double>>;

Cost judge_failure(const FailureJudge& judge, const std::vector<SwitchId>& switches,
                   const std::vector<std::uint32_t>& cables) {
  FailureCost cost;
  {
    const Released released;
    cost = judge.judge({switches, cables});
  }
  return Cost(nb::make_tuple(cost.hosts_left, cost.changed, to_numpy(std::move(cost.before)),
                             to_numpy(std::move(cost.after))));
}

}  // namespace

void bind_congestion(nb::module_& m) {
  m.attr("MEAN_UNIT") = kMeanUnit;
  m.def("simulate", &run_batch, nb::arg("resolver"), nb::arg("pattern"), nb::arg("slots"),
        nb::arg("ranks_per_slot"), nb::arg("random_seating"), nb::arg("seed"), nb::arg("first"),
        nb::arg("count"), nb::arg("enumerate"), nb::arg("threads"), nb::arg("rate"));
  m.def("slowest_rounds", &run_slowest_rounds, nb::arg("resolver"), nb::arg("pattern"),
        nb::arg("slots"), nb::arg("ranks_per_slot"), nb::arg("threads"), nb::arg("rate"));
  m.def("channel_users", &find_users, nb::arg("resolver"), nb::arg("pattern"), nb::arg("slots"),
        nb::arg("ranks_per_slot"), nb::arg("random_seating"), nb::arg("seed"), nb::arg("first"),
        nb::arg("count"), nb::arg("enumerate"), nb::arg("threads"), nb::arg("channels"),
        nb::arg("rate"));
  nb::class_<IdealRounds>(m, "IdealRounds")
      .def(
          "__init__",
          [](IdealRounds* self, const Resolver& resolver, const Vector<double>& rate) {
            new (self) IdealRounds(resolver, as_span(rate));
          },
          nb::arg("resolver"), nb::arg("rate"), nb::keep_alive<1, 2>())
      .def("load",
           [](const IdealRounds& rounds) {
             return to_numpy(std::vector<double>(rounds.load().begin(), rounds.load().end()));
           })
      .def("solve", &solve_round, nb::arg("source"), nb::arg("target"), nb::arg("padding"),
           nb::arg("parts"));
  nb::class_<FailureJudge>(m, "FailureJudge")
      .def("judge", &judge_failure, nb::arg("switches"), nb::arg("cables"));
  // A judge reads the fabric for as long as it lives.
  m.def("make_failure_judge", &make_failure_judge, nb::arg("fabric"), nb::arg("targets"),
        nb::arg("ports"), nb::arg("pattern"), nb::arg("hosts"), nb::arg("seed"), nb::arg("count"),
        nb::arg("enumerate"), nb::arg("rate"), nb::keep_alive<0, 1>());
  m.def("outcomes", &count_outcomes, nb::arg("pattern"), nb::arg("slots"),
        nb::arg("ranks_per_slot"), nb::arg("random_seating"));
  m.def("message_counts", &count_messages, nb::arg("pattern"), nb::arg("seed"), nb::arg("first"),
        nb::arg("count"), nb::arg("enumerate"));
  m.def("shuffle_slots", &draw_slots, nb::arg("slots"), nb::arg("seed"), nb::arg("sample"));
  m.def("routes_draw", &routes_draw, nb::arg("seed"), nb::arg("sample"));
  m.def("message_congestion", &judge_messages, nb::arg("resolver"), nb::arg("source"),
        nb::arg("target"), nb::arg("rate"), nb::arg("draw"));
  m.def("route_shares", &share_routes, nb::arg("route"), nb::arg("load"), nb::arg("rate"));
  m.def("channel_amounts", &sum_amounts, nb::arg("resolver"), nb::arg("source"), nb::arg("target"),
        nb::arg("amount"));
  m.def("fair_share", &share_fairly, nb::arg("resolver"), nb::arg("source"), nb::arg("target"),
        nb::arg("rate"), nb::arg("draw"));
  m.def("fluid_times", &find_fluid_times, nb::arg("resolver"), nb::arg("source"), nb::arg("target"),
        nb::arg("size"), nb::arg("rate"));
  m.def("judge_seats", &find_seat_figures, nb::arg("resolver"), nb::arg("phases"), nb::arg("phase"),
        nb::arg("source"), nb::arg("target"), nb::arg("bytes"), nb::arg("seconds_per_byte"),
        nb::arg("seats"));
  m.def("seat_ranks", &find_seats, nb::arg("resolver"), nb::arg("phases"), nb::arg("phase"),
        nb::arg("source"), nb::arg("target"), nb::arg("bytes"), nb::arg("seconds_per_byte"),
        nb::arg("capacity"), nb::arg("starts"), nb::arg("seed"), nb::arg("effort"),
        nb::arg("together"));
  m.def("channel_reach", &find_reach, nb::arg("resolver"), nb::arg("leaf"));
  m.def("pairs_across", &find_pairs, nb::arg("resolver"), nb::arg("leaf"), nb::arg("channel"));
}

}  // namespace contend::bind
