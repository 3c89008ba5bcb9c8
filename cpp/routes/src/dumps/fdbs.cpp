#include <algorithm>
#include <utility>
#include <vector>

#include "contend/routes/dumps/dumps.hpp"
#include "dump_words.hpp"

namespace contend {

void FdbsParser::feed(std::string_view chunk) {
  lines_.feed(chunk, [this](const Line& line) { read(line); });
}

TableColumns FdbsParser::finish() {
  lines_.finish([this](const Line& line) { read(line); });
  std::vector<std::string> notes;
  noise_.note(notes, "line passed over that belongs to no table",
              "lines passed over that belong to no table");
  private_tables_.note(notes, "further private table passed over",
                       "further private tables passed over");
  if (tables_.switches() > 1 && last_lid_ < lowest_end_) {
    notes.push_back("the last table ends at LID " + std::to_string(last_lid_) + ", all others at " +
                    std::to_string(lowest_end_) + " or later: the file may be cut");
  }
  tables_.own_by_port_zero();
  return tables_.finish(std::move(notes));
}

void FdbsParser::read(const Line& line) {
  const std::string_view text = Cursor(line.text).skip_blanks().rest();
  if (text.starts_with("0x")) {
    if (!skipping_) read_row(line, text);
    return;
  }
  if (text.empty() || text.front() == '#' || read_heading(line, text)) return;
  noise_.add(line.number, text);
}

/// `0x0001 : 033  : 01   : yes`, `0x0002 : UNREACHABLE` or `0x0003 : 007  : HOPS UNKNOWN`.
void FdbsParser::read_row(const Line& line, std::string_view text) {
  Cursor at(text);
  const std::uint32_t lid = dumps::row_lid(at, line);
  if (!at.skip_blanks().take(':')) dumps::fail(line, "a colon after the LID", at);
  if (!tables_.begun()) dumps::fail(line, "the table's switch before its rows", Cursor(text));
  last_lid_ = std::max(last_lid_, lid);
  if (at.skip_blanks().take("UNREACHABLE")) return;
  tables_.add(lid, dumps::row_port(at, line));
}

bool FdbsParser::read_heading(const Line& line, std::string_view text) {
  static constexpr std::string_view kTable = "dump_ucast_routes: Switch ";
  const std::size_t found = text.find(kTable);
  if (found != text.npos) {
    Cursor at(text.substr(found + kTable.size()));
    const std::optional<std::uint64_t> guid = at.take_prefixed_hexadecimal();
    if (!guid || (at.at_end() && !line.ended)) dumps::fail(line, "the GUID of a switch", at);
    if (tables_.begun()) lowest_end_ = std::min(lowest_end_, last_lid_);
    last_lid_ = 0;
    skipping_ = false;
    tables_.begin(*guid, line.number);
    return true;
  }
  Cursor at(text);
  if (at.take("PLFT_NUM:")) {
    const std::optional<std::uint32_t> number = at.skip_blanks().take_decimal(255);
    if (!number) dumps::fail(line, "the number of a private table", at);
    skipping_ = *number > 0;
    if (skipping_) private_tables_.add(line.number, text);
    return true;
  }
  if (at.take("Switch 0x")) {  // of a multicast table
    skipping_ = true;
    return true;
  }
  return at.take("LID") && at.skip_blanks().take(':');
}

}  // namespace contend
