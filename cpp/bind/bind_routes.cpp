#include <nanobind/stl/vector.h>

#include "bind.hpp"
#include "contend/base/error.hpp"
#include "contend/routes/checks/trace.hpp"

namespace contend::bind {

using Walk = nb::typed<nb::tuple, int, SwitchId, std::vector<ChannelId>>;

static Walk trace_route(const Fabric& fabric, const Matrix<std::uint16_t>& ports, SwitchId from,
                        HostId to, Address address) {
  if (ports.shape(0) != fabric.switches() || from >= fabric.switches() || to >= fabric.hosts()) {
    throw Error("tables, switch or host do not belong to the fabric");
  }
  std::vector<ChannelId> route;
  const Trace walked =
      trace(fabric, {ports.data(), ports.shape(0), ports.shape(1)}, from, to, address, route);
  return Walk(nb::make_tuple(static_cast<int>(walked.end), walked.last, route));
}

void bind_routes(nb::module_& m) {
  m.def("trace_route", &trace_route, nb::arg("fabric"), nb::arg("ports"), nb::arg("from_switch"),
        nb::arg("to_host"), nb::arg("address"));
}

}  // namespace contend::bind
