#include <nanobind/stl/optional.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>
#include <algorithm>

#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "bind.hpp"
#include "contend/congestion/channel_users.hpp"
#include "contend/congestion/failures.hpp"
#include "contend/congestion/ideal_rounds.hpp"
#include "contend/congestion/messages.hpp"
#include "contend/congestion/reach.hpp"
#include "contend/congestion/seats.hpp"
#include "contend/congestion/simulate.hpp"

namespace contend::bind {

namespace {

using BatchColumns = nb::typed<nb::dict, nb::str, nb::any>;

BatchColumns columns_of(BatchResult result) {
  BatchColumns columns;
  columns["bandwidth"] = to_numpy(std::move(result.bandwidth));
  columns["mean_congestion"] = to_numpy(std::move(result.mean_congestion));
  columns["max_congestion"] = to_numpy(std::move(result.max_congestion));
  columns["port_congestion"] = to_numpy(std::move(result.port_congestion));
  columns["share"] = to_numpy(std::move(result.share));
  columns["mean_slowdown"] = to_numpy(std::move(result.mean_slowdown));
  columns["max_slowdown"] = to_numpy(std::move(result.max_slowdown));
  columns["bytes_per_second"] = to_numpy(std::move(result.bytes_per_second));
  columns["mean_seconds_per_byte"] = to_numpy(std::move(result.mean_seconds_per_byte));
  columns["max_seconds_per_byte"] = to_numpy(std::move(result.max_seconds_per_byte));
  columns["port_seconds_per_byte"] = to_numpy(std::move(result.port_seconds_per_byte));
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

/// What a message counts for, sources and targets, each a row of places for each channel, one after
/// the other.
using Users = nb::typed<nb::tuple, std::uint64_t, Numpy<std::uint64_t>, Numpy<std::uint64_t>>;

Users find_users(const Resolver& resolver, const Pattern& pattern, const Seating& seating,
                 const Samples& samples, int threads, const Vector<std::uint32_t>& channels,
                 const Vector<double>& rate) {
  ChannelUsers users = released([&] {
    return channel_users(resolver, pattern, seating, samples, as_span(channels), as_span(rate),
                         threads);
  });
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
    const Released lock;
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
  const SeatFigures found = released([&] {
    return judge_seats(resolver, traffic_of(seats.size(), phases, phase, source, target, bytes),
                       as_span(seconds_per_byte), as_span(seats));
  });
  return ThreeFigures(nb::make_tuple(found.seconds, found.mean_congestion, found.hop_bytes));
}

/// `starts` has a row of places by rank for each start.
Numpy<Place> find_seats(const Resolver& resolver, std::size_t phases,
                        const Vector<std::uint32_t>& phase, const Vector<std::uint32_t>& source,
                        const Vector<std::uint32_t>& target, const Vector<double>& bytes,
                        const Vector<double>& seconds_per_byte,
                        const Vector<std::uint32_t>& capacity, const Matrix<std::uint32_t>& starts,
                        std::uint64_t seed, std::uint64_t effort, std::size_t together) {
  return to_numpy(released([&] {
    const std::size_t ranks = starts.shape(1);
    std::vector<std::vector<Place>> rows;
    for (std::size_t row = 0; row < starts.shape(0); ++row) {
      rows.emplace_back(starts.data() + row * ranks, starts.data() + (row + 1) * ranks);
    }
    return seat_ranks(resolver, traffic_of(ranks, phases, phase, source, target, bytes),
                      {as_span(seconds_per_byte), as_span(capacity), seed, effort, together}, rows);
  }));
}

std::unique_ptr<FailureJudge> make_failure_judge(const Fabric& fabric, const Targets& targets,
                                                 const Matrix<PortNumber>& ports,
                                                 const Pattern& pattern,
                                                 const Vector<HostId>& hosts,
                                                 const Samples& samples,
                                                 const Vector<double>& rate) {
  const Released lock;
  check_targets(fabric, targets);
  const Tables tables(ports.data(), ports.data() + ports.size());
  return std::make_unique<FailureJudge>(fabric, targets, tables, pattern, as_span(hosts), samples,
                                        as_span(rate));
}

/// Hosts left, entries changed, and what messages get by sample, before and after.
using Cost = nb::typed<nb::tuple, std::size_t, std::size_t, Numpy<double>, Numpy<double>>;

Cost judge_failure(const FailureJudge& judge, const std::vector<SwitchId>& switches,
                   const std::vector<std::uint32_t>& cables) {
  FailureCost cost = released([&] { return judge.judge({switches, cables}); });
  return Cost(nb::make_tuple(cost.hosts_left, cost.changed, to_numpy(std::move(cost.before)),
                             to_numpy(std::move(cost.after))));
}

}  // namespace

void bind_congestion(nb::module_& m) {
  m.attr("MEAN_UNIT") = kMeanUnit;
  using Numbers = Vector<std::uint32_t>;
  using Rates = Vector<double>;
  const auto resolver = nb::arg("resolver"), source = nb::arg("source"), target = nb::arg("target");
  const auto pattern = nb::arg("pattern"), seating = nb::arg("seating");
  const auto samples = nb::arg("samples"), threads = nb::arg("threads"), rate = nb::arg("rate");
  nb::class_<Seating>(m, "Seating")
      .def(
          "__init__",
          [](Seating* self, const Numbers& slots, std::uint32_t ranks_per_slot, bool random) {
            new (self) Seating{as_vector(slots), ranks_per_slot, random};
          },
          nb::arg("slots"), nb::arg("ranks_per_slot"), nb::arg("random"));
  nb::class_<Samples>(m, "Samples")
      .def(nb::init<std::uint64_t, std::uint64_t, std::uint32_t, bool>(), nb::arg("seed"),
           nb::arg("first"), nb::arg("count"), nb::arg("enumerate"));
  m.def(
      "simulate",
      [](const Resolver& on, const Pattern& sent, const Seating& seats, const Samples& some,
         int count, const Rates& rates) {
        return columns_of(
            released([&] { return simulate(on, sent, seats, some, count, as_span(rates)); }));
      },
      resolver, pattern, seating, samples, threads, rate);
  m.def(
      "slowest_rounds",
      [](const Resolver& on, const Pattern& sent, const Seating& seats, int count,
         const Rates& rates) {
        SlowestRounds found =
            released([&] { return slowest_rounds(on, sent, seats, count, as_span(rates)); });
        return to_tuple(std::move(found.congestion), std::move(found.time));
      },
      resolver, pattern, seating, threads, rate);
  m.def("channel_users", &find_users, resolver, pattern, seating, samples, threads,
        nb::arg("channels"), rate);
  nb::class_<IdealRounds>(m, "IdealRounds")
      .def(
          "__init__",
          [](IdealRounds* self, const Resolver& on, const Vector<double>& rates) {
            new (self) IdealRounds(on, as_span(rates));
          },
          resolver, rate, nb::keep_alive<1, 2>())
      .def("load",
           [](const IdealRounds& rounds) {
             return to_numpy(std::vector<double>(rounds.load().begin(), rounds.load().end()));
           })
      .def("solve", &solve_round, source, target, nb::arg("padding"), nb::arg("parts"));
  nb::class_<FailureJudge>(m, "FailureJudge")
      .def("judge", &judge_failure, nb::arg("switches"), nb::arg("cables"));
  // A judge reads the fabric for as long as it lives.
  m.def("make_failure_judge", &make_failure_judge, nb::arg("fabric"), nb::arg("targets"),
        nb::arg("ports"), pattern, nb::arg("hosts"), samples, rate, nb::keep_alive<0, 1>());
  m.def("outcomes", &outcomes, pattern, seating);
  // Of ranks on places of their own numbers.
  m.def(
      "message_counts",
      [](const Pattern& sent, const Samples& some) {
        Seating seats{std::vector<Place>(sent.ranks()), 1, false};
        std::iota(seats.slots.begin(), seats.slots.end(), 0U);
        return to_numpy(released([&] { return message_counts(sent, seats, some); }));
      },
      pattern, samples);
  m.def(
      "shuffle_slots",
      [](const Numbers& slots, std::uint64_t seed, std::uint64_t sample) {
        std::vector<Place> drawn = as_vector(slots);
        shuffle_slots(drawn, seed, sample);
        return to_numpy(std::move(drawn));
      },
      nb::arg("slots"), nb::arg("seed"), nb::arg("sample"));
  m.def("routes_draw", &routes_draw, nb::arg("seed"), nb::arg("sample"));
  m.def(
      "message_congestion",
      [](const Resolver& on, const Numbers& from, const Numbers& to, const Rates& rates,
         std::uint64_t draw) {
        MessageCongestion found = released([&] {
          return message_congestion(on, as_span(from), as_span(to), as_span(rates), draw);
        });
        return to_tuple(std::move(found.congestion), std::move(found.share),
                        std::move(found.channel_messages));
      },
      resolver, source, target, rate, nb::arg("draw"));
  m.def(
      "split_congestion",
      [](const Resolver& on, const Numbers& from, const Numbers& to, const Rates& rates) {
        SplitCongestion found = released(
            [&] { return split_congestion(on, as_span(from), as_span(to), as_span(rates)); });
        return to_tuple(std::move(found.load), std::move(found.share));
      },
      resolver, source, target, rate);
  m.def(
      "route_shares",
      [](const Matrix<std::uint32_t>& route, const Matrix<double>& load, const Rates& rates) {
        return to_numpy(released([&] {
          return route_shares({route.data(), route.size()}, route.shape(1),
                              {load.data(), load.size()}, as_span(rates));
        }));
      },
      nb::arg("route"), nb::arg("load"), rate);
  m.def(
      "channel_amounts",
      [](const Resolver& on, const Numbers& from, const Numbers& to,
         const Vector<std::uint64_t>& amount) {
        return to_numpy(released(
            [&] { return channel_amounts(on, as_span(from), as_span(to), as_span(amount)); }));
      },
      resolver, source, target, nb::arg("amount"));
  m.def(
      "fair_share",
      [](const Resolver& on, const Numbers& from, const Numbers& to, const Rates& rates,
         std::uint64_t draw) {
        return to_numpy(released(
            [&] { return fair_share(on, as_span(from), as_span(to), as_span(rates), draw); }));
      },
      resolver, source, target, rate, nb::arg("draw"));
  m.def(
      "fluid_times",
      [](const Resolver& on, const Numbers& from, const Numbers& to, const Vector<double>& size,
         const Rates& rates) {
        return to_numpy(released([&] {
          return fluid_times(on, as_span(from), as_span(to), as_span(size), as_span(rates));
        }));
      },
      resolver, source, target, nb::arg("size"), rate);
  m.def("judge_seats", &find_seat_figures, resolver, nb::arg("phases"), nb::arg("phase"), source,
        target, nb::arg("bytes"), nb::arg("seconds_per_byte"), nb::arg("seats"));
  m.def("seat_ranks", &find_seats, resolver, nb::arg("phases"), nb::arg("phase"), source, target,
        nb::arg("bytes"), nb::arg("seconds_per_byte"), nb::arg("capacity"), nb::arg("starts"),
        nb::arg("seed"), nb::arg("effort"), nb::arg("together"));
  m.def(
      "channel_reach",
      [](const Resolver& on, const Numbers& leaf) {
        Reach reach = released([&] { return channel_reach(on, as_span(leaf)); });
        return to_tuple(std::move(reach.sources), std::move(reach.targets));
      },
      resolver, nb::arg("leaf"));
  m.def(
      "pairs_across",
      [](const Resolver& on, const Numbers& leaf, std::uint32_t channel) {
        LeafPairs pairs = released([&] { return pairs_across(on, as_span(leaf), channel); });
        return to_tuple(std::move(pairs.leaf), std::move(pairs.target));
      },
      resolver, nb::arg("leaf"), nb::arg("channel"));
}

}  // namespace contend::bind
