#include "contend/routes/dumps/table_columns.hpp"

#include <algorithm>

#include "contend/base/error.hpp"
#include "contend/base/scan.hpp"

namespace contend {

static constexpr std::size_t kBlock = 64;  // LIDs that a switch tells in one answer
static constexpr std::size_t kAlwaysAllowed = (std::size_t{64} << 20) / sizeof(PortNumber);
static constexpr std::size_t kThinnest = 64;  // above that, one entry in so many must be filled

void TableBuilder::begin(std::uint64_t switch_guid, std::size_t line) {
  const auto [found, fresh] =
      rows_.try_emplace(switch_guid, static_cast<std::uint32_t>(switch_guid_.size()));
  if (fresh) switch_guid_.push_back(switch_guid);
  parts_.push_back({found->second, entries_.size(), line});
}

void TableBuilder::distrust(std::uint64_t switch_guid, std::uint32_t block) {
  distrusted_.push_back({switch_guid, block});
}

std::size_t TableBuilder::addresses() const {
  std::size_t highest = owner_.empty() ? 0 : owner_.size() - 1;
  for (const Entry& entry : entries_) highest = std::max<std::size_t>(highest, entry.lid);
  return highest + 1;
}

void TableBuilder::fill(TableColumns& columns) const {
  std::vector<std::size_t> first_line(switch_guid_.size(), 0);
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const Part& part = parts_[p];
    const std::size_t last = p + 1 < parts_.size() ? parts_[p + 1].first : entries_.size();
    PortNumber* row = columns.ports.data() + part.row * columns.addresses;
    for (std::size_t e = part.first; e < last; ++e) {
      PortNumber& port = row[entries_[e].lid];
      if (port != kNoPort && port != entries_[e].port) {
        throw InputError(part.line,
                         "one port for LID " + std::to_string(entries_[e].lid) + " of switch " +
                             guid_text(switch_guid_[part.row]) + ", " + std::to_string(port) +
                             " as in the table of line " + std::to_string(first_line[part.row]),
                         std::to_string(entries_[e].port));
      }
      port = entries_[e].port;
    }
    if (first_line[part.row] == 0) first_line[part.row] = part.line;
  }
}

void TableBuilder::fill_groups(TableColumns& columns) const {
  if (group_.empty()) return;
  columns.group.assign(columns.ports.size(), 0);
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const Part& part = parts_[p];
    const std::size_t last = p + 1 < parts_.size() ? parts_[p + 1].first : entries_.size();
    for (std::size_t e = part.first; e < std::min(last, group_.size()); ++e) {
      const std::size_t at = part.row * columns.addresses + entries_[e].lid;
      columns.group[at] = group_[e];
      if (columns.ports[at] == kDumpedNoPort) columns.ports[at] = kNoPort;
    }
  }
}

/// Blocks of 64 LIDs that are taken back, for a note.
class LeftOut {
 public:
  LeftOut(TableColumns& columns, const char* why) : columns_(columns), why_(why) {}

  void take_back(std::size_t row, std::size_t block) {
    const std::size_t first = std::min(block * kBlock, columns_.addresses);
    const std::size_t last = std::min(first + kBlock, columns_.addresses);
    PortNumber* table = columns_.ports.data() + row * columns_.addresses;
    std::fill(table + first, table + last, kNoPort);
    if (count_++ > 0) return;
    first_ = "switch " + guid_text(columns_.switch_guid[row]) + " from LID " +
             std::to_string(block * kBlock);
  }

  void note() const {
    if (count_ == 0) return;
    const char* blocks = count_ == 1 ? " block of 64 LIDs " : " blocks of 64 LIDs ";
    columns_.notes.push_back(std::to_string(count_) + blocks + why_ + ": " + first_ +
                             (count_ > 1 ? ", ..." : ""));
  }

 private:
  TableColumns& columns_;
  const char* why_;
  std::size_t count_ = 0;
  std::string first_;
};

void TableBuilder::drop_unread(TableColumns& columns) const {
  LeftOut left_out(columns, "left out because the switch did not answer");
  for (const Distrusted& unread : distrusted_) {
    const auto found = rows_.find(unread.switch_guid);
    if (found != rows_.end()) left_out.take_back(found->second, unread.block);
  }
  left_out.note();
}

// A switch that doesn't answer leaves the dumping tool's buffer as it was: full of zeros before the
// first block, afterwards with the block before. Port 0 is the switch itself, which has one LID, or
// with an LMC several in a row, so both show.
void TableBuilder::drop_repeated(TableColumns& columns) const {
  LeftOut left_out(columns, "left out because they repeat the one before");
  for (std::size_t s = 0; s < columns.switch_guid.size(); ++s) {
    const PortNumber* table = columns.ports.data() + s * columns.addresses;
    for (std::size_t block = (columns.addresses - 1) / kBlock; block > 0; --block) {
      const PortNumber* end = table + std::min((block + 1) * kBlock, columns.addresses);
      // LID 0 is never kept, so the first block has one entry less to compare with.
      const PortNumber* here = table + block * kBlock + (block == 1 ? 1 : 0);
      if (std::find(here, end, PortNumber{0}) == end) continue;
      if (std::equal(here, end, here - kBlock)) left_out.take_back(s, block);
    }
    const PortNumber* end = table + std::min(kBlock, columns.addresses);
    if (end - table > 2 && std::count(table + 1, end, PortNumber{0}) == end - table - 1) {
      left_out.take_back(s, 0);
    }
  }
  left_out.note();
}

void TableBuilder::own_switches(TableColumns& columns) const {
  for (std::size_t s = 0; s < columns.switch_guid.size(); ++s) {
    const PortNumber* table = columns.ports.data() + s * columns.addresses;
    const PortNumber* end = table + columns.addresses;
    const PortNumber* own = std::find(table, end, PortNumber{0});
    if (own == end || std::find(own + 1, end, PortNumber{0}) != end) continue;
    std::uint64_t& owner = columns.owner_guid[static_cast<std::size_t>(own - table)];
    if (owner == 0) owner = columns.switch_guid[s];
  }
}

TableColumns TableBuilder::finish(std::vector<std::string> notes) {
  if (switch_guid_.empty()) throw InputError(0, "forwarding tables", "none");
  TableColumns columns;
  columns.addresses = addresses();
  const std::size_t size = switch_guid_.size() * columns.addresses;
  if (size > kAlwaysAllowed && size / kThinnest > entries_.size()) {
    throw InputError(0, "tables with at least one entry in " + std::to_string(kThinnest),
                     std::to_string(entries_.size()) + " entries in " +
                         std::to_string(switch_guid_.size()) + " tables of " +
                         std::to_string(columns.addresses) + " LIDs");
  }
  columns.notes = std::move(notes);
  columns.ports.assign(size, kNoPort);
  fill(columns);
  fill_groups(columns);
  columns.switch_guid = std::move(switch_guid_);
  columns.owner_guid = std::move(owner_);
  columns.owner_guid.resize(columns.addresses, 0);
  words_.resize(columns.addresses);
  for (auto& [kind, name] : words_) {
    columns.owner_kind.push_back(std::move(kind));
    columns.owner_name.push_back(std::move(name));
  }
  drop_unread(columns);
  if (look_for_repeated_) drop_repeated(columns);
  if (own_by_port_zero_) own_switches(columns);
  if (changed_owners_ > 0) {
    columns.notes.push_back("LID " + std::to_string(first_changed_owner_) +
                            (changed_owners_ > 1 ? " and others have" : " has") +
                            " several owners in the dump; the first is believed");
  }
  *this = TableBuilder();
  return columns;
}

}  // namespace contend
