#include <nanobind/stl/vector.h>

#include "bind.hpp"
#include "contend/base/error.hpp"
#include "contend/routes/engines/engines.hpp"
#include "contend/routes/engines/mend.hpp"
#include "contend/routes/search/fewest_collisions.hpp"
#include "contend/routes/search/table_steps.hpp"

namespace contend::bind {

namespace {

/// Checks the arrays, runs an engine without the interpreter's lock and hands the tables to numpy.
template <auto Engine, class... Given>
Numpy<PortNumber> run(const Fabric& fabric, const Targets& targets, Given... given) {
  return to_numpy(released([&] {
                    check_targets(fabric, targets);
                    return Engine(fabric, targets, given...);
                  }),
                  {fabric.switches(), targets.addresses});
}

/// Ports [switches, addresses] and the lane of every address.
using LanedArrays = nb::typed<nb::tuple, Numpy<PortNumber>, Numpy<std::uint8_t>>;

/// Ports [switches, addresses] and how many entries of every switch changed.
using MendedArrays = nb::typed<nb::tuple, Numpy<PortNumber>, Numpy<std::uint64_t>>;

}  // namespace

void bind_engines(nb::module_& m) {
  nb::class_<Targets>(m, "Targets")
      .def(
          "__init__",
          [](Targets* self, const Vector<std::uint32_t>& host_first,
             const Vector<std::uint8_t>& host_lmc, const Vector<std::uint32_t>& switch_address,
             const Vector<std::uint64_t>& switch_guid, const Vector<std::uint64_t>& switch_system,
             std::size_t addresses, const Vector<std::uint32_t>& others,
             const Vector<std::uint32_t>& other_switch, const Vector<std::uint16_t>& other_port) {
            new (self) Targets{{as_span(host_first), as_span(host_lmc)},
                               as_span(switch_address),
                               as_span(switch_guid),
                               as_span(switch_system),
                               addresses,
                               as_span(others),
                               as_span(other_switch),
                               as_span(other_port)};
          },
          nb::arg("host_first"), nb::arg("host_lmc"), nb::arg("switch_address"),
          nb::arg("switch_guid"), nb::arg("switch_system"), nb::arg("addresses"), nb::arg("others"),
          nb::arg("other_switch"), nb::arg("other_port"),
          // The arrays are borrowed: they must live as long as what points at them.
          nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(),
          nb::keep_alive<1, 5>(), nb::keep_alive<1, 6>(), nb::keep_alive<1, 8>(),
          nb::keep_alive<1, 9>(), nb::keep_alive<1, 10>());
  m.def("minhop", &run<minhop>, nb::arg("fabric"), nb::arg("targets"));
  m.def("dimension_order", &run<dimension_order>, nb::arg("fabric"), nb::arg("targets"));
  m.def(
      "d_mod_k",
      [](const Fabric& fabric, const Targets& targets, bool in_order_of_ports) {
        return run<d_mod_k>(
            fabric, targets,
            in_order_of_ports ? Parallel::in_order_of_ports : Parallel::after_parents);
      },
      nb::arg("fabric"), nb::arg("targets"), nb::arg("in_order_of_ports"));
  m.def(
      "up_down",
      [](const Fabric& fabric, const Targets& targets, const Vector<std::uint32_t>& roots) {
        return run<up_down>(fabric, targets, as_span(roots));
      },
      nb::arg("fabric"), nb::arg("targets"), nb::arg("roots"));
  m.def(
      "fewest_collisions",
      [](const Fabric& fabric, const Targets& targets, const Vector<std::uint32_t>& cable_cost,
         const Vector<std::uint32_t>& demand, std::uint32_t lanes) {
        LanedTables made = released([&] {
          check_targets(fabric, targets);
          return fewest_collisions(fabric, targets, {as_span(cable_cost), as_span(demand), lanes});
        });
        return LanedArrays(
            nb::make_tuple(to_numpy(std::move(made.tables), {fabric.switches(), targets.addresses}),
                           to_numpy(std::move(made.lane))));
      },
      nb::arg("fabric"), nb::arg("targets"), nb::arg("cable_cost"), nb::arg("demand"),
      nb::arg("lanes"));
  m.def(
      "table_steps",
      [](const Fabric& fabric, const Targets& targets, const Matrix<PortNumber>& ports,
         const Vector<std::uint32_t>& cable_cost, const Vector<std::uint32_t>& demand,
         std::size_t most, const Vector<std::uint8_t>& open) {
        std::vector<std::uint32_t> columns;
        {
          const Released lock;
          check_targets(fabric, targets);
          const Tables tables(ports.data(), ports.data() + ports.size());
          for (const TableStep& step :
               table_steps(fabric, targets, tables, {as_span(cable_cost), as_span(demand)}, most,
                           as_span(open))) {
            columns.insert(columns.end(), {step.at, step.address, step.before, step.after});
          }
        }
        const std::size_t steps = columns.size() / 4;
        return to_numpy(std::move(columns), {steps, 4});
      },
      nb::arg("fabric"), nb::arg("targets"), nb::arg("ports"), nb::arg("cable_cost"),
      nb::arg("demand"), nb::arg("most"), nb::arg("open"));
  m.def(
      "mend",
      [](const Fabric& fabric, const Targets& targets, const Matrix<PortNumber>& ports) {
        MendedTables mended = released([&] {
          check_targets(fabric, targets);
          return mend(fabric, targets, Tables(ports.data(), ports.data() + ports.size()));
        });
        std::vector<std::uint64_t> changed(mended.changed.begin(), mended.changed.end());
        return MendedArrays(nb::make_tuple(
            to_numpy(std::move(mended.tables), {fabric.switches(), targets.addresses}),
            to_numpy(std::move(changed))));
      },
      nb::arg("fabric"), nb::arg("targets"), nb::arg("ports"));
  m.def("tree_fault", &tree_fault, nb::arg("fabric"), nb::call_guard<Released>());
  m.def(
      "find_roots",
      [](const Fabric& fabric) { return to_numpy(released([&] { return find_roots(fabric); })); },
      nb::arg("fabric"));
}

}  // namespace contend::bind
