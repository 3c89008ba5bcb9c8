#include <nanobind/stl/vector.h>

#include <type_traits>
#include <utility>

#include "bind.hpp"
#include "contend/packets/packets.hpp"

namespace contend::bind {

namespace {

using Columns = nb::typed<nb::dict, nb::str, nb::any>;

PacketRoutes routes_of(const Resolver& resolver, const Vector<Place>& source,
                       const Vector<Place>& target, std::uint64_t draw) {
  const Released released;
  return packet_routes(resolver, as_span(source), as_span(target), draw);
}

PacketRoutes routes_by_choice(const Fabric& fabric, const Vector<HostId>& hosts,
                              const Vector<Place>& source, const Vector<Place>& target) {
  const Places places{as_vector(hosts), false};
  const Released released;
  return packet_routes(fabric, next_hops(fabric, places), places, as_span(source), as_span(target));
}

Columns carry_packets(const PacketRoutes& routes, const Vector<double>& rate, bool by_output,
                      std::uint32_t buffer, double packet_bytes, double latency,
                      std::uint32_t message_packets, bool exchanges, double from, double until,
                      bool shortest, std::uint64_t seed, const Vector<std::uint32_t>& watched) {
  PacketModel model;
  model.queueing = by_output ? Queueing::kByOutput : Queueing::kInOrder;
  model.buffer = buffer;
  model.packet_bytes = packet_bytes;
  model.latency = latency;
  model.message_packets = message_packets;
  model.exchanges = exchanges;
  model.from = from;
  model.until = until;
  model.shortest = shortest;
  model.seed = seed;
  model.watched = as_vector(watched);
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
  return Steps(nb::make_tuple(to_numpy(std::vector<std::uint32_t>(routes.channel)),
                              to_numpy(std::vector<std::uint32_t>(routes.message))));
}

}  // namespace

void bind_packets(nb::module_& m) {
  nb::class_<PacketRoutes>(m, "PacketRoutes")
      .def("steps", &steps_of)
      .def("carry", &carry_packets, nb::arg("rate"), nb::arg("by_output"), nb::arg("buffer"),
           nb::arg("packet_bytes"), nb::arg("latency"), nb::arg("message_packets"),
           nb::arg("exchanges"), nb::arg("start"), nb::arg("end"), nb::arg("shortest"),
           nb::arg("seed"), nb::arg("watched"));
  m.def("packet_routes", &routes_of, nb::arg("resolver"), nb::arg("source"), nb::arg("target"),
        nb::arg("draw"));
  m.def("packet_routes_by_choice", &routes_by_choice, nb::arg("fabric"), nb::arg("hosts"),
        nb::arg("source"), nb::arg("target"));
}

}  // namespace contend::bind
