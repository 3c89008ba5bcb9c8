#include <string>

#include "contend/base/error.hpp"
#include "contend/fabric/ibnetdiscover.hpp"
#include "ibnetdiscover_words.hpp"

// Port listings, `ibnetdiscover -p`, one line per port:
// SW    13 23 0xb8599f0300fc6de4 4x EDR - CA     9  1 0xec0d9a03007d7d0b ( 'switch' - 'adapter' )
// SW    13 22 0xb8599f0300fc6de4 4x SDR                                    'switch'

namespace contend {

using namespace ibnetdiscover;

namespace {

struct ListedPort {
  NodeKind kind;
  std::uint32_t lid;
  std::uint16_t port;
  std::uint64_t guid;
};

bool take_kind(Cursor& at, NodeKind& kind) {
  if (at.take("SW")) {
    kind = NodeKind::switch_;
  } else if (at.take("CA")) {
    kind = NodeKind::adapter;
  } else if (at.take("RT")) {
    kind = NodeKind::router;
  } else {
    return false;
  }
  return at.at_blank() && at.skip_blanks().at_digit();
}

/// `13 23 0xb8599f0300fc6de4` behind the kind.
ListedPort listed_port(Cursor& at, NodeKind kind, const Line& line) {
  const std::uint32_t lid_value = lid(at, line);
  const std::uint16_t port = port_number(at.skip_blanks(), line);
  const std::optional<std::uint64_t> guid = at.skip_blanks().take_prefixed_hexadecimal();
  if (!guid) fail(line, "a port GUID", at);
  return {kind, lid_value, port, *guid};
}

/// What stands between the first quote and the last one.
std::string_view between_quotes(Cursor& at, const Line& line) {
  const std::string_view text = at.skip_blanks().rest();
  const std::size_t close = text.rfind('\'');
  const bool whole = line.ended || text.ends_with('\'') || text.ends_with(')');
  if (!text.starts_with('\'') || close == 0 || !whole) fail(line, "a description in quotes", at);
  return text.substr(1, close - 1);
}

/// Of a port that is down: in quotes, or without any, as old versions and other tools write it.
std::string_view own_description(Cursor& at, const Line& line) {
  std::string_view text = at.skip_blanks().rest();
  if (text.empty() || text.starts_with('\'')) return between_quotes(at, line);
  while (text.ends_with(' ') || text.ends_with('\t') || text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

}  // namespace

bool IbnetdiscoverParser::read_listing(const Line& line) {
  Cursor at(line.text);
  NodeKind kind;
  if (!take_kind(at, kind)) return false;
  insist_on(Shape::listing, line);
  const ListedPort own = listed_port(at, kind, line);
  std::string label(at.skip_blanks().take_word());
  label += at.skip_blanks().take_word();
  if (!is_rate(label)) throw InputError(line.number, "a link rate such as 4x HDR", excerpt(label));

  NodeDeclaration declaration;
  PortEnd end;
  end.port = own.port;
  end.line = line.number;
  if (at.skip_blanks().take('-')) {
    NodeKind peer_kind;
    if (!take_kind(at.skip_blanks(), peer_kind)) fail(line, "the port at the other end", at);
    const ListedPort peer = listed_port(at, peer_kind, line);
    if (!at.skip_blanks().take('(')) fail(line, "descriptions in parentheses", at);
    const std::string_view names = between_quotes(at, line);
    const std::size_t middle = names.find("' - '");
    if (middle == names.npos) fail(line, "two descriptions", at);
    declaration.name = names.substr(0, middle);
    end.peer = subnet_.node(peer.kind, peer.guid, line.number);
    end.peer_port = peer.port;
    end.rate = read_rate(label, line);
    subnet_.hear_of(end.peer, names.substr(middle + 5), peer.lid);
  } else {
    declaration.name = own_description(at, line);
  }
  const bool is_switch = own.kind == NodeKind::switch_;
  declaration.lid = is_switch ? own.lid : 0;
  declaration.line = line.number;
  end.node = subnet_.node(own.kind, own.guid, line.number);
  if (!is_switch) {
    end.port_guid = own.guid;
    end.lid = own.lid;
  }
  subnet_.declare(end.node, declaration);
  subnet_.add(end);
  return true;
}

}  // namespace contend
