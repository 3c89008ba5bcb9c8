#include "dump_words.hpp"

#include "contend/base/error.hpp"
#include "contend/base/planted_fault.hpp"
#include "contend/routes/dumps/table_columns.hpp"

namespace contend::dumps {

void fail(const Line& line, const char* expected, const Cursor& at) {
  throw InputError(line.number, expected, excerpt(at.rest()));
}

std::uint32_t row_lid(Cursor& at, const Line& line) {
  const Cursor before = at;
  const std::optional<std::uint64_t> lid = at.take_prefixed_hexadecimal();
  if (!lid || *lid > kHighestUnicastLid) {
    fail(line, "a unicast LID from 0x0001 to 0xbfff", before);
  }
  return static_cast<std::uint32_t>(*lid);
}

std::uint32_t row_port(Cursor& at, const Line& line) {
  const Cursor before = at;
  const std::optional<std::uint32_t> port = at.take_decimal(kPlantedFault ? 0xFFFF : kDumpedNoPort);
  const bool whole = at.at_blank() || (at.at_end() && line.ended);
  if (!port || !whole) fail(line, "a port from 0 to 255 and a blank", before);
  return *port;
}

}  // namespace contend::dumps
