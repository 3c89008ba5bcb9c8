#include <utility>
#include <vector>

#include "contend/routes/dumps/dumps.hpp"
#include "dump_words.hpp"

namespace contend {

static constexpr std::uint32_t kLidsPerBlock = 64;

/// `Channel Adapter` of what stands before an owner's GUID: `# Channel Adapter `.
static std::string_view kind_of(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t:#(");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

/// What the outermost quotes hold.
static std::string_view name_in(std::string_view text) {
  const std::size_t first = text.find('\'');
  const std::size_t last = text.rfind('\'');
  return last > first ? text.substr(first + 1, last - first - 1) : std::string_view();
}

void LftsParser::feed(std::string_view chunk) {
  lines_.feed(chunk, [this](const Line& line) { read(line); });
}

TableColumns LftsParser::finish() {
  lines_.finish([this](const Line& line) { read(line); });
  close_table(false);
  std::vector<std::string> notes;
  noise_.note(notes, "line passed over that belongs to no table",
              "lines passed over that belong to no table");
  unclosed_.note(notes, "table has no closing line and may be cut",
                 "tables have no closing line and may be cut");
  miscounted_.note(notes, "table has not as many rows as its closing line says",
                   "tables have not as many rows as their closing lines say");
  topless_.note(notes, "table lacks its highest LID, which dump_fts loses at multiples of 64",
                "tables lack their highest LID, which dump_fts loses at multiples of 64");
  tables_.distrust_repeated();
  return tables_.finish(std::move(notes));
}

void LftsParser::read(const Line& line) {
  const std::string_view text = Cursor(line.text).skip_blanks().rest();
  if (text.starts_with("0x")) {
    if (!in_multicast_) read_row(line, text);
    return;
  }
  const bool known = text.empty() || text.front() == '#' || read_header(line, text) ||
                     read_closing(text) || read_failure(text) || in_multicast_ ||
                     text.starts_with("Lid  Out") || text.starts_with("Port     Info");
  if (!known) noise_.add(line.number, text);
}

void LftsParser::read_row(const Line& line, std::string_view text) {
  Cursor at(text);
  const std::uint32_t lid = dumps::row_lid(at, line);
  if (!at.at_blank()) dumps::fail(line, "a blank after the LID", at);
  const std::uint32_t port = dumps::row_port(at.skip_blanks(), line);
  if (!tables_.begun()) {
    dumps::fail(line, "\"Unicast lids\" before the rows of a table", Cursor(text));
  }
  ++table_.rows;
  if (read_owner(lid, at.rest())) tables_.add(lid, port);
}

/// `# Channel Adapter portguid 0x0c42a103008b3bd1: 'description'`, or without a GUID for a further
/// LID of the same port, `(path #2 out of 4)`. False for `(illegal port)`.
bool LftsParser::read_owner(std::uint32_t lid, std::string_view comment) {
  static constexpr std::string_view kWord = "portguid ";
  const std::size_t found = comment.find(kWord);
  if (found == comment.npos) {
    if (comment.find("illegal port") != comment.npos) return false;
    if (comment.find("(path #") == comment.npos) table_.last_owner = 0;
    if (table_.last_owner != 0) tables_.own(lid, table_.last_owner);
    return true;
  }
  Cursor at(comment.substr(found + kWord.size()));
  const std::optional<std::uint64_t> guid = at.take_prefixed_hexadecimal();
  // A GUID that the end of a cut file reaches may be cut too.
  table_.last_owner = guid && !at.at_end() ? *guid : 0;
  if (table_.last_owner != 0 && tables_.own(lid, table_.last_owner)) {
    tables_.describe(lid, kind_of(comment.substr(0, found)), name_in(at.rest()));
  }
  return true;
}

/// `Unicast lids [0-101] of switch Lid 19 guid 0x0002c903007b78b0 ('description'):`, where dump_fts
/// writes the LIDs in hexadecimal, or `Multicast mlids ...`.
bool LftsParser::read_header(const Line& line, std::string_view text) {
  static constexpr std::string_view kWord = " guid ";
  const bool multicast = text.starts_with("Multicast mlids");
  if (!multicast && !text.starts_with("Unicast lids")) return false;
  close_table(false);
  in_multicast_ = multicast;
  if (multicast) return true;
  const std::size_t found = text.find(kWord);
  if (found == text.npos) dumps::fail(line, "the GUID of a switch", Cursor(text));
  Cursor at(text.substr(found + kWord.size()));
  const std::optional<std::uint64_t> guid = at.take_prefixed_hexadecimal();
  if (!guid || !(at.at_blank() || at.at('('))) dumps::fail(line, "the GUID of a switch", at);
  table_ = Table{true, line.number, *guid, 0, 0, 0};
  const std::size_t dash = text.find('-');
  if (text.starts_with("Unicast lids [0x") && dash != text.npos) {
    const auto top = Cursor(text.substr(dash + 1)).take_prefixed_hexadecimal();
    if (top && *top <= kHighestUnicastLid) table_.top = static_cast<std::uint32_t>(*top);
  }
  tables_.begin(*guid, line.number);
  return true;
}

/// `5994 lids dumped`, which says the highest LID, or `15 valid lids dumped`, which counts rows.
bool LftsParser::read_closing(std::string_view text) {
  Cursor at(text);
  const std::optional<std::uint32_t> count = at.take_decimal(0xFFFFFF);
  if (!count) return false;
  const bool counts_rows = at.skip_blanks().take("valid ");
  if (!at.take("lids dumped")) return at.take("mlids dumped");
  if (counts_rows && table_.open && *count != table_.rows) {
    miscounted_.add(table_.line, "switch " + guid_text(table_.guid));
  }
  close_table(true);
  return true;
}

/// `SubnGet(LFT) failed on switch 'description' ... Node GUID 0x2c9... ... AM 0x5`: the rows of
/// that block of LIDs are another block's.
bool LftsParser::read_failure(std::string_view text) {
  static constexpr std::string_view kGuid = " Node GUID ";
  static constexpr std::string_view kBlock = " AM ";
  if (!text.starts_with("SubnGet(LFT) failed")) return false;
  const std::size_t guid_at = text.rfind(kGuid);
  const std::size_t block_at = text.rfind(kBlock);
  if (guid_at == text.npos || block_at == text.npos) return false;
  const auto guid = Cursor(text.substr(guid_at + kGuid.size())).take_prefixed_hexadecimal();
  const auto block = Cursor(text.substr(block_at + kBlock.size())).take_prefixed_hexadecimal();
  if (!guid || !block || *block > kHighestUnicastLid / kLidsPerBlock) return false;
  tables_.distrust(*guid, static_cast<std::uint32_t>(*block));
  return true;
}

void LftsParser::close_table(bool properly) {
  if (!table_.open) return;
  if (!properly) unclosed_.add(table_.line, "switch " + guid_text(table_.guid));
  const bool loses_top = table_.top > 0 && table_.top % kLidsPerBlock == 0;
  if (properly && loses_top && !tables_.last_entry_is(table_.top)) {
    topless_.add(table_.line, "switch " + guid_text(table_.guid));
  }
  table_.open = false;
}

}  // namespace contend
