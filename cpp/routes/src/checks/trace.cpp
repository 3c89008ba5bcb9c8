#include "contend/routes/checks/trace.hpp"

namespace contend {

Trace trace(const Fabric& fabric, const TableView& tables, SwitchId from, HostId to,
            Address address, std::vector<ChannelId>& route) {
  return trace(fabric, from, to, [=](SwitchId s) { return tables.at(s, address); }, route);
}

}  // namespace contend
