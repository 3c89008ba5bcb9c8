#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <string_view>

#include "bind.hpp"
#include "contend/fabric/iblinkinfo.hpp"
#include "contend/fabric/ibnetdiscover.hpp"
#include "contend/routes/dumps/dumps.hpp"

namespace contend::bind {

using Columns = nb::typed<nb::dict, nb::str, nb::any>;

/// Texts of a file as they may be: what is not UTF-8 becomes the replacement character.
static nb::tuple texts(const std::vector<std::string>& values) {
  nb::list decoded;
  for (const std::string& value : values) {
    decoded.append(nb::steal(
        PyUnicode_DecodeUTF8(value.data(), static_cast<Py_ssize_t>(value.size()), "replace")));
  }
  return nb::tuple(decoded);
}

template <class Parser>
static void feed(Parser& parser, const nb::bytes& chunk) {
  const std::string_view bytes(chunk.c_str(), chunk.size());
  const Released lock;
  parser.feed(bytes);
}

template <class Parser>
static Columns finish_subnet(Parser& parser) {
  SubnetColumns columns = released([&] { return parser.finish(); });
  Columns result;
  result["kind"] = to_numpy(std::move(columns.kind));
  result["guid"] = to_numpy(std::move(columns.guid));
  result["system_guid"] = to_numpy(std::move(columns.system_guid));
  result["device_id"] = to_numpy(std::move(columns.device_id));
  result["ports"] = to_numpy(std::move(columns.ports));
  result["lid"] = to_numpy(std::move(columns.lid));
  result["lmc"] = to_numpy(std::move(columns.lmc));
  result["name"] = texts(columns.name);
  result["node_line"] = to_numpy(std::move(columns.node_line));
  result["node"] = to_numpy(std::move(columns.node));
  result["port"] = to_numpy(std::move(columns.port));
  result["port_guid"] = to_numpy(std::move(columns.port_guid));
  result["end_lid"] = to_numpy(std::move(columns.end_lid));
  result["end_lmc"] = to_numpy(std::move(columns.end_lmc));
  result["peer"] = to_numpy(std::move(columns.peer));
  result["peer_port"] = to_numpy(std::move(columns.peer_port));
  result["rate"] = to_numpy(std::move(columns.rate));
  result["end_line"] = to_numpy(std::move(columns.end_line));
  result["rates"] = texts(columns.rates);
  result["notes"] = texts(columns.notes);
  result["gaps"] = texts(columns.gaps);
  return result;
}

static Columns as_columns(TableColumns columns) {
  const std::size_t switches = columns.switch_guid.size();
  Columns result;
  result["switch_guid"] = to_numpy(std::move(columns.switch_guid));
  result["ports"] = to_numpy(std::move(columns.ports), {switches, columns.addresses});
  result["owner_guid"] = to_numpy(std::move(columns.owner_guid));
  result["owner_kind"] = texts(columns.owner_kind);
  result["owner_name"] = texts(columns.owner_name);
  result["notes"] = texts(columns.notes);
  return result;
}

template <class Parser>
static Columns finish_tables(Parser& parser) {
  return as_columns(released([&] { return parser.finish(); }));
}

/// Tables, and the groups that their entries may use; those without any have none.
static Columns finish_far(FarParser& parser) {
  TableColumns columns = released([&] { return parser.finish(); });
  const bool grouped = !columns.group.empty();
  const std::vector<std::size_t> shape{columns.switch_guid.size(), columns.addresses};
  Columns groups;
  if (grouped) {
    groups["of_entry"] = to_numpy(std::move(columns.group), shape);
    groups["first"] = to_numpy(std::move(columns.groups.first));
    groups["ports"] = to_numpy(std::move(columns.groups.ports));
    groups["hashed"] = to_numpy(std::move(columns.groups.hashed));
  }
  Columns result = as_columns(std::move(columns));
  result["groups"] = grouped ? nb::object(groups) : nb::none();
  return result;
}

template <class Parser>
static void bind_reader(nb::module_& m, const char* name, Columns (*finished)(Parser&)) {
  nb::class_<Parser>(m, name)
      .def(nb::init<>())
      .def("feed", &feed<Parser>, nb::arg("chunk"))
      .def("finish", finished);
}

void bind_readers(nb::module_& m) {
  bind_reader<IbnetdiscoverParser>(m, "IbnetdiscoverParser", finish_subnet);
  bind_reader<IblinkinfoParser>(m, "IblinkinfoParser", finish_subnet);
  bind_reader<LftsParser>(m, "LftsParser", finish_tables);
  bind_reader<FdbsParser>(m, "FdbsParser", finish_tables);
  bind_reader<FarParser>(m, "FarParser", finish_far);
}

}  // namespace contend::bind
