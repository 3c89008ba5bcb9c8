#include <nanobind/stl/vector.h>

#include <optional>

#include "bind.hpp"
#include "contend/base/error.hpp"
#include "contend/routes/checks/check.hpp"
#include "contend/routes/checks/dependency.hpp"
#include "contend/routes/checks/pair_lanes.hpp"
#include "contend/routes/checks/trace.hpp"

namespace contend::bind {

/// Row by source, lane by row and target, one after the other, and how many lanes there are.
using Laned = nb::typed<nb::tuple, Numpy<std::uint32_t>, Numpy<std::uint8_t>, std::uint32_t>;
using Fault = nb::typed<nb::tuple, int, SwitchId, SwitchId, HostId, Address>;

static RouteCheck check(const Fabric& fabric, const Matrix<std::uint16_t>& ports,
                        const Vector<std::uint32_t>& host_address,
                        const Vector<std::uint8_t>& host_lmc, std::size_t examples) {
  return check_routes(fabric, view_of(fabric, ports), {as_span(host_address), as_span(host_lmc)},
                      examples);
}

static nb::typed<nb::list, Fault> examples(const RouteCheck& seen) {
  nb::list faults;
  for (const RouteFault& fault : seen.examples) {
    faults.append(
        nb::make_tuple(static_cast<int>(fault.end), fault.at, fault.from, fault.to, fault.address));
  }
  return faults;
}

/// A column as a numpy array that keeps the whole result alive.
template <auto Column>
static auto column(const RouteCheck& seen) {
  using Value = typename std::decay_t<decltype(seen.*Column)>::value_type;
  return nb::ndarray<nb::numpy, const Value, nb::ndim<1>>((seen.*Column).data(),
                                                          {(seen.*Column).size()}, nb::find(seen));
}

static nb::typed<nb::tuple, std::uint64_t, std::vector<ChannelId>> dependency_cycle(
    const Fabric& fabric, const Matrix<std::uint16_t>& ports,
    const Vector<std::uint32_t>& host_address, const Vector<std::uint8_t>& host_lmc,
    bool from_all_switches, const Vector<std::uint8_t>& lane_of_address, std::uint8_t lane) {
  std::uint64_t count = 0;
  std::vector<ChannelId> cycle;
  {
    const Released lock;
    const ChannelDependencies found = channel_dependencies(
        fabric, view_of(fabric, ports), {as_span(host_address), as_span(host_lmc)},
        from_all_switches, {lane, as_span(lane_of_address)});
    count = found.count();
    cycle = found.cycle();
  }
  return nb::make_tuple(count, cycle);
}

/// What check_ways() finds: the routes, the number of dependencies, a circle of them, and by
/// channel the addresses that it leads astray.
using Ways =
    nb::typed<nb::tuple, RouteCheck, std::uint64_t, std::vector<ChannelId>, Numpy<std::uint32_t>>;

static Ways check_grouped(const Fabric& fabric, const Matrix<std::uint16_t>& ports,
                          const Matrix<std::uint16_t>& group_of_entry,
                          const Vector<std::uint32_t>& group_first,
                          const Vector<std::uint16_t>& group_ports,
                          const Vector<std::uint32_t>& host_address,
                          const Vector<std::uint8_t>& host_lmc, std::size_t examples) {
  const GroupView groups = groups_of(ports, group_of_entry, group_first, group_ports);
  std::optional<WaysCheck> seen;
  std::uint64_t count = 0;
  std::vector<ChannelId> cycle;
  {
    const Released lock;
    seen = check_ways(fabric, view_of(fabric, ports), groups,
                      {as_span(host_address), as_span(host_lmc)}, examples);
    count = seen->dependencies.count();
    cycle = seen->dependencies.cycle();
  }
  return nb::make_tuple(std::move(seen->routes), count, cycle, to_numpy(std::move(seen->astray)));
}

/// Cables from every switch to some of them, a row for each of these; the largest number where no
/// way leads there.
static Numpy<std::uint32_t> find_distances(const Fabric& fabric,
                                           const Vector<std::uint32_t>& ends) {
  std::vector<std::uint32_t> all;
  released([&] {
    for (const SwitchId end : as_span(ends)) {
      if (end >= fabric.switches()) throw Error("a switch that does not exist");
      const std::vector<std::uint32_t> row = distances(fabric, end);
      all.insert(all.end(), row.begin(), row.end());
    }
  });
  return to_numpy(std::move(all), {ends.size(), fabric.switches()});
}

using Walk = nb::typed<nb::tuple, int, SwitchId, std::vector<ChannelId>>;

static Walk trace_route(const Fabric& fabric, const Matrix<std::uint16_t>& ports, SwitchId from,
                        HostId to, Address address) {
  if (from >= fabric.switches() || to >= fabric.hosts()) {
    throw Error("a switch or host that does not belong to the fabric");
  }
  std::vector<ChannelId> route;
  const Trace walked = trace(fabric, view_of(fabric, ports), from, to, address, route);
  return Walk(nb::make_tuple(static_cast<int>(walked.end), walked.last, route));
}

void bind_check(nb::module_& m) {
  m.def("trace_route", &trace_route, nb::arg("fabric"), nb::arg("ports"), nb::arg("from_switch"),
        nb::arg("to_host"), nb::arg("address"));
  nb::class_<RouteCheck>(m, "RouteCheck")
      .def_prop_ro("examples", &examples)
      .def_prop_ro("routes", &column<&RouteCheck::routes>)
      .def_prop_ro("faults", &column<&RouteCheck::faults>)
      .def_prop_ro("hops", &column<&RouteCheck::hops>)
      .def_prop_ro("load", &column<&RouteCheck::load>)
      .def_prop_ro("addresses", &column<&RouteCheck::addresses>);
  m.def("check_routes", &check, nb::arg("fabric"), nb::arg("ports"), nb::arg("host_address"),
        nb::arg("host_lmc"), nb::arg("examples"), nb::call_guard<Released>());
  m.def("distances", &find_distances, nb::arg("fabric"), nb::arg("ends"));
  m.def("check_ways", &check_grouped, nb::arg("fabric"), nb::arg("ports"),
        nb::arg("group_of_entry"), nb::arg("group_first"), nb::arg("group_ports"),
        nb::arg("host_address"), nb::arg("host_lmc"), nb::arg("examples"));
  m.def(
      "pair_lanes",
      [](const Fabric& fabric, const Resolver& resolver, const Vector<HostId>& hosts, bool spread,
         std::uint32_t most) {
        PairLanes found = released(
            [&] { return pair_lanes(fabric, resolver, {as_vector(hosts), spread}, most); });
        return Laned(nb::make_tuple(to_numpy(std::move(found.row_of)),
                                    to_numpy(std::move(found.lane)), found.lanes));
      },
      nb::arg("fabric"), nb::arg("resolver"), nb::arg("hosts"), nb::arg("spread"), nb::arg("most"));
  m.def("dependency_cycle", &dependency_cycle, nb::arg("fabric"), nb::arg("ports"),
        nb::arg("host_address"), nb::arg("host_lmc"), nb::arg("from_all_switches"),
        nb::arg("lane_of_address"), nb::arg("lane"));
}

}  // namespace contend::bind
