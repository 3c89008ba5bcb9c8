#include "contend/fabric/subnet.hpp"

#include <algorithm>
#include <limits>

#include "contend/base/error.hpp"

namespace contend {

// A subnet has at most 49,151 LIDs; twenty times as many nodes are no fabric.
static constexpr std::size_t kMostNodes = 1u << 20;
static constexpr std::size_t kMostRates = 256;

static std::uint32_t line_column(std::size_t line) {
  return static_cast<std::uint32_t>(
      std::min<std::size_t>(line, std::numeric_limits<std::uint32_t>::max()));
}

// Control characters in a node's description must not reach a terminal.
static std::string printable(std::string_view name) {
  std::string text(name);
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) c = ' ';
  }
  return text;
}

std::size_t SubnetBuilder::Hash::operator()(const Key& key) const {
  std::uint64_t mixed = key.high * 0x9E3779B97F4A7C15u ^ key.low;
  mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9u;
  mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
  return static_cast<std::size_t>(mixed ^ mixed >> 31);
}

std::int32_t SubnetBuilder::node(NodeKind kind, std::uint64_t guid, std::size_t line) {
  const Key key{static_cast<std::uint64_t>(kind), guid};
  const auto [found, fresh] =
      node_rows_.try_emplace(key, static_cast<std::int32_t>(columns_.kind.size()));
  if (!fresh) return found->second;
  if (columns_.kind.size() == kMostNodes) {
    throw InputError(line, "at most " + std::to_string(kMostNodes) + " nodes", "more");
  }
  columns_.kind.push_back(static_cast<std::uint8_t>(kind));
  columns_.guid.push_back(guid);
  columns_.system_guid.push_back(0);
  columns_.device_id.push_back(0);
  columns_.ports.push_back(0);
  columns_.lid.push_back(0);
  columns_.lmc.push_back(0);
  columns_.name.emplace_back();
  columns_.node_line.push_back(0);
  heard_lids_differ_.push_back(false);
  return found->second;
}

void SubnetBuilder::declare(std::int32_t row, const NodeDeclaration& declaration) {
  const auto r = static_cast<std::size_t>(row);
  std::string name = printable(declaration.name);
  if (columns_.node_line[r] != 0) {
    const bool same = columns_.name[r] == name && columns_.ports[r] == declaration.ports &&
                      columns_.lid[r] == declaration.lid && columns_.lmc[r] == declaration.lmc;
    if (!same) redeclared_.add(declaration.line, declaration.name);
    return;
  }
  columns_.system_guid[r] = declaration.system_guid;
  columns_.device_id[r] = declaration.device_id;
  columns_.ports[r] = declaration.ports;
  columns_.lid[r] = declaration.lid;
  columns_.lmc[r] = declaration.lmc;
  columns_.name[r] = std::move(name);
  columns_.node_line[r] = line_column(declaration.line);
}

void SubnetBuilder::hear_of(std::int32_t row, std::string_view name, std::uint32_t lid) {
  const auto r = static_cast<std::size_t>(row);
  if (columns_.node_line[r] != 0) return;
  if (columns_.name[r].empty()) columns_.name[r] = printable(name);
  if (lid == 0 || heard_lids_differ_[r]) return;
  // An adapter with several ports has several LIDs, and which is whose nobody says.
  if (columns_.lid[r] != 0 && columns_.lid[r] != lid) {
    heard_lids_differ_[r] = true;
    columns_.lid[r] = 0;
  } else {
    columns_.lid[r] = lid;
  }
}

void SubnetBuilder::add(const PortEnd& end) {
  const Key key{static_cast<std::uint64_t>(end.node), end.port};
  const auto [found, fresh] = end_rows_.try_emplace(key, columns_.node.size());
  if (!fresh) {
    const std::size_t first = found->second;
    if (columns_.peer[first] == end.peer && columns_.peer_port[first] == end.peer_port) return;
  }
  columns_.node.push_back(end.node);
  columns_.port.push_back(end.port);
  columns_.port_guid.push_back(end.port_guid);
  columns_.end_lid.push_back(end.lid);
  columns_.end_lmc.push_back(end.lmc);
  columns_.peer.push_back(end.peer);
  columns_.peer_port.push_back(end.peer_port);
  columns_.rate.push_back(end.rate);
  columns_.end_line.push_back(line_column(end.line));
}

bool SubnetBuilder::knows_rate(std::string_view label) const {
  return std::find(columns_.rates.begin(), columns_.rates.end(), label) != columns_.rates.end();
}

std::uint16_t SubnetBuilder::rate(std::string_view label, std::size_t line) {
  const auto found = std::find(columns_.rates.begin(), columns_.rates.end(), label);
  const auto index = static_cast<std::size_t>(found - columns_.rates.begin());
  if (index == kMostRates) {
    throw InputError(line, "at most " + std::to_string(kMostRates) + " different link rates",
                     excerpt(label));
  }
  if (found == columns_.rates.end()) columns_.rates.emplace_back(label);
  return static_cast<std::uint16_t>(index);
}

void PassedOver::add(std::size_t line, std::string_view text) {
  static constexpr std::string_view kErrors[] = {
      "bad status", "timed out", "timeout",   "ibwarn",    "ibpanic", "iberror", "ERROR",
      "error:",     "Error:",    "Failed to", "failed to", "failed:", "Can't ",  "can't "};
  const bool is_error = std::any_of(std::begin(kErrors), std::end(kErrors),
                                    [&](auto word) { return text.find(word) != text.npos; });
  (is_error ? errors_ : noise_).add(line, text);
}

void PassedOver::note(std::vector<std::string>& notes, std::string_view tool) const {
  noise_.note(notes, "line passed over that is not " + std::string(tool) + "'s",
              "lines passed over that are not " + std::string(tool) + "'s");
}

std::vector<std::string> PassedOver::gaps(std::string_view tool) const {
  std::vector<std::string> gaps;
  if (cut_line_ > 0) gaps.push_back("it ends within line " + std::to_string(cut_line_));
  errors_.note(gaps, "error of " + std::string(tool) + " stands in it",
               "errors of " + std::string(tool) + " stand in it");
  return gaps;
}

void SubnetBuilder::note_undeclared(std::vector<std::string>& notes) const {
  std::size_t undeclared = 0;
  std::size_t first = 0;
  std::size_t several_lids = 0;
  for (std::size_t row = columns_.node_line.size(); row-- > 0;) {
    if (columns_.node_line[row] != 0) continue;
    ++undeclared;
    first = row;
    several_lids += heard_lids_differ_[row];
  }
  if (undeclared == 0) return;
  std::string note = undeclared == 1 ? "1 node has no record and is"
                                     : std::to_string(undeclared) + " nodes have no record and are";
  note += " known from neighbours only: " + guid_text(columns_.guid[first]);
  note += " \"" + columns_.name[first] + '"';
  if (undeclared > 1) note += ", ...";
  if (several_lids > 0) {
    note += "; " + std::to_string(several_lids) + " of them with several LIDs, left unknown";
  }
  notes.push_back(std::move(note));
}

SubnetColumns SubnetBuilder::finish(std::vector<std::string> notes) {
  redeclared_.note(notes, "record passed over that differs from the node's first",
                   "records passed over that differ from their node's first");
  note_undeclared(notes);
  columns_.notes = std::move(notes);
  SubnetColumns columns = std::move(columns_);
  *this = SubnetBuilder();
  return columns;
}

}  // namespace contend
