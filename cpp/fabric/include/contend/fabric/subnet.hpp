#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "contend/base/scan.hpp"

namespace contend {

/// Kinds of nodes, numbered as in InfiniBand's NodeInfo.
enum class NodeKind : std::uint8_t { adapter = 1, switch_ = 2, router = 3 };

inline constexpr std::uint32_t kHighestPort = 254;
inline constexpr std::uint32_t kHighestLmc = 7;
inline constexpr std::uint32_t kHighestLid = 0xFFFF;

/// What a topology file says, as columns: one row per node, one row per declared port end. The
/// meaning of every column is told in contend.fabric.subnet.Subnet.
struct SubnetColumns {
  std::vector<std::uint8_t> kind;
  std::vector<std::uint64_t> guid;
  std::vector<std::uint64_t> system_guid;
  std::vector<std::uint32_t> device_id;
  std::vector<std::uint16_t> ports;
  std::vector<std::uint32_t> lid;
  std::vector<std::uint8_t> lmc;
  std::vector<std::string> name;
  std::vector<std::uint32_t> node_line;

  std::vector<std::int32_t> node;
  std::vector<std::uint16_t> port;
  std::vector<std::uint64_t> port_guid;
  std::vector<std::uint32_t> end_lid;
  std::vector<std::uint8_t> end_lmc;
  std::vector<std::int32_t> peer;
  std::vector<std::uint16_t> peer_port;
  std::vector<std::uint16_t> rate;
  std::vector<std::uint32_t> end_line;

  std::vector<std::string> rates;
  std::vector<std::string> notes;
  std::vector<std::string> gaps;
};

/// Lines that are none of a tool's output: prompts and the like, the tool's own errors, which stand
/// for what it could not read, and the beginning of a line in which the file ends.
class PassedOver {
 public:
  void add(std::size_t line, std::string_view text);
  void cut(std::size_t line) { cut_line_ = line; }
  void note(std::vector<std::string>& notes, std::string_view tool) const;
  /// What says that the file is incomplete.
  std::vector<std::string> gaps(std::string_view tool) const;

 private:
  Tally noise_;
  Tally errors_;
  std::size_t cut_line_ = 0;
};

/// What a node says of itself.
struct NodeDeclaration {
  std::uint64_t system_guid = 0;
  std::uint32_t device_id = 0;
  std::uint16_t ports = 0;
  std::uint32_t lid = 0;
  std::uint8_t lmc = 0;
  std::string_view name;
  std::size_t line = 0;
};

/// What a node says of one of its ports; a peer of -1 means that nothing is plugged in.
struct PortEnd {
  std::int32_t node = -1;
  std::uint16_t port = 0;
  std::uint64_t port_guid = 0;
  std::uint32_t lid = 0;
  std::uint8_t lmc = 0;
  std::int32_t peer = -1;
  std::uint16_t peer_port = 0;
  std::uint16_t rate = 0;
  std::size_t line = 0;
};

/// Gathers the columns while a file is read. Nodes are told apart by kind and GUID, so a node that
/// is printed twice is one row, and a port that is printed twice the same way is one row too.
/// Memory grows with what was added; cost: one hash lookup per node and per port.
class SubnetBuilder {
 public:
  SubnetBuilder() { columns_.rates.emplace_back(); }

  /// Row of a node, made on its first mention.
  std::int32_t node(NodeKind kind, std::uint64_t guid, std::size_t line);

  /// A node speaks of itself; when it did before, the first time holds and differences are noted.
  void declare(std::int32_t row, const NodeDeclaration& declaration);

  /// A neighbour speaks of a node; it counts until the node speaks of itself.
  void hear_of(std::int32_t row, std::string_view name, std::uint32_t lid);

  void add(const PortEnd& end);

  /// Index of a link rate as written; 0 for "".
  std::uint16_t rate(std::string_view label, std::size_t line);
  /// Whether a rate was written before.
  bool knows_rate(std::string_view label) const;

  std::size_t nodes() const { return columns_.kind.size(); }

  /// The columns with the given notes and the builder's own; the builder is empty afterwards.
  SubnetColumns finish(std::vector<std::string> notes);

 private:
  struct Key {
    std::uint64_t high;
    std::uint64_t low;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };

  void note_undeclared(std::vector<std::string>& notes) const;

  SubnetColumns columns_;
  std::unordered_map<Key, std::int32_t, Hash> node_rows_;
  std::unordered_map<Key, std::size_t, Hash> end_rows_;
  std::vector<bool> heard_lids_differ_;
  Tally redeclared_;
};

}  // namespace contend
