#include "contend/fabric/ibnetdiscover.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "contend/base/error.hpp"
#include "ibnetdiscover_words.hpp"

namespace contend {

using namespace ibnetdiscover;

void IbnetdiscoverParser::feed(std::string_view chunk) {
  lines_.feed(chunk, [this](const Line& line) { read(line); });
}

SubnetColumns IbnetdiscoverParser::finish() {
  lines_.finish([this](const Line& line) { read(line); });
  if (subnet_.nodes() == 0) {
    throw InputError(0, "the records or ports that ibnetdiscover prints", "none");
  }
  std::vector<std::string> notes;
  passed_over_.note(notes, "ibnetdiscover");
  if (shape_ == Shape::listing) {
    notes.push_back(
        "a port listing names no adapters: every adapter port counts as an adapter, "
        "and several LIDs per port are not told");
  }
  SubnetColumns columns = subnet_.finish(std::move(notes));
  columns.gaps = passed_over_.gaps("ibnetdiscover");
  return columns;
}

/// Headings that stand between the records under -g.
static bool is_heading(std::string_view text) {
  return text.starts_with("Chassis ") || text.starts_with("Non-Chassis Nodes") ||
         text.starts_with("Hostname: ");
}

/// Passes over what a terminal's capture holds before the text: colours, titles, carriage returns.
static Cursor behind_escapes(std::string_view text) {
  Cursor at(text);
  while (at.take('\x1b') || at.take('\r')) {
    const std::string_view rest = at.rest();
    const bool title = rest.starts_with(']');
    if (!title && !rest.starts_with('[')) continue;
    std::size_t end = 1;
    while (end < rest.size() && (title ? rest[end] != '\a' : rest[end] < '@')) ++end;
    at = Cursor(rest.substr(std::min(end + 1, rest.size())));
  }
  return at;
}

/// Whether a text is the beginning of a word that ibnetdiscover begins lines with.
static bool begins_as_own(std::string_view text) {
  static constexpr std::string_view kWords[] = {"vendid=", "devid=",  "sysimgguid=", "switchguid=",
                                                "caguid=", "rtguid=", "Switch",      "Ca",
                                                "Rt",      "SW",      "CA",          "RT"};
  return std::any_of(std::begin(kWords), std::end(kWords), [&](std::string_view word) {
    return word.starts_with(text.substr(0, word.size()));
  });
}

/// Whether a line with a bracket in front is a port's: `[3]` and a node, which may be missing or
/// damaged. Shells' prompts, `[user@host dir]#`, and job numbers begin alike.
static bool is_port(std::string_view text) {
  Cursor at(text);
  if (at.take('[') && at.take_decimal(65535) && at.take(']')) {
    at.skip_blanks();
    if (at.at_end() || at.at('"') || at.at('(') || at.at('[')) return true;
  }
  return text.find("\"[") != text.npos;
}

/// What a last line without a line end lacks is lost, not wrong.
void IbnetdiscoverParser::read(const Line& line) {
  try {
    read_whole(line);
  } catch (const InputError&) {
    if (line.ended) throw;
    passed_over_.cut(line.number);
  }
}

void IbnetdiscoverParser::read_whole(const Line& line) {
  Cursor start = behind_escapes(line.text);
  const Line trimmed{start.skip_blanks().rest(), line.number, line.ended};
  if (trimmed.text.empty()) return;
  switch (trimmed.text.front()) {
    case '#':
      return;
    case '[':
      if (is_port(trimmed.text)) {
        read_port(trimmed);
      } else if (!line.ended && trimmed.text.find_first_not_of("[0123456789]") == line.text.npos) {
        passed_over_.cut(line.number);
      } else {
        passed_over_.add(trimmed.number, trimmed.text);
      }
      return;
    default:
      if (read_identity(trimmed) || read_header(trimmed) || read_listing(trimmed) ||
          is_heading(trimmed.text)) {
        return;
      }
      if (!line.ended && begins_as_own(trimmed.text)) {
        throw InputError(line.number, "the rest of the line", "the end of the file");
      }
      passed_over_.add(trimmed.number, trimmed.text);
  }
}

void IbnetdiscoverParser::insist_on(Shape shape, const Line& line) {
  if (shape_ == Shape::unknown) shape_ = shape;
  if (shape_ == shape) return;
  throw InputError(line.number,
                   shape_ == Shape::records ? "node records as above" : "a port listing as above",
                   excerpt(line.text));
}

/// A last line without a line end may have been cut: it is believed only if it ends in a rate, and
/// in one that was seen before.
std::uint16_t IbnetdiscoverParser::read_rate(std::string_view label, const Line& line) {
  if (!line.ended && (label.empty() || !subnet_.knows_rate(label))) {
    throw InputError(line.number, "the rest of the line", "the end of the file");
  }
  if (label.find_first_not_of('?') == label.npos) label = {};
  return subnet_.rate(label, line.number);
}

bool IbnetdiscoverParser::read_identity(const Line& line) {
  Cursor at(line.text);
  if (at.take("vendid=")) {
    identity_ = {};
    return true;
  }
  if (at.take("devid=")) {
    const std::optional<std::uint64_t> id = at.take_prefixed_hexadecimal();
    if (!id || *id > std::numeric_limits<std::uint32_t>::max()) fail(line, "a device id", at);
    identity_.device_id = static_cast<std::uint32_t>(*id);
    return true;
  }
  if (at.take("sysimgguid=")) {
    const std::optional<std::uint64_t> guid = at.take_prefixed_hexadecimal();
    if (!guid) fail(line, "a GUID", at);
    identity_.system_guid = *guid;
    return true;
  }
  // The header that follows names the same GUID.
  return at.take("switchguid=") || at.take("caguid=") || at.take("rtguid=");
}

bool IbnetdiscoverParser::read_header(const Line& line) {
  Cursor at(line.text);
  if (!at.take("Switch") && !at.take("Ca") && !at.take("Hca") && !at.take("Rt")) return false;
  if (!at.skip_blanks().at_digit()) return false;
  insist_on(Shape::records, line);
  if (!line.ended) throw InputError(line.number, "the rest of the record", "the end of the file");
  NodeDeclaration declaration;
  declaration.ports = static_cast<std::uint16_t>(
      number(at, kHighestPort, line, "a number of ports of at most 254"));
  const NodeName name = node_name(at.skip_blanks(), line);
  const Comment said = comment(at, line);
  declaration.system_guid = identity_.system_guid;
  declaration.device_id = identity_.device_id;
  declaration.lid = said.lid;
  declaration.lmc = said.lmc;
  declaration.name = said.description;
  declaration.line = line.number;
  identity_ = {};
  current_ = subnet_.node(name.kind, name.guid, line.number);
  current_is_switch_ = name.kind == NodeKind::switch_;
  subnet_.declare(current_, declaration);
  return true;
}

/// The port number on the outside of a chassis, `[ext 3]`, which nothing here needs.
static void pass_external_port(Cursor& at) {
  Cursor ahead = at;
  if (ahead.take("[ext") && ahead.skip_blanks().take_decimal(65535) && ahead.take(']')) at = ahead;
}

/// `(c42a103008b40d0)`, or 0 where there is none.
static std::uint64_t port_guid_in_parentheses(Cursor& at, const Line& line) {
  if (!at.skip_blanks().at('(')) return 0;
  Cursor ahead = at;
  ahead.take('(');
  const std::optional<std::uint64_t> guid = ahead.take_hexadecimal();
  if (!guid || !ahead.take(')')) fail(line, "a port GUID in parentheses", at);
  at = ahead;
  return *guid;
}

static std::uint16_t port_in_brackets(Cursor& at, const Line& line) {
  if (!at.take('[')) fail(line, "a port in brackets", at);
  const std::uint16_t port = port_number(at, line);
  if (!at.take(']')) fail(line, "a closing bracket", at);
  pass_external_port(at);
  return port;
}

void IbnetdiscoverParser::read_port(const Line& line) {
  Cursor at(line.text);
  PortEnd end;
  end.port = port_in_brackets(at, line);
  end.port_guid = port_guid_in_parentheses(at, line);
  if (current_ < 0) fail(line, "a node before its ports", Cursor(line.text));
  const NodeName peer = node_name(at.skip_blanks(), line);
  end.peer_port = port_in_brackets(at, line);
  port_guid_in_parentheses(at, line);  // the peer's, which it declares itself
  const Comment said = comment(at, line);
  end.rate = read_rate(said.rate, line);
  end.node = current_;
  end.lid = current_is_switch_ ? 0 : said.own_lid;
  end.lmc = said.own_lmc;
  end.peer = subnet_.node(peer.kind, peer.guid, line.number);
  end.line = line.number;
  subnet_.hear_of(end.peer, said.description, said.lid);
  subnet_.add(end);
}

}  // namespace contend
