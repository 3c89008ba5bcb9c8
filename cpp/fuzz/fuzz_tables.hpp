#pragma once

#include "contend/routes/dumps/table_columns.hpp"
#include "fuzz.hpp"

namespace contend::fuzz {

/// That tables fit together and are the same twice.
inline void check_tables(const TableColumns& tables, const TableColumns& again) {
  require(tables.ports == again.ports && tables.switch_guid == again.switch_guid);
  require(tables.owner_guid == again.owner_guid && tables.notes == again.notes);
  require(tables.addresses > 0 && tables.addresses <= kHighestUnicastLid + 1);
  require(tables.ports.size() == tables.switch_guid.size() * tables.addresses);
  require(tables.owner_guid.size() == tables.addresses);
  require(tables.group == again.group && tables.groups.ports == again.groups.ports);
  require(tables.group.empty() || tables.group.size() == tables.ports.size());
  require(tables.groups.first.size() == tables.groups.size() + 1);
  require(tables.groups.first.back() == tables.groups.ports.size());
  for (const std::uint16_t group : tables.group) require(group < tables.groups.size());
  for (const PortNumber port : tables.ports) require(port < kDumpedNoPort || port == kNoPort);
}

}  // namespace contend::fuzz
