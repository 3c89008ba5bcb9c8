#include <nanobind/stl/unique_ptr.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "bind.hpp"
#include "contend/base/error.hpp"
#include "contend/congestion/simulate.hpp"
#include "contend/routes/computed/balanced_tree.hpp"
#include "contend/routes/computed/dragonfly_hops.hpp"
#include "contend/routes/computed/grid_hops.hpp"
#include "contend/routes/computed/tree_formula.hpp"
#include "contend/routes/resolver.hpp"
#include "contend/routes/resolvers/hashed_resolver.hpp"
#include "contend/routes/resolvers/ideal_ways.hpp"
#include "contend/routes/resolvers/valiant.hpp"
#include "contend/routes/ways/ways.hpp"

namespace contend::bind {

namespace {

TableView view_of(const Fabric& fabric, const Matrix<std::uint16_t>& ports) {
  if (ports.shape(0) != fabric.switches()) throw Error("tables do not belong to the fabric");
  return {ports.data(), ports.shape(0), ports.shape(1)};
}

std::size_t find_longest_route(const Fabric& fabric, const Matrix<std::uint16_t>& ports,
                               const Vector<std::uint32_t>& host_lid,
                               const Vector<std::uint8_t>& host_lmc,
                               const Vector<std::uint32_t>& hosts, bool spread) {
  const TableView tables = view_of(fabric, ports);
  const Places places{as_vector(hosts), spread};
  const AddressView addresses{as_span(host_lid), as_span(host_lmc)};
  const Released released;
  return longest_route(fabric, tables, addresses, places);
}

std::unique_ptr<Resolver> make_resolver(const Fabric& fabric, const Matrix<std::uint16_t>& ports,
                                        const Vector<std::uint32_t>& host_lid,
                                        const Vector<std::uint8_t>& host_lmc,
                                        const Vector<std::uint32_t>& hosts, bool spread,
                                        std::size_t longest, std::size_t most_bytes) {
  const TableView tables = view_of(fabric, ports);
  const Places places{as_vector(hosts), spread};
  const AddressView addresses{as_span(host_lid), as_span(host_lmc)};
  const Released released;
  return make_stored_resolver(fabric, tables, addresses, places, longest, most_bytes);
}

std::unique_ptr<Resolver> tree_resolver(const Fabric& fabric, const CompleteTree& tree,
                                        const Vector<std::uint32_t>& hosts,
                                        bool in_order_of_ports) {
  const Places places{as_vector(hosts), false};
  const Released released;
  const Parallel parallel =
      in_order_of_ports ? Parallel::in_order_of_ports : Parallel::after_parents;
  return make_tree_resolver(fabric, tree, places, turns_of_mod_k(fabric, tree, parallel));
}

std::unique_ptr<Resolver> balanced_tree_resolver(const Fabric& fabric, const CompleteTree& tree,
                                                 const Targets& targets,
                                                 const Vector<std::uint32_t>& hosts) {
  const Places places{as_vector(hosts), false};
  const Released released;
  return make_balanced_tree_resolver(fabric, tree, targets, places);
}

std::unique_ptr<Resolver> sprayed_tree_resolver(const Fabric& fabric, const CompleteTree& tree,
                                                const Vector<std::uint32_t>& hosts) {
  const Places places{as_vector(hosts), false};
  const Released released;
  return make_sprayed_tree_resolver(fabric, tree, places);
}

std::unique_ptr<Resolver> hashed_tree_resolver(const Fabric& fabric, const CompleteTree& tree,
                                               const Vector<std::uint32_t>& hosts,
                                               std::uint32_t flows, bool alike) {
  const Places places{as_vector(hosts), false};
  const Released released;
  return make_hashed_tree_resolver(fabric, tree, places, {flows, alike});
}

std::unique_ptr<Resolver> hashed_dragonfly_resolver(const Fabric& fabric,
                                                    const Dragonfly& dragonfly,
                                                    const Vector<std::uint32_t>& hosts,
                                                    std::uint32_t flows, bool alike) {
  const Places places{as_vector(hosts), false};
  const Released released;
  return make_hashed_dragonfly_resolver(fabric, dragonfly, places, {flows, alike});
}

std::unique_ptr<Resolver> sprayed_dragonfly_resolver(const Fabric& fabric,
                                                     const Dragonfly& dragonfly,
                                                     const Vector<std::uint32_t>& hosts,
                                                     bool by_groups) {
  const Places places{as_vector(hosts), false};
  const Released released;
  return make_sprayed_dragonfly_resolver(fabric, dragonfly, places, by_groups);
}

std::unique_ptr<Resolver> hashed_grid_resolver(const Fabric& fabric, const Grid& grid,
                                               const Vector<std::uint32_t>& hosts,
                                               std::uint32_t flows, bool alike) {
  const Places places{as_vector(hosts), false};
  const Released released;
  return make_hashed_grid_resolver(fabric, grid, places, {flows, alike});
}

std::unique_ptr<Resolver> sprayed_grid_resolver(const Fabric& fabric, const Grid& grid,
                                                const Vector<std::uint32_t>& hosts) {
  const Places places{as_vector(hosts), false};
  const Released released;
  return make_sprayed_grid_resolver(fabric, grid, places);
}

std::unique_ptr<Resolver> dimension_order_resolver(const Fabric& fabric, const Grid& grid,
                                                   const Targets& targets,
                                                   const Vector<std::uint32_t>& hosts) {
  const Places places{as_vector(hosts), false};
  const Released released;
  return make_dimension_order_resolver(fabric, grid, targets, places);
}

std::unique_ptr<Resolver> hashed_resolver(const Fabric& fabric, const Vector<std::uint32_t>& hosts,
                                          std::uint32_t flows, bool alike, const Remains* rest) {
  const Places places{as_vector(hosts), false};
  const Released released;
  return make_hashed_resolver(fabric, places, next_hops(fabric, places, rest), {flows, alike});
}

/// `group` of every switch, or none; see Measure.
std::unique_ptr<Resolver> sprayed_resolver(const Fabric& fabric, const Vector<std::uint32_t>& hosts,
                                           const Vector<std::uint32_t>& group,
                                           const Remains* rest) {
  const Places places{as_vector(hosts), false};
  const Released released;
  return make_sprayed_resolver(fabric, places, next_hops(fabric, places, rest, as_span(group)));
}

/// `group` of every switch, or none; see Stops.
std::unique_ptr<Resolver> valiant_resolver(const Fabric& fabric, const Vector<std::uint32_t>& hosts,
                                           const Vector<std::uint32_t>& group,
                                           const Remains* rest) {
  const Places places{as_vector(hosts), false};
  const Stops stops{as_vector(group)};
  const Released released;
  return make_valiant_resolver(fabric, places, stops, rest);
}

/// `seconds` of a message on each channel between switches; see make_ugal_resolver().
std::unique_ptr<Resolver> ugal_resolver(const Fabric& fabric, const Vector<std::uint32_t>& hosts,
                                        const Vector<std::uint32_t>& group,
                                        const Vector<double>& seconds, const Remains* rest) {
  const Places places{as_vector(hosts), false};
  const Stops stops{as_vector(group)};
  std::vector<double> times = as_vector(seconds);
  const Released released;
  return make_ugal_resolver(fabric, places, stops, std::move(times), rest);
}

std::unique_ptr<Resolver> ideal_resolver(const Fabric& fabric, const Vector<std::uint32_t>& hosts,
                                         const Remains* rest) {
  const Places places{as_vector(hosts), false};
  const Released released;
  return make_ideal_resolver(fabric, places, next_hops(fabric, places, rest));
}

/// Of tables with groups of ports, between which messages split, or `hashed` choose one each.
std::unique_ptr<Resolver> grouped_resolver(const Fabric& fabric, const Matrix<std::uint16_t>& ports,
                                           const Matrix<std::uint16_t>& group_of_entry,
                                           const Vector<std::uint32_t>& group_first,
                                           const Vector<std::uint16_t>& group_ports,
                                           const Vector<std::uint32_t>& host_lid,
                                           const Vector<std::uint8_t>& host_lmc,
                                           const Vector<std::uint32_t>& hosts, bool hashed) {
  const TableView tables = view_of(fabric, ports);
  const GroupView groups = groups_of(ports, group_of_entry, group_first, group_ports);
  const AddressView addresses{as_span(host_lid), as_span(host_lmc)};
  const Places places{as_vector(hosts), false};
  const Released released;
  NextHops next = next_hops(fabric, tables, groups, addresses, places);
  return hashed ? make_hashed_resolver(fabric, places, std::move(next))
                : make_sprayed_resolver(fabric, places, std::move(next));
}

/// The same where ports have died, with the row of every place, its leaf, and by row and leaf
/// whether some way does not arrive. Nothing may be sent there.
using GroupedRest =
    nb::typed<nb::tuple, Resolver, Numpy<std::uint32_t>, Numpy<std::uint32_t>, Numpy<std::uint8_t>>;

GroupedRest grouped_rest(const Fabric& fabric, const Matrix<std::uint16_t>& ports,
                         const Matrix<std::uint16_t>& group_of_entry,
                         const Vector<std::uint32_t>& group_first,
                         const Vector<std::uint16_t>& group_ports,
                         const Vector<std::uint32_t>& host_lid,
                         const Vector<std::uint8_t>& host_lmc, const Vector<std::uint32_t>& hosts,
                         bool hashed) {
  const TableView tables = view_of(fabric, ports);
  const GroupView groups = groups_of(ports, group_of_entry, group_first, group_ports);
  const AddressView addresses{as_span(host_lid), as_span(host_lmc)};
  const Places places{as_vector(hosts), false};
  std::unique_ptr<Resolver> resolver;
  std::vector<std::uint8_t> cut;
  std::vector<std::uint32_t> row, leaf;
  std::size_t leaves = 0;
  {
    const Released released;
    NextHops next = next_hops(fabric, tables, groups, addresses, places, &cut);
    const std::vector<std::uint32_t> number = next.source_number(fabric.switches());
    for (const HostId host : places.hosts) leaf.push_back(number[fabric.host_switch(host)]);
    row = next.row_of;
    leaves = next.sources.size();
    resolver = hashed ? make_hashed_resolver(fabric, places, std::move(next))
                      : make_sprayed_resolver(fabric, places, std::move(next));
  }
  const std::size_t rows = cut.size() / leaves;
  return GroupedRest(nb::make_tuple(nb::cast(std::move(resolver)), to_numpy(std::move(row)),
                                    to_numpy(std::move(leaf)),
                                    to_numpy(std::move(cut), {rows, leaves})));
}

/// Leaves; by leaf and switch the number of a set; where sets begin among the members; the members.
using SetsOfChannels = nb::typed<nb::tuple, Numpy<std::uint32_t>, Numpy<std::uint32_t>,
                                 Numpy<std::uint32_t>, Numpy<std::uint32_t>>;

SetsOfChannels find_next_hops(const Fabric& fabric, const Vector<std::uint32_t>& hosts) {
  NextHops next;
  {
    const Places places{as_vector(hosts), false};
    const Released released;
    next = next_hops(fabric, places);
  }
  const std::size_t leaves = next.ends.size();
  return SetsOfChannels(nb::make_tuple(
      to_numpy(std::move(next.ends)), to_numpy(std::move(next.set_of), {leaves, fabric.switches()}),
      to_numpy(std::move(next.first)), to_numpy(std::move(next.members))));
}

/// Channels between switches that messages cross, a row each; what is padding has a number from
/// switch_channels on. Routes that are drawn are those of drawing number `draw`.
Numpy<std::uint32_t> find_routes(const Resolver& resolver, const Vector<std::uint32_t>& source,
                                 const Vector<std::uint32_t>& target, std::uint64_t draw) {
  if (source.size() != target.size()) throw Error("as many targets as sources");
  for (std::size_t m = 0; m < source.size(); ++m) {
    const Place from = source.data()[m];
    const Place to = target.data()[m];
    if (from == to || std::max(from, to) >= resolver.places()) {
      throw Error("two different places below " + std::to_string(resolver.places()) + ", got " +
                  std::to_string(from) + " -> " + std::to_string(to));
    }
  }
  std::vector<std::uint32_t> channels(source.size() * resolver.stride());
  {
    const Released released;
    resolve_many(resolver, as_span(source), as_span(target), draw, channels.data());
  }
  return to_numpy(std::move(channels), {source.size(), resolver.stride()});
}

/// Channels between switches that messages cross with a part of them, a row each, and the parts;
/// what is padding has the number switch_channels and the part 0. Only where the resolver splits
/// messages.
using PartsOnChannels = nb::typed<nb::tuple, Numpy<std::uint32_t>, Numpy<double>>;

PartsOnChannels find_parts(const Resolver& resolver, const Vector<std::uint32_t>& source,
                           const Vector<std::uint32_t>& target) {
  const Ways* const ways = resolver.ways();
  if (ways == nullptr) throw Error("routes that split messages");
  if (source.size() != target.size()) throw Error("as many targets as sources");
  std::vector<std::uint32_t> channels;
  std::vector<double> part;
  std::size_t width = 1;
  const std::size_t messages = source.size();
  {
    const Released released;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<PartOnChannel>> between;
    std::vector<const std::vector<PartOnChannel>*> rows;
    for (std::size_t m = 0; m < messages; ++m) {
      const Place from = source.data()[m];
      const Place to = target.data()[m];
      if (std::max(from, to) >= resolver.places()) {
        throw Error("places below " + std::to_string(resolver.places()));
      }
      const auto pair = std::pair{ways->leaf_of(from), ways->class_of(to)};
      auto found = between.find(pair);
      if (found == between.end()) {
        check_interruption();
        found = between.emplace(pair, ways->parts_between(pair.first, pair.second)).first;
      }
      rows.push_back(&found->second);
      width = std::max(width, found->second.size());
    }
    channels.assign(messages * width, static_cast<std::uint32_t>(resolver.switch_channels()));
    part.assign(channels.size(), 0);
    for (std::size_t m = 0; m < messages; ++m) {
      for (std::size_t k = 0; k < rows[m]->size(); ++k) {
        channels[m * width + k] = (*rows[m])[k].channel;
        part[m * width + k] = (*rows[m])[k].part;
      }
    }
  }
  return PartsOnChannels(nb::make_tuple(to_numpy(std::move(channels), {messages, width}),
                                        to_numpy(std::move(part), {messages, width})));
}

/// Channels between switches that a message crosses at most; where it splits, of those from one
/// leaf.
std::size_t find_crossed(const Resolver& resolver) {
  const Ways* const ways = resolver.ways();
  if (ways == nullptr) return resolver.stride();
  std::size_t most = 1;
  for (std::uint32_t number = 0; number < ways->classes(); ++number) {
    most = std::max(most, ways->parts_between(0, number).size());
  }
  return most;
}

}  // namespace

void bind_resolver(nb::module_& m) {
  nb::class_<Resolver>(m, "Resolver")
      .def_prop_ro("places", &Resolver::places)
      .def_prop_ro("stride", &Resolver::stride)
      .def_prop_ro("tabled", &Resolver::tabled)
      .def_prop_ro("bytes", &Resolver::bytes)
      .def_prop_ro("bytes_of_round", &Resolver::bytes_of_round)
      .def_prop_ro("unit", &Resolver::unit)
      .def_prop_ro("bins_of_message", [](const Resolver& r) { return bins_of_message(r.unit()); })
      .def_prop_ro("work_of_round", &Resolver::work_of_round)
      .def_prop_ro("switch_channels", &Resolver::switch_channels)
      .def_prop_ro("splits", &Resolver::splits)
      .def_prop_ro("crossed", &find_crossed)
      .def("parts", &find_parts, nb::arg("source"), nb::arg("target"))
      .def("routes", &find_routes, nb::arg("source"), nb::arg("target"), nb::arg("draw"));
  m.def("longest_route", &find_longest_route, nb::arg("fabric"), nb::arg("ports"),
        nb::arg("host_lid"), nb::arg("host_lmc"), nb::arg("hosts"), nb::arg("spread"));
  // It reads the fabric for as long as it lives.
  m.def("make_tree_resolver", &tree_resolver, nb::arg("fabric"), nb::arg("tree"), nb::arg("hosts"),
        nb::arg("in_order_of_ports"), nb::keep_alive<0, 1>());
  m.def("turn_entries", &turn_entries, nb::arg("tree"));
  m.def("make_balanced_tree_resolver", &balanced_tree_resolver, nb::arg("fabric"), nb::arg("tree"),
        nb::arg("targets"), nb::arg("hosts"), nb::keep_alive<0, 1>());
  m.def("make_sprayed_tree_resolver", &sprayed_tree_resolver, nb::arg("fabric"), nb::arg("tree"),
        nb::arg("hosts"), nb::keep_alive<0, 1>());
  m.def("make_hashed_tree_resolver", &hashed_tree_resolver, nb::arg("fabric"), nb::arg("tree"),
        nb::arg("hosts"), nb::arg("flows"), nb::arg("alike"));
  m.def("make_hashed_dragonfly_resolver", &hashed_dragonfly_resolver, nb::arg("fabric"),
        nb::arg("dragonfly"), nb::arg("hosts"), nb::arg("flows"), nb::arg("alike"));
  m.def("make_sprayed_dragonfly_resolver", &sprayed_dragonfly_resolver, nb::arg("fabric"),
        nb::arg("dragonfly"), nb::arg("hosts"), nb::arg("by_groups"));
  m.def("make_hashed_grid_resolver", &hashed_grid_resolver, nb::arg("fabric"), nb::arg("grid"),
        nb::arg("hosts"), nb::arg("flows"), nb::arg("alike"), nb::keep_alive<0, 2>());
  m.def("make_sprayed_grid_resolver", &sprayed_grid_resolver, nb::arg("fabric"), nb::arg("grid"),
        nb::arg("hosts"), nb::keep_alive<0, 2>());
  m.def("make_dimension_order_resolver", &dimension_order_resolver, nb::arg("fabric"),
        nb::arg("grid"), nb::arg("targets"), nb::arg("hosts"), nb::keep_alive<0, 1>(),
        nb::keep_alive<0, 2>());
  m.def("make_hashed_resolver", &hashed_resolver, nb::arg("fabric"), nb::arg("hosts"),
        nb::arg("flows"), nb::arg("alike"), nb::arg("rest").none());
  m.def("make_sprayed_resolver", &sprayed_resolver, nb::arg("fabric"), nb::arg("hosts"),
        nb::arg("group"), nb::arg("rest").none());
  m.def("make_valiant_resolver", &valiant_resolver, nb::arg("fabric"), nb::arg("hosts"),
        nb::arg("group"), nb::arg("rest").none());
  m.def("make_ugal_resolver", &ugal_resolver, nb::arg("fabric"), nb::arg("hosts"), nb::arg("group"),
        nb::arg("seconds"), nb::arg("rest").none());
  m.def("make_ideal_resolver", &ideal_resolver, nb::arg("fabric"), nb::arg("hosts"),
        nb::arg("rest").none());
  m.def("make_grouped_resolver", &grouped_resolver, nb::arg("fabric"), nb::arg("ports"),
        nb::arg("group_of_entry"), nb::arg("group_first"), nb::arg("group_ports"),
        nb::arg("host_lid"), nb::arg("host_lmc"), nb::arg("hosts"), nb::arg("hashed"));
  m.def("make_grouped_rest", &grouped_rest, nb::arg("fabric"), nb::arg("ports"),
        nb::arg("group_of_entry"), nb::arg("group_first"), nb::arg("group_ports"),
        nb::arg("host_lid"), nb::arg("host_lmc"), nb::arg("hosts"), nb::arg("hashed"));
  m.def("next_hops", &find_next_hops, nb::arg("fabric"), nb::arg("hosts"));
  // With what longest_route() gives for the same. It reads the fabric and the tables for as long as
  // it lives.
  m.def("make_resolver", &make_resolver, nb::arg("fabric"), nb::arg("ports"), nb::arg("host_lid"),
        nb::arg("host_lmc"), nb::arg("hosts"), nb::arg("spread"), nb::arg("longest"),
        nb::arg("most_bytes"), nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>());
}

}  // namespace contend::bind
