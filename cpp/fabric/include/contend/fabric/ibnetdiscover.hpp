#pragma once

#include <cstdint>
#include <string_view>

#include "contend/base/lines.hpp"
#include "contend/base/scan.hpp"
#include "contend/fabric/subnet.hpp"

namespace contend {

/// Reads what ibnetdiscover prints, in chunks of any size: node records (plain, with -f, with -g,
/// with or without link rates) or a port listing (-p), not both in one file.
///
/// Lines that are neither are passed over and counted in a note, such as error messages that were
/// redirected into the same file. A line that begins as one of ibnetdiscover's and does not go on
/// as one is an InputError, so a file that was cut in the middle of a line is one too.
/// Cost: one pass over the bytes and one hash lookup per node and port named.
class IbnetdiscoverParser {
 public:
  void feed(std::string_view chunk);

  /// The columns; an InputError when the file has no node.
  SubnetColumns finish();

 private:
  enum class Shape : std::uint8_t { unknown, records, listing };

  /// The lines above a node's header, `vendid=` and so on.
  struct Identity {
    std::uint64_t system_guid = 0;
    std::uint32_t device_id = 0;
  };

  void read(const Line& line);
  void read_whole(const Line& line);
  bool read_identity(const Line& line);
  bool read_header(const Line& line);
  void read_port(const Line& line);
  bool read_listing(const Line& line);
  void insist_on(Shape shape, const Line& line);
  std::uint16_t read_rate(std::string_view label, const Line& line);

  LineSplitter lines_;
  SubnetBuilder subnet_;
  PassedOver passed_over_;
  Shape shape_ = Shape::unknown;
  Identity identity_;
  std::int32_t current_ = -1;
  bool current_is_switch_ = false;
};

}  // namespace contend
