#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/variant.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "bind.hpp"
#include "contend/base/error.hpp"
#include "contend/congestion/simulate.hpp"
#include "contend/routes/drawn/hashed_resolver.hpp"
#include "contend/routes/one_way/formulas.hpp"
#include "contend/routes/one_way/tree_formula.hpp"
#include "contend/routes/resolver.hpp"
#include "contend/routes/split/valiant.hpp"
#include "contend/routes/split/ways.hpp"
#include "contend/routes/together/ideal_ways.hpp"
#include "contend/routes/ways/dragonfly_hops.hpp"
#include "contend/routes/ways/grid_hops.hpp"

namespace contend::bind {

namespace {

Places places_of(const Vector<std::uint32_t>& hosts, bool spread = false) {
  return {as_vector(hosts), spread};
}

/// Of tables with groups of ports, between which messages split, or `hashed` choose one each; the
/// row of every place, its leaf, and by row and leaf whether some way does not arrive, which is for
/// those who ask for what is cut: nothing may be sent there. For others all ways must arrive.
using Grouped =
    nb::typed<nb::tuple, Resolver, Numpy<std::uint32_t>, Numpy<std::uint32_t>, Numpy<std::uint8_t>>;

Grouped grouped_resolver(const Fabric& fabric, const Matrix<std::uint16_t>& ports,
                         const Matrix<std::uint16_t>& group_of_entry,
                         const Vector<std::uint32_t>& group_first,
                         const Vector<std::uint16_t>& group_ports,
                         const Vector<std::uint32_t>& host_lid,
                         const Vector<std::uint8_t>& host_lmc, const Vector<std::uint32_t>& hosts,
                         bool hashed, bool asks_for_cut) {
  const TableView tables = view_of(fabric, ports);
  const GroupView groups = groups_of(ports, group_of_entry, group_first, group_ports);
  const Places places = places_of(hosts);
  std::unique_ptr<Resolver> resolver;
  std::vector<std::uint8_t> cut;
  std::vector<std::uint32_t> row, leaf;
  std::size_t leaves = 0;
  {
    const Released lock;
    NextHops next = next_hops(fabric, tables, groups, {as_span(host_lid), as_span(host_lmc)},
                              places, asks_for_cut ? &cut : nullptr);
    const Classes classes(fabric, places, next);
    for (Place place = 0; place < hosts.size(); ++place) leaf.push_back(classes.leaf_of(place));
    row = next.row_of;
    leaves = classes.leaves();
    resolver = hashed ? make_hashed_resolver(fabric, places, std::move(next))
                      : make_sprayed_resolver(fabric, places, std::move(next));
  }
  const std::size_t rows = leaves > 0 ? cut.size() / leaves : 0;
  return Grouped(nb::make_tuple(nb::cast(std::move(resolver)), to_numpy(std::move(row)),
                                to_numpy(std::move(leaf)),
                                to_numpy(std::move(cut), {rows, leaves})));
}

/// Leaves; by leaf and switch the number of a set; where sets begin among the members; the members.
using SetsOfChannels = nb::typed<nb::tuple, Numpy<std::uint32_t>, Numpy<std::uint32_t>,
                                 Numpy<std::uint32_t>, Numpy<std::uint32_t>>;

SetsOfChannels find_next_hops(const Fabric& fabric, const Vector<std::uint32_t>& hosts) {
  NextHops next = released([&] { return next_hops(fabric, places_of(hosts)); });
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
  released(
      [&] { resolve_many(resolver, as_span(source), as_span(target), draw, channels.data()); });
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
    const Released lock;
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
  m.def(
      "longest_route",
      [](const Fabric& fabric, const Matrix<std::uint16_t>& ports,
         const Vector<std::uint32_t>& host_lid, const Vector<std::uint8_t>& host_lmc,
         const Vector<std::uint32_t>& hosts, bool spread) {
        return released([&] {
          return longest_route(fabric, view_of(fabric, ports),
                               {as_span(host_lid), as_span(host_lmc)}, places_of(hosts, spread));
        });
      },
      nb::arg("fabric"), nb::arg("ports"), nb::arg("host_lid"), nb::arg("host_lmc"),
      nb::arg("hosts"), nb::arg("spread"));
  // With what longest_route() gives for the same. It reads the fabric and the tables for as long as
  // it lives.
  m.def(
      "stored_resolver",
      [](const Fabric& fabric, const Matrix<std::uint16_t>& ports,
         const Vector<std::uint32_t>& host_lid, const Vector<std::uint8_t>& host_lmc,
         const Vector<std::uint32_t>& hosts, bool spread, std::size_t longest,
         std::size_t most_bytes) {
        return released([&] {
          return make_stored_resolver(fabric, view_of(fabric, ports),
                                      {as_span(host_lid), as_span(host_lmc)},
                                      places_of(hosts, spread), longest, most_bytes);
        });
      },
      nb::arg("fabric"), nb::arg("ports"), nb::arg("host_lid"), nb::arg("host_lmc"),
      nb::arg("hosts"), nb::arg("spread"), nb::arg("longest"), nb::arg("most_bytes"),
      nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>());
  m.def("grouped_resolver", &grouped_resolver, nb::arg("fabric"), nb::arg("ports"),
        nb::arg("group_of_entry"), nb::arg("group_first"), nb::arg("group_ports"),
        nb::arg("host_lid"), nb::arg("host_lmc"), nb::arg("hosts"), nb::arg("hashed"),
        nb::arg("asks_for_cut"));
  m.def("next_hops", &find_next_hops, nb::arg("fabric"), nb::arg("hosts"));
  m.def("turn_entries", &turn_entries, nb::arg("tree"));

  // Kinds of routes without tables, of a fabric, hosts and what tells ways there. Resolvers read
  // the fabric, and the shape that it has, for as long as they live.
  using Hosts = Vector<std::uint32_t>;
  const auto kind = [&m](const char* name, auto make, auto... arguments) {
    m.def(name, make, nb::arg("fabric"), nb::arg("hosts"), arguments..., nb::keep_alive<0, 1>(),
          nb::keep_alive<0, 3>());
  };
  const auto topology = nb::arg("topology").none();
  const auto rest = nb::arg("rest").none();
  kind(
      "hashed_resolver",
      [](const Fabric& fabric, const Hosts& hosts, Topology ways, std::uint32_t flows, bool alike) {
        return released(
            [&] { return make_hashed_resolver(fabric, places_of(hosts), ways, {flows, alike}); });
      },
      topology, nb::arg("flows"), nb::arg("alike"));
  kind(
      "sprayed_resolver",
      [](const Fabric& fabric, const Hosts& hosts, Topology ways, const Hosts& group) {
        return released(
            [&] { return make_sprayed_resolver(fabric, places_of(hosts), ways, as_span(group)); });
      },
      topology, nb::arg("group"));
  kind(
      "valiant_resolver",
      [](const Fabric& fabric, const Hosts& hosts, const Remains* left, const Hosts& group) {
        return released(
            [&] { return make_valiant_resolver(fabric, places_of(hosts), as_span(group), left); });
      },
      rest, nb::arg("group"));
  // `seconds` of a message on each channel between switches.
  kind(
      "ugal_resolver",
      [](const Fabric& fabric, const Hosts& hosts, const Remains* left, const Hosts& group,
         const Vector<double>& seconds) {
        return released([&] {
          return make_ugal_resolver(fabric, places_of(hosts), as_span(group), as_vector(seconds),
                                    left);
        });
      },
      rest, nb::arg("group"), nb::arg("seconds"));
  kind(
      "ideal_resolver",
      [](const Fabric& fabric, const Hosts& hosts, const Remains* left) {
        return released([&] {
          const Places places = places_of(hosts);
          return make_ideal_resolver(fabric, places, next_hops(fabric, places, left));
        });
      },
      rest);
  kind(
      "tree_resolver",
      [](const Fabric& fabric, const Hosts& hosts, const CompleteTree& tree, bool in_order) {
        return released([&] {
          const auto turns = turns_of_mod_k(
              fabric, tree, in_order ? Parallel::in_order_of_ports : Parallel::after_parents);
          return make_tree_resolver(fabric, tree, places_of(hosts), turns);
        });
      },
      nb::arg("tree"), nb::arg("in_order_of_ports"));
  kind(
      "balanced_tree_resolver",
      [](const Fabric& fabric, const Hosts& hosts, const CompleteTree& tree,
         const Targets& targets) {
        return released(
            [&] { return make_balanced_tree_resolver(fabric, tree, targets, places_of(hosts)); });
      },
      nb::arg("tree"), nb::arg("targets"));
  kind(
      "dimension_order_resolver",
      [](const Fabric& fabric, const Hosts& hosts, const Grid& grid, const Targets& targets) {
        return released(
            [&] { return make_dimension_order_resolver(fabric, grid, targets, places_of(hosts)); });
      },
      nb::arg("grid"), nb::arg("targets"));
}

}  // namespace contend::bind
