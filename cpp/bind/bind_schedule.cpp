#include "bind.hpp"
#include "contend/base/error.hpp"
#include "contend/schedule/carry_out.hpp"
#include "contend/schedule/host_routes.hpp"

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
  Outcome outcome;
  {
    const Released released;
    outcome = carry_out(schedule, network, costs);
  }
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

/// For every phase the rank that each rank sends to and receives from, -1 for none, a row for a
/// rank.
Columns find_phases(const Resolver& resolver, const Vector<std::uint32_t>& place_of_rank) {
  Phases phases;
  {
    const Released released;
    phases = phases_by_routes(resolver, as_span(place_of_rank));
  }
  const std::vector<std::size_t> shape{phases.ranks, phases.count};
  Columns found;
  found["bound"] = phases.bound;
  found["target"] = to_numpy(std::move(phases.to), shape);
  found["source"] = to_numpy(std::move(phases.from), shape);
  return found;
}

}  // namespace

void bind_schedule(nb::module_& m) {
  m.def("carry_out", &run_schedule, nb::arg("resolver"), nb::arg("rank_of_strand"),
        nb::arg("begin"), nb::arg("action"), nb::arg("peer"), nb::arg("tag"), nb::arg("amount"),
        nb::arg("place_of_rank"), nb::arg("rate"), nb::arg("burst"), nb::arg("piece"),
        nb::arg("peak"), nb::arg("between"), nb::arg("within"), nb::arg("processor_of_rank"),
        nb::arg("processors"), nb::arg("patience"), nb::arg("look_every"), nb::arg("start"));
  m.def("phases_by_routes", &find_phases, nb::arg("resolver"), nb::arg("place_of_rank"));
}

}  // namespace contend::bind
