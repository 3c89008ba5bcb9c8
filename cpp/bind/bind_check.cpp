#include <nanobind/stl/vector.h>

#include "bind.hpp"
#include "contend/base/error.hpp"
#include "contend/routes/check.hpp"
#include "contend/routes/dependency.hpp"

namespace contend::bind {

static nb::dict check(const Fabric& fabric, const Matrix<std::uint16_t>& ports,
                      const Vector<std::uint32_t>& host_address,
                      const Vector<std::uint8_t>& host_lmc, std::size_t examples) {
  RouteCheck seen;
  {
    nb::gil_scoped_release released;
    seen = check_routes(fabric, {ports.data(), ports.shape(0), ports.shape(1)},
                        {as_span(host_address), as_span(host_lmc)}, examples);
  }
  nb::list faults;
  for (const RouteFault& fault : seen.examples) {
    faults.append(nb::make_tuple(static_cast<int>(fault.end), fault.at, fault.from, fault.to,
                                 fault.address));
  }
  nb::dict result;
  result["routes"] = to_numpy(std::vector<std::uint64_t>(seen.routes.begin(), seen.routes.end()));
  result["faults"] = to_numpy(std::vector<std::uint64_t>(seen.faults.begin(), seen.faults.end()));
  result["examples"] = faults;
  result["hops"] = to_numpy(std::move(seen.hops));
  result["load"] = to_numpy(std::move(seen.load));
  result["addresses"] = to_numpy(std::move(seen.addresses));
  return result;
}

static nb::tuple dependency_cycle(const Fabric& fabric, const Matrix<std::uint16_t>& ports,
                                  const Vector<std::uint32_t>& host_address,
                                  const Vector<std::uint8_t>& host_lmc, bool from_all_switches) {
  std::uint64_t count = 0;
  std::vector<ChannelId> cycle;
  {
    nb::gil_scoped_release released;
    const ChannelDependencies found = channel_dependencies(
        fabric, {ports.data(), ports.shape(0), ports.shape(1)},
        {as_span(host_address), as_span(host_lmc)}, from_all_switches);
    count = found.count();
    cycle = found.cycle();
  }
  return nb::make_tuple(count, cycle);
}

void bind_check(nb::module_& m) {
  m.def("check_routes", &check, nb::arg("fabric"), nb::arg("ports"), nb::arg("host_address"),
        nb::arg("host_lmc"), nb::arg("examples"));
  m.def("dependency_cycle", &dependency_cycle, nb::arg("fabric"), nb::arg("ports"),
        nb::arg("host_address"), nb::arg("host_lmc"), nb::arg("from_all_switches"));
}

}  // namespace contend::bind
