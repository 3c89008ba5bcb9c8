#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "contend/base/lines.hpp"
#include "contend/base/scan.hpp"
#include "contend/routes/table_columns.hpp"

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

}  // namespace contend
