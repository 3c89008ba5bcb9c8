#include <algorithm>
#include <string>

#include "bind.hpp"
#include "contend/base/error.hpp"
#include "contend/schedule/carry_calls.hpp"
#include "contend/schedule/carry_out.hpp"
#include "contend/schedule/phases_by_routes.hpp"
#include "schedules/schedules.h"

namespace contend::bind {

namespace {

using Columns = nb::typed<nb::dict, nb::str, nb::any>;

// Columns of a table of message classes, in their order.
enum Column : std::size_t {
  up_to,
  latency,
  latency_per_hop,
  send_overhead,
  send_per_byte,
  receive_overhead,
  receive_per_byte,
  gap,
  extra,
  stretch,
  eager,
  buffered,
  columns
};

std::vector<MessageClass> classes_of(const Matrix<double>& table) {
  if (table.shape(1) != columns) throw Error("a table of message classes has other columns");
  std::vector<MessageClass> classes;
  for (std::size_t row = 0; row < table.shape(0); ++row) {
    const double* value = table.data() + row * columns;
    classes.push_back({value[up_to], value[latency], value[latency_per_hop], value[send_overhead],
                       value[send_per_byte], value[receive_overhead], value[receive_per_byte],
                       value[gap], value[extra], value[stretch], value[eager] != 0,
                       value[buffered]});
  }
  return classes;
}

Columns run_schedule(const Resolver& resolver, const Vector<std::uint32_t>& rank_of_strand,
                     const Vector<std::uint64_t>& begin, const Vector<std::uint8_t>& action,
                     const Vector<std::uint32_t>& peer, const Vector<std::int32_t>& tag,
                     const Vector<double>& amount, const Vector<std::uint32_t>& place_of_rank,
                     const Vector<double>& rate, const Vector<double>& burst, double piece,
                     double peak, const Matrix<double>& between, const Matrix<double>& within,
                     const Vector<std::uint32_t>& processor_of_rank,
                     const Vector<std::uint32_t>& processors, double patience, double look_every,
                     const Vector<double>& start) {
  const Schedule schedule{as_span(rank_of_strand), as_span(begin), as_span(action),
                          as_span(peer),           as_span(tag),   as_span(amount)};
  const Network network{
      resolver, as_vector(place_of_rank), as_vector(rate), as_vector(burst), piece, peak};
  const Costs costs{classes_of(between),   classes_of(within), as_vector(processor_of_rank),
                    as_vector(processors), patience,           look_every,
                    as_vector(start)};
  Outcome outcome = released([&] { return carry_out(schedule, network, costs); });
  Columns found;
  found["end"] = outcome.end;
  found["rank_end"] = to_numpy(std::move(outcome.rank_end));
  found["operation_end"] = to_numpy(std::move(outcome.operation_end));
  found["channel_bytes"] = to_numpy(std::move(outcome.channel_bytes));
  found["channel_busy"] = to_numpy(std::move(outcome.channel_busy));
  found["channel_crowd"] = to_numpy(std::move(outcome.channel_crowd));
  found["channel_crowd_bytes"] = to_numpy(std::move(outcome.channel_crowd_bytes));
  found["messages"] = outcome.messages;
  found["fills"] = outcome.fills;
  return found;
}

Columns stream_schedule(const Resolver& resolver, const Vector<std::uint32_t>& rank_of_strand,
                        const Vector<std::uint64_t>& begin, const Vector<std::uint8_t>& action,
                        const Vector<std::uint32_t>& peer, const Vector<std::int32_t>& tag,
                        const Vector<double>& amount, const Vector<std::uint32_t>& place_of_rank,
                        const Vector<double>& rate, const Vector<std::uint32_t>& switch_of,
                        const Vector<double>& starts, double eager, double least_timeout,
                        double buffer, double shared, double host, bool until_timeout) {
  const Schedule schedule{as_span(rank_of_strand), as_span(begin), as_span(action),
                          as_span(peer),           as_span(tag),   as_span(amount)};
  StreamedCalls calls{{as_span(place_of_rank), as_span(rate), as_span(starts), eager},
                      as_span(switch_of),
                      until_timeout,
                      {}};
  calls.model.least_timeout = least_timeout;
  calls.model.queues.buffer = buffer;
  calls.model.queues.shared = shared;
  calls.model.queues.host = host;
  StreamedOutcome outcome = released([&] { return carry_streams(schedule, resolver, calls); });
  Columns found;
  found["seconds"] = to_numpy(std::move(outcome.seconds));
  found["timeouts"] = to_numpy(std::move(outcome.timeouts));
  found["first_channel"] = to_numpy(std::move(outcome.first_channel));
  found["first_at"] = to_numpy(std::move(outcome.first_at));
  found["drops"] = to_numpy(std::move(outcome.drops));
  found["most"] = to_numpy(std::move(outcome.most));
  return found;
}

/// Where streams for a schedule's messages begin and end, by place, and the first for short ones.
using Ends = nb::typed<nb::tuple, Numpy<std::uint32_t>, Numpy<std::uint32_t>, std::uint32_t>;

Ends find_stream_ends(const Vector<std::uint32_t>& rank_of_strand,
                      const Vector<std::uint64_t>& begin, const Vector<std::uint8_t>& action,
                      const Vector<std::uint32_t>& peer, const Vector<std::int32_t>& tag,
                      const Vector<double>& amount, const Vector<std::uint32_t>& place_of_rank,
                      double eager) {
  const Schedule schedule{as_span(rank_of_strand), as_span(begin), as_span(action),
                          as_span(peer),           as_span(tag),   as_span(amount)};
  StreamEnds ends =
      released([&] { return stream_ends(schedule, {as_span(place_of_rank), {}, {}, eager}); });
  return Ends(nb::make_tuple(to_numpy(std::move(ends.source)), to_numpy(std::move(ends.target)),
                             ends.first_short));
}

Columns carry_schedule_by_packets(
    const PacketRoutes& routes, const Vector<std::uint32_t>& rank_of_strand,
    const Vector<std::uint64_t>& begin, const Vector<std::uint8_t>& action,
    const Vector<std::uint32_t>& peer, const Vector<std::int32_t>& tag,
    const Vector<double>& amount, const Vector<std::uint32_t>& place_of_rank,
    const Vector<double>& rate, const Vector<double>& starts, double eager, double overhead,
    bool by_output, std::uint32_t buffer, double packet_bytes, double latency,
    const Vector<double>& flight, std::uint64_t seed) {
  const Schedule schedule{as_span(rank_of_strand), as_span(begin), as_span(action),
                          as_span(peer),           as_span(tag),   as_span(amount)};
  LosslessCalls calls{
      {as_span(place_of_rank), as_span(rate), as_span(starts), eager}, overhead, {}};
  calls.model.queueing = by_output ? Queueing::kByOutput : Queueing::kInOrder;
  calls.model.buffer = buffer;
  calls.model.packet_bytes = packet_bytes;
  calls.model.latency = latency;
  calls.model.flight = as_vector(flight);
  calls.model.seed = seed;
  LosslessOutcome outcome = released([&] { return carry_lossless(schedule, routes, calls); });
  Columns found;
  found["seconds"] = to_numpy(std::move(outcome.seconds));
  found["busy"] = to_numpy(std::move(outcome.busy));
  found["blocked"] = to_numpy(std::move(outcome.blocked));
  found["circle"] = to_numpy(std::move(outcome.circle));
  found["hops"] = outcome.hops;
  return found;
}

/// For every phase the rank that each rank sends to and receives from, -1 for none, a row for a
/// rank.
Columns find_phases(const Resolver& resolver, const Vector<std::uint32_t>& place_of_rank) {
  Phases phases = released([&] { return phases_by_routes(resolver, as_span(place_of_rank)); });
  const std::vector<std::size_t> shape{phases.ranks, phases.count};
  Columns found;
  found["bound"] = phases.bound;
  found["target"] = to_numpy(std::move(phases.to), shape);
  found["source"] = to_numpy(std::move(phases.from), shape);
  return found;
}

/// The schedules that send every block straight to its rank, in their order: a row for each.
nb::typed<nb::list, nb::any> list_schedules() {
  nb::list rows;
  for (const contend_schedule_traits& traits : contend_schedules) {
    rows.append(nb::make_tuple(traits.name, traits.summary, traits.option, traits.paired,
                               traits.barriers, traits.power_of_two));
  }
  return rows;
}

/// One rank's plan by the number of a schedule. Arrays that it does not depend on may be empty.
Columns make_plan(int schedule, int rank, int ranks, int width, const Vector<std::int32_t>& host_of,
                  const Vector<std::int32_t>& phase_to, const Vector<std::int32_t>& phase_from) {
  if (schedule < 0 || schedule >= CONTEND_SCHEDULES || rank < 0 || rank >= ranks || width < 1 ||
      phase_to.size() != phase_from.size()) {
    throw Error("expected a schedule, a rank below the number of ranks, and a width of 1 at least");
  }
  const contend_schedule_traits& traits = contend_schedules[schedule];
  contend_party party{};
  party.rank = rank;
  party.ranks = ranks;
  party.width = width;
  if (traits.option == std::string(CONTEND_BY_NODES)) {
    const auto hosts = as_span(host_of);
    if (hosts.size() != static_cast<std::size_t>(ranks) || std::ranges::min(hosts) < 0 ||
        std::ranges::max(hosts) >= ranks) {
      throw Error(std::string(traits.name) + ": expected the host of each rank");
    }
    party.hosts = 1 + std::ranges::max(hosts);
    party.host_of = hosts.data();
  }
  party.phases = static_cast<int>(phase_to.size());
  party.phase_to = phase_to.data();
  party.phase_from = phase_from.data();
  const auto chosen = static_cast<contend_schedule>(schedule);
  const int phases = contend_count_phases(chosen, &party);
  if (phases < 0) {
    const std::string expected = traits.power_of_two ? "a power of two of ranks"
                                                     : "phases in which ranks meet all others once";
    throw Error(traits.name + (": expected " + expected) + ", got " + std::to_string(ranks) +
                (traits.power_of_two ? "" : " ranks that do not"));
  }
  std::vector<std::int32_t> numbers(contend_plan_numbers(&party, phases));
  const contend_plan plan = contend_make_plan(chosen, &party, numbers.data());
  const auto array = [](const int* begin, int count) {
    return to_numpy(std::vector<std::int32_t>(begin, begin + count));
  };
  Columns made;
  made["to"] = array(plan.to, ranks - 1);
  made["source"] = array(plan.from, ranks - 1);
  made["to_end"] = array(plan.to_end, phases);
  made["source_end"] = array(plan.from_end, phases);
  made["own"] = plan.own;
  made["in_flight"] = plan.in_flight;
  return made;
}

}  // namespace

void bind_schedule(nb::module_& m) {
  m.def("carry_streams", &stream_schedule, nb::arg("resolver"), nb::arg("rank_of_strand"),
        nb::arg("begin"), nb::arg("action"), nb::arg("peer"), nb::arg("tag"), nb::arg("amount"),
        nb::arg("place_of_rank"), nb::arg("rate"), nb::arg("switch_of"), nb::arg("starts"),
        nb::arg("eager"), nb::arg("least_timeout"), nb::arg("buffer"), nb::arg("shared"),
        nb::arg("host"), nb::arg("until_timeout"));
  m.def("stream_ends", &find_stream_ends, nb::arg("rank_of_strand"), nb::arg("begin"),
        nb::arg("action"), nb::arg("peer"), nb::arg("tag"), nb::arg("amount"),
        nb::arg("place_of_rank"), nb::arg("eager"));
  m.def("carry_lossless", &carry_schedule_by_packets, nb::arg("routes"), nb::arg("rank_of_strand"),
        nb::arg("begin"), nb::arg("action"), nb::arg("peer"), nb::arg("tag"), nb::arg("amount"),
        nb::arg("place_of_rank"), nb::arg("rate"), nb::arg("starts"), nb::arg("eager"),
        nb::arg("overhead"), nb::arg("by_output"), nb::arg("buffer"), nb::arg("packet_bytes"),
        nb::arg("latency"), nb::arg("flight"), nb::arg("seed"));
  m.def("carry_out", &run_schedule, nb::arg("resolver"), nb::arg("rank_of_strand"),
        nb::arg("begin"), nb::arg("action"), nb::arg("peer"), nb::arg("tag"), nb::arg("amount"),
        nb::arg("place_of_rank"), nb::arg("rate"), nb::arg("burst"), nb::arg("piece"),
        nb::arg("peak"), nb::arg("between"), nb::arg("within"), nb::arg("processor_of_rank"),
        nb::arg("processors"), nb::arg("patience"), nb::arg("look_every"), nb::arg("start"));
  m.attr("SHORT_MESSAGE") = kShortMessage;
  m.def("list_schedules", &list_schedules);
  m.attr("SCHEDULE_WIDTH") = CONTEND_WIDTH;
  m.attr("SCHEDULE_RADIX") = CONTEND_RADIX;
  m.def("make_plan", &make_plan, nb::arg("schedule"), nb::arg("rank"), nb::arg("ranks"),
        nb::arg("width"), nb::arg("host_of"), nb::arg("phase_to"), nb::arg("phase_from"));
  m.def("phases_by_routes", &find_phases, nb::arg("resolver"), nb::arg("place_of_rank"));
}

}  // namespace contend::bind
