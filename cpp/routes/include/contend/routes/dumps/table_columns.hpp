#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "contend/base/ids.hpp"

namespace contend {

inline constexpr std::uint32_t kHighestUnicastLid = 0xBFFF;
/// What dumps print for an entry that leads nowhere.
inline constexpr std::uint32_t kDumpedNoPort = 255;

/// Ports among which switches choose, by the packet or by a hash of the message; each once.
/// Group 0 is empty.
struct PortGroups {
  std::vector<std::uint32_t> first{0, 0};  ///< where the ports of every group begin, and the end
  std::vector<PortNumber> ports;           ///< of each ascending
  std::vector<std::uint8_t> hashed{0};     ///< 1: by a hash

  std::span<const PortNumber> of(std::size_t group) const {
    return {ports.data() + first[group], first[group + 1] - first[group]};
  }
  std::size_t size() const { return hashed.size(); }
};

/// Forwarding tables as a dump tells them, in its order of switches.
struct TableColumns {
  std::vector<std::uint64_t> switch_guid;
  std::vector<PortNumber> ports;  ///< row-major [switches][addresses], kNoPort: not told
  std::size_t addresses = 0;
  std::vector<std::uint64_t> owner_guid;  ///< per address; 0: not told
  std::vector<std::string> owner_kind;    ///< per address, such as "Channel Adapter"
  std::vector<std::string> owner_name;    ///< per address
  /// The group that an entry may use instead of its port alone, row-major like the ports; 0: none.
  /// Empty where no entry has one.
  std::vector<std::uint16_t> group;
  PortGroups groups;
  std::vector<std::string> notes;
};

/// Gathers forwarding tables entry by entry. Until `finish` memory grows with the entries added,
/// four bytes each; the full tables are laid out at the end, and only if they are not absurdly
/// larger than what was read. Cost: constant per entry.
class TableBuilder {
 public:
  /// Starts the table of a switch at a line; the table of a switch may come in several parts.
  void begin(std::uint64_t switch_guid, std::size_t line);
  bool begun() const { return !parts_.empty(); }

  /// An entry of the table begun last; LID 0 and port 255 say nothing. The caller has checked that
  /// the LID is unicast.
  void add(std::uint32_t lid, std::uint32_t port) {
    if (lid == 0 || port == kDumpedNoPort) return;
    entries_.push_back({static_cast<std::uint16_t>(lid), static_cast<std::uint16_t>(port)});
  }
  /// Likewise one that may use a group of ports; its own port then may be 255.
  void add(std::uint32_t lid, std::uint32_t port, std::uint16_t group) {
    if (lid == 0 || (port == kDumpedNoPort && group == 0)) return;
    if (group != 0) group_.resize(entries_.size() + 1, 0);
    entries_.push_back({static_cast<std::uint16_t>(lid), static_cast<std::uint16_t>(port)});
    if (group != 0) group_.back() = group;
  }

  /// The port that answers to a LID. True where that is news: then its words are wanted too.
  bool own(std::uint32_t lid, std::uint64_t port_guid) {
    if (lid >= owner_.size()) owner_.resize(lid + 1, 0);
    const bool news = owner_[lid] == 0;
    if (news) owner_[lid] = port_guid;
    if (owner_[lid] != port_guid && changed_owners_++ == 0) first_changed_owner_ = lid;
    return news;
  }
  /// What kind of node the owner of a LID is, and its name.
  void describe(std::uint32_t lid, std::string_view kind, std::string_view name) {
    if (lid >= words_.size()) words_.resize(lid + 1);
    words_[lid] = {std::string(kind), std::string(name)};
  }

  /// Takes back the entries of a switch for the 64 LIDs of a block that could not be read.
  void distrust(std::uint64_t switch_guid, std::uint32_t block);

  /// Takes back every block that a failed read left as it was before, where that shows: the entry
  /// for the switch itself, port 0, stands in two blocks, or all over the first one.
  void distrust_repeated() { look_for_repeated_ = true; }

  /// Takes the LID that leads to port 0 for the switch's own, where only one does.
  void own_by_port_zero() { own_by_port_zero_ = true; }

  std::size_t switches() const { return switch_guid_.size(); }
  /// Entries of the part begun last.
  std::size_t entries_of_part() const { return entries_.size() - parts_.back().first; }
  /// Whether the last entry of the part begun last is for a LID.
  bool last_entry_is(std::uint32_t lid) const {
    return entries_of_part() > 0 && entries_.back().lid == lid;
  }

  /// The tables. An InputError when two parts contradict each other or the tables would be more
  /// than 64 MiB and hardly filled. The builder is spent afterwards.
  TableColumns finish(std::vector<std::string> notes);

 private:
  struct Entry {
    std::uint16_t lid;
    std::uint16_t port;
  };
  struct Part {
    std::uint32_t row;
    std::size_t first;
    std::size_t line;
  };
  struct Distrusted {
    std::uint64_t switch_guid;
    std::uint32_t block;
  };

  std::size_t addresses() const;
  void fill(TableColumns& columns) const;
  void fill_groups(TableColumns& columns) const;
  void drop_unread(TableColumns& columns) const;
  void drop_repeated(TableColumns& columns) const;
  void own_switches(TableColumns& columns) const;

  std::vector<std::uint64_t> switch_guid_;
  std::unordered_map<std::uint64_t, std::uint32_t> rows_;
  std::vector<Part> parts_;
  std::vector<Entry> entries_;
  std::vector<std::uint16_t> group_;  ///< of the first entries; 0 of all that follow
  std::vector<std::uint64_t> owner_;
  std::vector<std::pair<std::string, std::string>> words_;  ///< kind and name, by LID
  std::vector<Distrusted> distrusted_;
  std::size_t changed_owners_ = 0;
  std::uint32_t first_changed_owner_ = 0;
  bool look_for_repeated_ = false;
  bool own_by_port_zero_ = false;
};

}  // namespace contend
