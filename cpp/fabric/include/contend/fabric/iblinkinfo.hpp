#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "contend/base/lines.hpp"
#include "contend/base/scan.hpp"
#include "contend/fabric/subnet.hpp"

namespace contend {

/// Reads what iblinkinfo prints, in chunks of any size: a header for each node and a line for each
/// of its ports, or with -l one line for each port with the port GUIDs of both ends, not both in
/// one file.
///
/// Headers may be missing, as where only lines with LinkUp were kept. Without -l nothing but a LID
/// says who is at the other end; with -l nothing says what is a switch, so a GUID whose ports share
/// a LID is one. Lines that are not iblinkinfo's are passed over and counted in a note; a line that
/// begins as a port's and does not go on as one is an InputError.
/// Cost: one pass over the bytes and a few hash lookups for each port; memory grows with the links.
class IblinkinfoParser {
 public:
  void feed(std::string_view chunk);

  /// The columns; an InputError when the file has no port.
  SubnetColumns finish();

 private:
  enum class Shape : std::uint8_t { unknown, headed, lined };

  /// One end of a link, as far as its line tells; a port of 0 means that there is none.
  struct Side {
    std::uint64_t guid = 0;
    std::uint32_t lid = 0;
    std::uint16_t port = 0;
    std::int32_t record = -1;  ///< the header that it stands under
    std::int32_t name = 0;
  };
  struct Link {
    Side own;
    Side peer;
    std::uint16_t rate = 0;
    std::size_t line = 0;
  };
  /// What a header says, and the first line under it.
  struct Record {
    NodeKind kind = NodeKind::adapter;
    std::uint64_t guid = 0;
    std::uint32_t lid = 0;
    std::int32_t name = 0;
  };
  struct Node {
    NodeKind kind;
    std::uint64_t guid;
  };

  void read(const Line& line);
  void read_whole(const Line& line);
  bool read_header(std::string_view text);
  void read_link(const Line& line, std::size_t middle);
  Side read_own(std::string_view text, const Line& line);
  Side read_peer(std::string_view text, const Line& line);
  std::int32_t record_of(const Side& side);
  std::int32_t name(std::string_view text);

  void learn_lids();
  void learn_switches();
  Node node_of(const Side& side) const;
  void declare(const Link& link, std::int32_t row, std::uint16_t ports);
  void add(const Link& link, std::int32_t row);
  std::vector<std::string> notes() const;

  LineSplitter lines_;
  SubnetBuilder subnet_;
  PassedOver passed_over_;
  Tally unavailable_;
  Tally without_lid_;
  Shape shape_ = Shape::unknown;
  std::int32_t record_ = -1;
  std::vector<Record> records_;
  std::vector<Link> links_;
  std::vector<std::string> names_{std::string()};
  std::unordered_map<std::string, std::int32_t> name_rows_;
  std::unordered_map<std::uint32_t, Node> by_lid_;
  std::unordered_map<std::uint64_t, bool> is_switch_;
  bool lids_stand_for_guids_ = false;
};

}  // namespace contend
