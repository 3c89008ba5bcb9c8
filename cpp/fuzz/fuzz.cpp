// The fuzzer of the parser whose class CONTEND_PARSER names: a file is read whole and in pieces,
// and both must end alike.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "contend/base/error.hpp"
#include "contend/fabric/iblinkinfo.hpp"
#include "contend/fabric/ibnetdiscover.hpp"
#include "contend/routes/dumps/dumps.hpp"

namespace contend {

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

/// Feeds a piece from memory that ends where the piece ends, so that reading on is noticed.
template <class Parser>
void feed_exactly(Parser& parser, std::string_view piece) {
  const std::unique_ptr<char[]> copy(new char[piece.size()]);
  std::memcpy(copy.get(), piece.data(), piece.size());
  parser.feed({copy.get(), piece.size()});
}

/// The columns that a parser makes of a file in pieces of a size, or the error's text.
template <class Parser>
auto columns_of(std::string_view file, std::size_t piece, std::string& error)
    -> std::optional<decltype(Parser().finish())> {
  try {
    Parser parser;
    for (std::size_t at = 0; at < file.size(); at += piece) {
      feed_exactly(parser, file.substr(at, piece));
    }
    return parser.finish();
  } catch (const Error& thrown) {
    error = thrown.what();
    return std::nullopt;
  }
}

/// That columns fit together and are the same twice.
[[maybe_unused]] void check(const SubnetColumns& subnet, const SubnetColumns& again) {
  require(subnet.guid == again.guid && subnet.name == again.name && subnet.peer == again.peer);
  require(subnet.rates == again.rates && subnet.notes == again.notes);
  const std::size_t nodes = subnet.kind.size();
  require(nodes > 0 && subnet.name.size() == nodes && subnet.lid.size() == nodes);
  const std::size_t ends = subnet.node.size();
  require(subnet.peer.size() == ends && subnet.rate.size() == ends);
  for (std::size_t end = 0; end < ends; ++end) {
    require(subnet.node[end] >= 0 && static_cast<std::size_t>(subnet.node[end]) < nodes);
    require(subnet.peer[end] >= -1 && subnet.peer[end] < static_cast<std::int32_t>(nodes));
    require(subnet.port[end] >= 1 && subnet.port[end] <= kHighestPort);
    require(subnet.rate[end] < subnet.rates.size());
  }
}

/// That tables fit together and are the same twice.
[[maybe_unused]] void check(const TableColumns& tables, const TableColumns& again) {
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

}  // namespace

}  // namespace contend

/// The first byte says how large the pieces are, the others are the file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace contend;
  if (size == 0) return 0;
  const std::string_view file(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::string error_whole;
  std::string error_pieces;
  const auto whole = columns_of<CONTEND_PARSER>(file, file.size() + 1, error_whole);
  const auto pieces = columns_of<CONTEND_PARSER>(file, data[0] + std::size_t{1}, error_pieces);
  require(whole.has_value() == pieces.has_value() && error_whole == error_pieces);
  if (whole) check(*whole, *pieces);
  return 0;
}
