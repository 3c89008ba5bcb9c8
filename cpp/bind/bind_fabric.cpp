#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <vector>

#include "bind.hpp"
#include "contend/base/error.hpp"
#include "contend/fabric/complete_tree.hpp"
#include "contend/fabric/dragonfly.hpp"
#include "contend/fabric/fabric.hpp"
#include "contend/fabric/grid.hpp"
#include "contend/fabric/levels.hpp"
#include "contend/fabric/minimum_cut.hpp"
#include "contend/fabric/remains.hpp"

namespace contend::bind {

static void construct(Fabric* self, const Vector<std::uint32_t>& host_switch,
                      const Vector<std::uint16_t>& host_port,
                      const Vector<std::uint16_t>& switch_ports,
                      const Vector<std::uint32_t>& cable_from,
                      const Vector<std::uint16_t>& cable_from_port,
                      const Vector<std::uint32_t>& cable_to,
                      const Vector<std::uint16_t>& cable_to_port) {
  const std::size_t n = cable_from.size();
  if (cable_from_port.size() != n || cable_to.size() != n || cable_to_port.size() != n) {
    throw Error("the four arrays of cables must have the same length");
  }
  std::vector<Cable> cables(n);
  for (std::size_t k = 0; k < n; ++k) {
    cables[k] = {cable_from.data()[k], cable_from_port.data()[k], cable_to.data()[k],
                 cable_to_port.data()[k]};
  }
  new (self) Fabric(as_vector(host_switch), as_vector(host_port), as_vector(switch_ports), cables);
}

static Numpy<std::uint8_t> cut(std::uint32_t nodes, const Vector<std::uint32_t>& tail,
                               const Vector<std::uint32_t>& head, const Vector<std::int64_t>& limit,
                               std::uint32_t source, std::uint32_t sink) {
  const FlowNetwork network{nodes, as_span(tail), as_span(head), as_span(limit)};
  return to_numpy(released([&] { return minimum_cut(network, source, sink); }));
}

static std::unique_ptr<Remains> remain(const Fabric& whole, const std::vector<SwitchId>& switches,
                                       const std::vector<std::uint32_t>& cables) {
  const Released lock;
  return std::make_unique<Remains>(whole, Losses{switches, cables});
}

static auto levels(const Fabric& fabric) {
  Levels found = released([&] { return find_levels(fabric); });
  return to_tuple(std::move(found.of), std::move(found.needed));
}

void bind_fabric(nb::module_& m) {
  nb::class_<Fabric>(m, "Fabric")
      .def("__init__", &construct, nb::arg("host_switch"), nb::arg("host_port"),
           nb::arg("switch_ports"), nb::arg("cable_from"), nb::arg("cable_from_port"),
           nb::arg("cable_to"), nb::arg("cable_to_port"))
      .def_prop_ro("hosts", &Fabric::hosts)
      .def_prop_ro("switches", &Fabric::switches)
      .def_prop_ro("cables", &Fabric::cables)
      .def_prop_ro("channels", &Fabric::channels)
      .def("out", &Fabric::out, nb::arg("switch"), nb::arg("port"));
  nb::class_<Remains>(m, "Remains")
      .def_prop_ro("hosts_left", [](const Remains& rest) { return rest.hosts_left; })
      .def("host_gone", [](const Remains& rest) { return to_numpy(std::vector(rest.host_gone)); })
      .def("channel_died",
           [](const Remains& rest) { return to_numpy(std::vector(rest.channel_died)); });
  m.def("remains", &remain, nb::arg("fabric"), nb::arg("switches"), nb::arg("cables"));
  nb::class_<CompleteTree>(m, "CompleteTree")
      .def_ro("top", &CompleteTree::top)
      .def_prop_ro("shared", &CompleteTree::shared)
      .def("level_first", [](const CompleteTree& tree) {
        std::vector<SwitchId> first;
        for (const CompleteTree::Step& step : tree.steps) first.push_back(step.first);
        first.push_back(tree.top);
        return to_numpy(std::move(first));
      });
  m.def("find_complete_tree", &find_complete_tree, nb::arg("fabric"),
        nb::sig("def find_complete_tree(fabric: Fabric) -> CompleteTree | None"),
        nb::call_guard<Released>());
  nb::class_<Dragonfly>(m, "Dragonfly").def_ro("switches", &Dragonfly::switches);
  m.def("find_dragonfly", &find_dragonfly, nb::arg("fabric"),
        nb::sig("def find_dragonfly(fabric: Fabric) -> Dragonfly | None"),
        nb::call_guard<Released>());
  nb::class_<Grid>(m, "Grid");
  m.def("find_grid", &find_grid, nb::arg("fabric"),
        nb::sig("def find_grid(fabric: Fabric) -> Grid | None"), nb::call_guard<Released>());
  m.def("find_levels", &levels, nb::arg("fabric"));
  m.def("minimum_cut", &cut, nb::arg("nodes"), nb::arg("tail"), nb::arg("head"), nb::arg("limit"),
        nb::arg("source"), nb::arg("sink"));
}

}  // namespace contend::bind
