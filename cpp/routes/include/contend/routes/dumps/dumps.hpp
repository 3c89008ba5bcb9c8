#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "contend/base/lines.hpp"
#include "contend/base/scan.hpp"
#include "contend/routes/dumps/table_columns.hpp"

namespace contend {

/// Reads `opensm-lfts.dump` of OpenSM and what `dump_fts`, `dump_lfts.sh` and `ibroute` print, in
/// chunks of any size. Multicast tables are passed over, and so are lines that belong to no table,
/// which a note counts. Cost: one pass over the bytes.
class LftsParser {
 public:
  void feed(std::string_view chunk);

  /// The tables; an InputError when there is none.
  TableColumns finish();

 private:
  /// The table that is being read.
  struct Table {
    bool open = false;
    std::size_t line = 0;
    std::uint64_t guid = 0;
    std::uint32_t top = 0;  ///< highest LID; only dump_fts tells it, else 0
    std::size_t rows = 0;
    std::uint64_t last_owner = 0;
  };

  void read(const Line& line);
  void read_row(const Line& line, std::string_view text);
  bool read_owner(std::uint32_t lid, std::string_view comment);
  bool read_header(const Line& line, std::string_view text);
  bool read_closing(std::string_view text);
  bool read_failure(std::string_view text);
  void close_table(bool properly);

  LineSplitter lines_;
  TableBuilder tables_;
  Table table_;
  bool in_multicast_ = false;
  Tally noise_;
  Tally unclosed_;
  Tally miscounted_;
  Tally topless_;
};

/// Reads `opensm.fdbs` of OpenSM and the .fdbs files of ibdiagnet, in chunks of any size. Of a
/// switch's private tables only the first counts. Cost: one pass over the bytes.
class FdbsParser {
 public:
  void feed(std::string_view chunk);

  /// The tables; an InputError when there is none.
  TableColumns finish();

 private:
  void read(const Line& line);
  void read_row(const Line& line, std::string_view text);
  bool read_heading(const Line& line, std::string_view text);

  LineSplitter lines_;
  TableBuilder tables_;
  bool skipping_ = false;  ///< inside a multicast table or a further private one
  std::uint32_t last_lid_ = 0;
  std::uint32_t lowest_end_ = kHighestUnicastLid;  ///< where the shortest table before ends
  Tally noise_;
  Tally private_tables_;
};

/// Reads ibdiagnet's .far files, the tables of adaptive routing, in chunks of any size: for every
/// switch groups of ports, then entries that take their port alone (`Static`) or any of a group, by
/// the packet (`Free`) or by a hash (`HBF`). All sub-groups of a group count, and of a switch's
/// private tables the first. Cost: one pass over the bytes.
class FarParser {
 public:
  void feed(std::string_view chunk);

  /// The tables; an InputError when there is none.
  TableColumns finish();

 private:
  enum class Section : std::uint8_t { none, groups, table };
  /// A group of the switch that is being read, and its number in groups_; 0: not needed so far.
  struct Group {
    std::vector<PortNumber> ports;
    std::uint16_t numbers[2] = {0, 0};
  };
  struct Entry {
    std::uint16_t port = kNoPort;
    std::uint16_t group = 0;
    std::uint32_t of = 0;  ///< the switch, counted from 1
    bool operator==(const Entry&) const = default;
  };

  void read(const Line& line);
  void read_switch(const Line& line, std::string_view text);
  void read_private(const Line& line, std::string_view text);
  void read_group(const Line& line, std::string_view text);
  void read_entry(const Line& line, std::string_view text);
  std::uint16_t choice(Group& group, bool hashed, const Line& line);
  void close_private();
  void close_switch();

  LineSplitter lines_;
  TableBuilder tables_;
  PortGroups groups_;
  std::unordered_multimap<std::uint64_t, std::uint16_t> known_;  ///< groups by what they hold
  std::unordered_map<std::uint32_t, Group> here_;                ///< of this switch, by number
  std::vector<Entry> first_;  ///< of the first tables, by LID; what is of other switches is old
  std::uint32_t switch_ = 0;
  std::uint64_t guid_ = 0;
  Section section_ = Section::none;
  bool weighted_ = true;  ///< whether rows of groups have a column of hashes
  std::size_t private_tables_ = 0;
  std::size_t private_line_ = 0;
  std::string private_text_;
  std::size_t entries_ = 0;        ///< of the table that is being read
  std::size_t first_entries_ = 0;  ///< of the switch's first
  bool differs_ = false;
  Tally noise_;
  Tally differing_;
  Tally groupless_;
};

}  // namespace contend
