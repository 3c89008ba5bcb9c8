#include "contend/fabric/iblinkinfo.hpp"

#include <algorithm>
#include <utility>

#include "contend/base/error.hpp"
#include "contend/base/planted_fault.hpp"
#include "ibnetdiscover_words.hpp"

// With headers, and without -l:
// Switch: 0x0002c902004885e0 leaf:
//       4    1[  ] ==( 4X          10.0 Gbps Active/  LinkUp)==>       1    1[  ] "host HCA-1" ( )
//       4    2[  ] ==(                Down/ Polling)==>             [  ] "" ( )
// CA: host HCA-1:
//  0x0002c903000e0b73  1  1[  ] ==( 4X  10.0 Gbps Active/  LinkUp)==>  4  1[  ] "leaf" ( )
// With -l:
// 0x0002c902004885e0 "leaf" 4 1[  ] ==( 4X ...)==>  0x0002c903000e0b73  1  1[  ] "host HCA-1" ( )

namespace contend {

using ibnetdiscover::fail;
using ibnetdiscover::lid;
using ibnetdiscover::port_number;

namespace {

constexpr std::string_view kLink = "] ==(";
constexpr std::string_view kArrow = "==>";

std::string_view trimmed(std::string_view text) {
  text = Cursor(text).skip_blanks().rest();
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// `12    3[ 7]`: LID, port and the port on the outside of a chassis, which nothing here needs.
void lid_and_port(Cursor& at, std::uint32_t& own_lid, std::uint16_t& port, const Line& line) {
  own_lid = lid(at.skip_blanks(), line);
  if (!at.at_blank()) fail(line, "a LID and a port", at);
  port = port_number(at.skip_blanks(), line);
  if (!at.take('[')) fail(line, "a bracket behind the port", at);
}

/// `4xQDR` from `4X  10.0 Gbps Active/  LinkUp`, or nothing where one of both is not known.
std::string rate_label(std::string_view text) {
  static constexpr std::pair<std::string_view, std::string_view> kSpeeds[] = {
      {"2.5", "SDR"},      {"5.0", "DDR"},    {"10.0", "QDR"},   {"14.0625", "FDR"},
      {"25.78125", "EDR"}, {"25.78", "EDR"},  {"53.125", "HDR"}, {"106.25", "NDR"},
      {"212.5", "XDR"},    {"FDR10", "FDR10"}};
  Cursor at(text);
  const std::string_view width = at.skip_blanks().take_word();
  const std::string_view speed = at.skip_blanks().take_word();
  const bool fdr10 = text.find("(FDR10)") != text.npos;
  if (width != "1X" && width != "2X" && width != "4X" && width != "8X" && width != "12X") return {};
  for (const auto& [gigabits, label] : kSpeeds) {
    if (speed != gigabits) continue;
    return std::string(width.substr(0, width.size() - 1)) + 'x' +
           std::string(fdr10 ? "FDR10" : label);
  }
  return {};
}

}  // namespace

void IblinkinfoParser::feed(std::string_view chunk) {
  lines_.feed(chunk, [this](const Line& line) { read(line); });
}

/// What a last line without a line end lacks is lost, not wrong.
void IblinkinfoParser::read(const Line& line) {
  try {
    read_whole(line);
  } catch (const InputError&) {
    if (line.ended) throw;
    passed_over_.cut(line.number);
  }
}

void IblinkinfoParser::read_whole(const Line& line) {
  const std::string_view text = trimmed(line.text);
  if (text.empty() || text.front() == '#' || read_header(text)) return;
  const bool begins = is_digit(text.front());
  const std::size_t middle = text.find(kLink);
  if (begins && middle != text.npos) {
    read_link({text, line.number, line.ended}, middle);
  } else if (begins && !line.ended) {
    throw InputError(line.number, "the rest of the line", "the end of the file");
  } else {
    passed_over_.add(line.number, text);
  }
}

bool IblinkinfoParser::read_header(std::string_view text) {
  if (!text.ends_with(':')) return false;
  Cursor at(text.substr(0, text.size() - 1));
  Record record;
  if (at.take("Switch: ")) {
    const std::optional<std::uint64_t> guid = at.take_prefixed_hexadecimal();
    if (!guid) return false;
    record.kind = NodeKind::switch_;
    record.guid = *guid;
  } else if (at.take("Router: ")) {
    record.kind = NodeKind::router;
  } else if (!at.take("CA: ")) {
    return false;
  }
  record.name = name(at.skip_blanks().rest());
  record_ = static_cast<std::int32_t>(records_.size());
  records_.push_back(record);
  return true;
}

std::int32_t IblinkinfoParser::name(std::string_view text) {
  if (text.empty()) return 0;
  const auto [found, fresh] =
      name_rows_.try_emplace(std::string(text), static_cast<std::int32_t>(names_.size()));
  if (fresh) names_.emplace_back(text);
  return found->second;
}

void IblinkinfoParser::read_link(const Line& line, std::size_t middle) {
  const std::size_t start = middle + kLink.size();
  const std::size_t arrow = line.text.find(kArrow, start);
  if (arrow == line.text.npos || (!line.ended && !line.text.ends_with(')'))) {
    throw InputError(line.number, "a port, ==( its state )==> and the port at the other end",
                     excerpt(line.text));
  }
  Link link;
  link.line = line.number;
  link.own = read_own(line.text.substr(0, middle), line);
  link.peer = read_peer(line.text.substr(arrow + kArrow.size()), line);
  if (link.peer.port != 0) {
    link.rate = subnet_.rate(rate_label(line.text.substr(start, arrow - start)), line.number);
  }
  links_.push_back(link);
}

IblinkinfoParser::Side IblinkinfoParser::read_own(std::string_view text, const Line& line) {
  Side side;
  Cursor at(text);
  if (const std::optional<std::uint64_t> guid = at.take_prefixed_hexadecimal()) side.guid = *guid;
  Shape shape = Shape::headed;
  if (at.skip_blanks().at('"')) {
    const std::string_view quoted = at.rest();
    const std::size_t close = quoted.rfind('"');
    if (close == 0) fail(line, "a description in quotes", at);
    // Padded in front; blanks behind belong to the name.
    side.name = name(Cursor(quoted.substr(1, close - 1)).skip_blanks().rest());
    at = Cursor(quoted.substr(close + 1));
    shape = Shape::lined;
  }
  if (shape_ == Shape::unknown) shape_ = shape;
  if (shape_ != shape) {
    throw InputError(line.number,
                     shape_ == Shape::lined ? "a line of iblinkinfo -l as above"
                                            : "a line of iblinkinfo without -l as above",
                     excerpt(line.text));
  }
  lid_and_port(at, side.lid, side.port, line);
  side.record = record_of(side);
  return side;
}

/// The header above, unless it was left out and the one above that is another node's.
std::int32_t IblinkinfoParser::record_of(const Side& side) {
  if ((record_ < 0 && !kPlantedFault) || shape_ == Shape::lined) return -1;
  Record& record = records_[static_cast<std::size_t>(record_)];
  const bool is_switch = record.kind == NodeKind::switch_;
  if (is_switch == (side.guid != 0)) return -1;
  if (record.lid == 0) record.lid = side.lid;
  // The ports of a switch share one LID, those of adapters do not.
  if (is_switch && record.lid != side.lid) return -1;
  if (!is_switch && record.guid == 0) record.guid = side.guid;
  return record_;
}

IblinkinfoParser::Side IblinkinfoParser::read_peer(std::string_view text, const Line& line) {
  Side side;
  Cursor at(text);
  if (at.skip_blanks().at('[')) return side;
  if (at.at('"')) {
    unavailable_.add(line.number, line.text);
    return side;
  }
  if (const std::optional<std::uint64_t> guid = at.take_prefixed_hexadecimal()) side.guid = *guid;
  if ((side.guid != 0) != (shape_ == Shape::lined)) {
    fail(line, shape_ == Shape::lined ? "the GUID of the other end" : "the LID of the other end",
         Cursor(text).skip_blanks());
  }
  lid_and_port(at, side.lid, side.port, line);
  const std::string_view rest = at.rest();
  const std::size_t open = rest.find('"');
  const std::size_t close = rest.rfind('"');
  if (open == rest.npos || close == open) fail(line, "a description in quotes", at);
  side.name = name(rest.substr(open + 1, close - open - 1));
  return side;
}

/// Without -l: whose port has a LID.
void IblinkinfoParser::learn_lids() {
  for (const Link& link : links_) {
    const Side& own = link.own;
    if (own.lid == 0) continue;
    Node node{own.guid == 0 ? NodeKind::switch_ : NodeKind::adapter, own.guid};
    if (own.record >= 0) {
      const Record& record = records_[static_cast<std::size_t>(own.record)];
      node = {record.kind, record.guid};
    } else if (own.guid == 0) {
      node.guid = own.lid;
      lids_stand_for_guids_ = true;
    }
    by_lid_.try_emplace(own.lid, node);
  }
}

/// With -l: which GUIDs have several ports with one LID.
void IblinkinfoParser::learn_switches() {
  std::unordered_map<std::uint64_t, std::pair<std::uint32_t, std::uint16_t>> first;
  const auto learn = [&](const Side& side) {
    if (side.port == 0) return;
    const auto [found, fresh] = first.try_emplace(side.guid, side.lid, side.port);
    if (!fresh && found->second.first == side.lid && found->second.second != side.port) {
      is_switch_[side.guid] = true;
    }
  };
  for (const Link& link : links_) {
    learn(link.own);
    learn(link.peer);
  }
}

IblinkinfoParser::Node IblinkinfoParser::node_of(const Side& side) const {
  if (shape_ == Shape::lined) {
    return {is_switch_.contains(side.guid) ? NodeKind::switch_ : NodeKind::adapter, side.guid};
  }
  if (side.record >= 0) {
    const Record& record = records_[static_cast<std::size_t>(side.record)];
    return {record.kind, record.guid};
  }
  if (side.guid != 0) return {NodeKind::adapter, side.guid};
  const auto found = by_lid_.find(side.lid);
  return found == by_lid_.end() ? Node{NodeKind::adapter, side.lid} : found->second;
}

SubnetColumns IblinkinfoParser::finish() {
  lines_.finish([this](const Line& line) { read(line); });
  if (links_.empty()) throw InputError(0, "the ports that iblinkinfo prints", "none");
  shape_ == Shape::lined ? learn_switches() : learn_lids();
  std::vector<std::int32_t> rows;
  std::vector<std::uint16_t> highest;
  rows.reserve(links_.size());
  for (const Link& link : links_) {
    const Node node = node_of(link.own);
    rows.push_back(subnet_.node(node.kind, node.guid, link.line));
    highest.resize(subnet_.nodes(), 0);
    std::uint16_t& ports = highest[static_cast<std::size_t>(rows.back())];
    ports = std::max(ports, link.own.port);
  }
  for (std::size_t index = 0; index < links_.size(); ++index) {
    declare(links_[index], rows[index], highest[static_cast<std::size_t>(rows[index])]);
    add(links_[index], rows[index]);
  }
  SubnetColumns columns = subnet_.finish(notes());
  columns.gaps = passed_over_.gaps("iblinkinfo");
  return columns;
}

void IblinkinfoParser::declare(const Link& link, std::int32_t row, std::uint16_t ports) {
  const Side& own = link.own;
  const std::uint32_t lid_of_switch = node_of(own).kind == NodeKind::switch_ ? own.lid : 0;
  const std::int32_t known =
      own.record < 0 ? own.name : records_[static_cast<std::size_t>(own.record)].name;
  // Without a header a node has no name but what its neighbours call it.
  if (known == 0) {
    subnet_.hear_of(row, {}, lid_of_switch);
    return;
  }
  NodeDeclaration declaration;
  declaration.ports = ports;
  declaration.lid = lid_of_switch;
  declaration.name = names_[static_cast<std::size_t>(known)];
  declaration.line = link.line;
  subnet_.declare(row, declaration);
}

void IblinkinfoParser::add(const Link& link, std::int32_t row) {
  const bool is_switch = node_of(link.own).kind == NodeKind::switch_;
  PortEnd end;
  end.node = row;
  end.port = link.own.port;
  end.port_guid = is_switch ? 0 : link.own.guid;
  end.lid = is_switch ? 0 : link.own.lid;
  end.rate = link.rate;
  end.line = link.line;
  if (link.peer.port != 0) {
    const std::string& peer_name = names_[static_cast<std::size_t>(link.peer.name)];
    if (shape_ == Shape::headed && link.peer.lid == 0) {
      without_lid_.add(link.line, peer_name);
      return;
    }
    const Node peer = node_of(link.peer);
    end.peer = subnet_.node(peer.kind, peer.guid, link.line);
    end.peer_port = link.peer.port;
    subnet_.hear_of(end.peer, peer_name, link.peer.lid);
    lids_stand_for_guids_ |= shape_ == Shape::headed && peer.guid == link.peer.lid;
  }
  subnet_.add(end);
}

std::vector<std::string> IblinkinfoParser::notes() const {
  std::vector<std::string> notes;
  passed_over_.note(notes, "iblinkinfo");
  unavailable_.note(notes, "port whose other end was not found",
                    "ports whose other ends were not found");
  without_lid_.note(notes, "end of a cable passed over, as its port has no LID",
                    "ends of cables passed over, as their ports have no LID");
  if (shape_ == Shape::lined) {
    notes.push_back(
        "iblinkinfo -l tells neither adapters nor switches: a GUID whose ports share a LID is a "
        "switch, every other port an adapter");
  } else {
    notes.push_back("iblinkinfo tells the GUIDs of adapters' ports, not of adapters");
  }
  if (lids_stand_for_guids_) {
    notes.push_back("some nodes are known by their LIDs alone, which stand for their GUIDs");
  }
  return notes;
}

}  // namespace contend
