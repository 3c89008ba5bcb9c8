#include <nanobind/stl/vector.h>

#include <memory>
#include <type_traits>
#include <utility>

#include "bind.hpp"
#include "contend/packets/packets.hpp"

namespace contend::bind {

namespace {

using Columns = nb::typed<nb::dict, nb::str, nb::any>;

PacketRoutes routes_of(const Resolver& resolver, const Vector<Place>& source,
                       const Vector<Place>& target, std::uint64_t draw,
                       const Vector<std::uint8_t>& lane) {
  const Released released;
  return packet_routes(resolver, as_span(source), as_span(target), draw, as_span(lane));
}

PacketRoutes routes_by_choice(const Fabric& fabric, const Vector<HostId>& hosts,
                              const Vector<Place>& source, const Vector<Place>& target,
                              const Vector<std::uint32_t>& group, bool shortest) {
  const Places places{as_vector(hosts), false};
  const Released released;
  return packet_routes(fabric, next_hops(fabric, places, nullptr, as_span(group)), places,
                       as_span(source), as_span(target),
                       shortest ? Choice::kShortest : Choice::kDrawn);
}

PacketRoutes routes_by_groups(const Fabric& fabric, const Matrix<std::uint16_t>& ports,
                              const Matrix<std::uint16_t>& group_of_entry,
                              const Vector<std::uint32_t>& group_first,
                              const Vector<std::uint16_t>& group_ports,
                              const Vector<std::uint8_t>& hashed,
                              const Vector<std::uint32_t>& host_lid,
                              const Vector<std::uint8_t>& host_lmc, const Vector<HostId>& hosts,
                              const Vector<Place>& source, const Vector<Place>& target,
                              std::uint64_t draw) {
  const TableView tables = view_of(fabric, ports);
  const GroupView groups = groups_of(ports, group_of_entry, group_first, group_ports);
  if (hashed.size() + 1 != group_first.size()) throw Error("for every group whether it is hashed");
  const Places places{as_vector(hosts), false};
  const Released released;
  const NextHops next =
      next_hops(fabric, tables, groups, {as_span(host_lid), as_span(host_lmc)}, places);
  const HashedEntries by_hash{groups.of_entry, tables.addresses, as_span(hashed), as_span(host_lid),
                              draw};
  return packet_routes(fabric, next, places, as_span(source), as_span(target), Choice::kShortest,
                       &by_hash);
}

PacketRoutes routes_by_detours(const Fabric& fabric, const Vector<HostId>& hosts,
                               const Vector<std::uint32_t>& group,
                               const Vector<std::uint32_t>& rank, bool adapts,
                               const Vector<Place>& source, const Vector<Place>& target) {
  const Places places{as_vector(hosts), false};
  const Released released;
  return packet_routes(
      std::make_shared<Detours>(fabric, places, as_span(group), as_span(rank), adapts),
      as_span(source), as_span(target));
}

Columns carry_packets(const PacketRoutes& routes, const Vector<double>& rate, bool by_output,
                      std::uint32_t buffer, double packet_bytes, double latency,
                      std::uint32_t message_packets, bool exchanges, double from, double until,
                      std::uint64_t seed, const Vector<std::uint32_t>& watched,
                      const Vector<double>& flight) {
  PacketModel model;
  model.queueing = by_output ? Queueing::kByOutput : Queueing::kInOrder;
  model.buffer = buffer;
  model.packet_bytes = packet_bytes;
  model.latency = latency;
  model.message_packets = message_packets;
  model.exchanges = exchanges;
  model.from = from;
  model.until = until;
  model.seed = seed;
  model.watched = as_vector(watched);
  model.flight = as_vector(flight);
  PacketFlows found;
  {
    const Released released;
    found = packet_flows(routes, as_span(rate), model);
  }
  Columns columns;
  columns["share"] = to_numpy(std::move(found.share));
  columns["held_up"] = to_numpy(std::move(found.held_up));
  columns["waited"] = to_numpy(std::move(found.waited));
  columns["busy"] = to_numpy(std::move(found.busy));
  columns["blocked"] = to_numpy(std::move(found.blocked));
  columns["then"] = to_numpy(std::move(found.then));
  columns["circle"] = to_numpy(std::move(found.circle));
  columns["crossed"] = to_numpy(std::move(found.crossed));
  columns["crossed_by"] = to_numpy(std::move(found.crossed_by));
  columns["hops"] = found.hops;
  const auto column = [&](const char* name, auto PacketWait::* part) {
    std::vector<std::decay_t<decltype(found.waits[0].*part)>> values;
    for (const PacketWait& wait : found.waits) values.push_back(wait.*part);
    columns[name] = to_numpy(std::move(values));
  };
  column("wait_message", &PacketWait::message);
  column("wait_over", &PacketWait::over);
  column("wait_on", &PacketWait::on);
  column("wait_first", &PacketWait::first);
  column("wait_packets", &PacketWait::packets);
  return columns;
}

/// The channels that packets may cross, one after the other, and whose each is.
using Steps = nb::typed<nb::tuple, Numpy<std::uint32_t>, Numpy<std::uint32_t>>;

Steps steps_of(const PacketRoutes& routes) {
  std::vector<std::uint32_t> channel;
  for (const std::uint32_t each : routes.channel) channel.push_back(routes.cable(each));
  return Steps(nb::make_tuple(to_numpy(std::move(channel)),
                              to_numpy(std::vector<std::uint32_t>(routes.message))));
}

}  // namespace

void bind_packets(nb::module_& m) {
  nb::class_<PacketRoutes>(m, "PacketRoutes")
      .def("steps", &steps_of)
      .def_ro("lanes", &PacketRoutes::lanes)
      .def_ro("places", &PacketRoutes::places)
      .def("carry", &carry_packets, nb::arg("rate"), nb::arg("by_output"), nb::arg("buffer"),
           nb::arg("packet_bytes"), nb::arg("latency"), nb::arg("message_packets"),
           nb::arg("exchanges"), nb::arg("start"), nb::arg("end"), nb::arg("seed"),
           nb::arg("watched"), nb::arg("flight"));
  m.def("packet_routes", &routes_of, nb::arg("resolver"), nb::arg("source"), nb::arg("target"),
        nb::arg("draw"), nb::arg("lane"));
  m.def("packet_routes_by_choice", &routes_by_choice, nb::arg("fabric"), nb::arg("hosts"),
        nb::arg("source"), nb::arg("target"), nb::arg("group"), nb::arg("shortest"));
  m.def("packet_routes_by_groups", &routes_by_groups, nb::arg("fabric"), nb::arg("ports"),
        nb::arg("group_of_entry"), nb::arg("group_first"), nb::arg("group_ports"),
        nb::arg("hashed"), nb::arg("host_lid"), nb::arg("host_lmc"), nb::arg("hosts"),
        nb::arg("source"), nb::arg("target"), nb::arg("draw"));
  // Read the fabric for as long as they live.
  m.def("packet_routes_by_detours", &routes_by_detours, nb::arg("fabric"), nb::arg("hosts"),
        nb::arg("group"), nb::arg("rank"), nb::arg("adapts"), nb::arg("source"), nb::arg("target"),
        nb::keep_alive<0, 1>());
}

}  // namespace contend::bind
