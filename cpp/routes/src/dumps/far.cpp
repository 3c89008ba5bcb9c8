#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "contend/base/error.hpp"
#include "contend/base/mixed.hpp"
#include "contend/routes/dumps/dumps.hpp"
#include "dump_words.hpp"

namespace contend {

static constexpr std::uint32_t kMostGroups = 0xFFFF;
static constexpr std::uint32_t kMostPrivate = 255;

void FarParser::feed(std::string_view chunk) {
  lines_.feed(chunk, [this](const Line& line) { read(line); });
}

TableColumns FarParser::finish() {
  lines_.finish([this](const Line& line) { read(line); });
  close_switch();
  std::vector<std::string> notes;
  noise_.note(notes, "line passed over that belongs to no table",
              "lines passed over that belong to no table");
  differing_.note(notes,
                  "further private table (PLFT) is not like its switch's first, which counts",
                  "further private tables (PLFT) are not like their switch's first, which counts");
  groupless_.note(notes, "adaptive entry takes its static port alone: its group has no ports",
                  "adaptive entries take their static port alone: their groups have no ports");
  tables_.own_by_port_zero();
  TableColumns columns = tables_.finish(std::move(notes));
  columns.groups = std::move(groups_);
  return columns;
}

void FarParser::read(const Line& line) {
  const std::string_view text = Cursor(line.text).skip_blanks().rest();
  if (text.starts_with("0x")) return read_entry(line, text);
  if (section_ == Section::groups && Cursor(text).at_digit()) return read_group(line, text);
  if (text.empty() || text.front() == '#' || text.front() == '-') return;
  if (text.starts_with("Switch ")) return read_switch(line, text);
  if (text.starts_with("PLFT_NUM:")) return read_private(line, text);
  if (text.starts_with("Groups Definition")) {
    section_ = Section::groups;
  } else if (text.starts_with("LFT Definition")) {
    section_ = Section::table;
  } else if (text.starts_with("Group")) {
    weighted_ = text.find("WHBF") != text.npos;
  } else if (!text.starts_with("LID") && !text.starts_with("File version")) {
    noise_.add(line.number, text);
  }
}

/// `Switch 0x0002c903007b78b0 ...`.
void FarParser::read_switch(const Line& line, std::string_view text) {
  Cursor at(text.substr(std::string_view("Switch ").size()));
  const Cursor before = at.skip_blanks();
  const std::optional<std::uint64_t> guid = at.take_prefixed_hexadecimal();
  if (!guid || (at.at_end() && !line.ended)) dumps::fail(line, "the GUID of a switch", before);
  close_switch();
  guid_ = *guid;
  ++switch_;
  tables_.begin(guid_, line.number);
}

/// `PLFT_NUM: 1, top: 0xbfff`.
void FarParser::read_private(const Line& line, std::string_view text) {
  Cursor at(text.substr(std::string_view("PLFT_NUM:").size()));
  const std::optional<std::uint32_t> number = at.skip_blanks().take_decimal(kMostPrivate);
  if (!number) dumps::fail(line, "the number of a private table", at);
  close_private();
  ++private_tables_;
  private_line_ = line.number;
  private_text_ = "switch " + guid_text(guid_) + ", PLFT " + std::to_string(*number);
}

/// `3 0 0 1,2,3,`: group, sub-group, whether it is weighted, ports.
void FarParser::read_group(const Line& line, std::string_view text) {
  Cursor at(text);
  const std::optional<std::uint32_t> group = at.take_decimal(kMostGroups);
  if (!group || !at.at_blank()) dumps::fail(line, "the number of a group", Cursor(text));
  const Cursor sub = at.skip_blanks();
  if (!at.take_decimal(kMostGroups) || (!at.at_blank() && !at.at_end())) {
    dumps::fail(line, "the number of a sub-group", sub);
  }
  if (!tables_.begun()) dumps::fail(line, "a switch before its groups", Cursor(text));
  const Cursor weighted = at.skip_blanks();
  if (weighted_ && at.take_word().find(',') != std::string_view::npos) {
    dumps::fail(line, "whether the group is weighted", weighted);
  }
  Group& here = here_[*group];
  here.numbers[0] = here.numbers[1] = 0;
  while (!at.skip_blanks().at_end()) {
    const Cursor before = at;
    const std::optional<std::uint32_t> port = at.take_decimal(kDumpedNoPort - 1);
    if (!port || *port == 0) dumps::fail(line, "a port from 1 to 254", before);
    if (!at.skip_blanks().take(',') && !(at.at_end() && line.ended)) {
      dumps::fail(line, "a comma after the port", at);
    }
    here.ports.push_back(static_cast<PortNumber>(*port));
  }
}

/// `0x0001 12 Free 3`, or `0x0002 12 Static` with a group or without.
void FarParser::read_entry(const Line& line, std::string_view text) {
  Cursor at(text);
  const std::uint32_t lid = dumps::row_lid(at, line);
  if (!at.at_blank()) dumps::fail(line, "a blank after the LID", at);
  const std::uint32_t port = dumps::row_port(at.skip_blanks(), line);
  const Cursor before = at.skip_blanks();
  const std::string_view state = at.take_word();
  if (state != "Static" && state != "Free" && state != "HBF") {
    dumps::fail(line, "the state of the LID, Static, Free or HBF", before);
  }
  if (section_ != Section::table || !tables_.begun()) {
    dumps::fail(line, "\"LFT Definition\" of a switch before its rows", Cursor(text));
  }
  Entry entry{static_cast<std::uint16_t>(port), 0, switch_};
  if (state != "Static") {
    const Cursor named = at.skip_blanks();
    const std::optional<std::uint32_t> number = at.take_decimal(kMostGroups);
    const auto found = number && (at.at_blank() || (at.at_end() && line.ended))
                           ? here_.find(*number)
                           : here_.end();
    if (found == here_.end()) dumps::fail(line, "the number of a group of this switch", named);
    entry.group = choice(found->second, state == "HBF", line);
    if (entry.group == 0) groupless_.add(line.number, text);
  }
  ++entries_;
  if (private_tables_ > 1) {
    differs_ |= lid >= first_.size() || first_[lid] != entry;
    return;
  }
  if (lid >= first_.size()) first_.resize(std::max<std::size_t>(lid + 1, 2 * first_.size()));
  first_[lid] = entry;
  tables_.add(lid, port, entry.group);
}

/// The number of a group among all, 0 for one without ports.
std::uint16_t FarParser::choice(Group& group, bool hashed, const Line& line) {
  std::uint16_t& number = group.numbers[hashed ? 1 : 0];
  std::vector<PortNumber>& ports = group.ports;
  if (number != 0 || ports.empty()) return number;
  std::sort(ports.begin(), ports.end());
  ports.erase(std::unique(ports.begin(), ports.end()), ports.end());
  std::uint64_t key = hashed ? 1 : 0;
  for (const PortNumber port : ports) key = mixed(key ^ port) + 1;
  const auto [begin, end] = known_.equal_range(key);
  for (auto it = begin; it != end && number == 0; ++it) {
    const std::span<const PortNumber> known = groups_.of(it->second);
    const bool same = std::equal(ports.begin(), ports.end(), known.begin(), known.end());
    if (same && (groups_.hashed[it->second] != 0) == hashed) number = it->second;
  }
  if (number != 0) return number;
  if (groups_.size() > kMostGroups) {
    throw InputError(line.number, "at most " + std::to_string(kMostGroups) + " groups of ports",
                     "more");
  }
  number = static_cast<std::uint16_t>(groups_.size());
  groups_.ports.insert(groups_.ports.end(), ports.begin(), ports.end());
  groups_.first.push_back(static_cast<std::uint32_t>(groups_.ports.size()));
  groups_.hashed.push_back(hashed ? 1 : 0);
  known_.emplace(key, number);
  return number;
}

void FarParser::close_private() {
  if (private_tables_ <= 1) {
    first_entries_ = entries_;
  } else if (differs_ || entries_ != first_entries_) {
    differing_.add(private_line_, private_text_);
  }
  entries_ = 0;
  differs_ = false;
}

void FarParser::close_switch() {
  close_private();
  private_tables_ = 0;
  section_ = Section::none;
  weighted_ = true;
  here_.clear();
}

}  // namespace contend
