#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "contend/fabric/fabric.hpp"
#include "contend/fabric/remains.hpp"
#include "contend/routes/engines/engines.hpp"
#include "contend/routes/engines/links.hpp"
#include "contend/routes/ways/in_tree.hpp"

namespace contend {

/// Tables whose routes arrive again, and how many of each switch's entries had to change.
struct MendedTables {
  Tables tables;
  std::vector<std::size_t> changed;
};

/// Mends tables of a fabric that has lost cables or switches, with as few changes as there can be:
/// routes that arrive stay as they are. Every switch from which none arrives gets the shortest way
/// to one from which it does, by the port that fewest other addresses use there.
///
/// Where no cables lead there is no entry, and addresses that no switch has an entry for are left.
/// Throws Error when tables do not belong to the fabric.
/// Deadlock is not looked at: new entries may turn where the engine of the others never does.
/// Cost: addresses x (switches + cables at switches that have lost their way).
MendedTables mend(const Fabric& fabric, const Targets& targets, const Tables& tables);

/// Tables by address, and which addresses use every link: what mending reads, whatever dies.
/// Memory: 6 bytes an address and switch.
class MendableTables {
 public:
  static constexpr HostId kNoHost = std::numeric_limits<HostId>::max();

  /// An address that some switch other than its own has an entry for.
  struct Destined {
    Address address;
    SwitchId at;
    PortNumber port;  ///< by which it leaves there; 0: it is the switch's own
    HostId host;      ///< kNoHost for a switch's own and for others
  };

  /// Throws Error when tables do not belong to the fabric. The fabric is borrowed.
  MendableTables(const Fabric& fabric, const Targets& targets, const Tables& tables);

  const Fabric& fabric() const { return fabric_; }
  const SwitchLinks& links() const { return links_; }
  /// Those of hosts by address, then those of switches by number, then others.
  std::span<const Destined> addresses() const { return addresses_; }
  /// By which port every switch forwards address number i.
  std::span<const PortNumber> column(std::size_t i) const {
    return {ports_.data() + i * links_.switches(), links_.switches()};
  }
  /// Numbers of the addresses that are forwarded over a link, in ascending order.
  std::span<const std::uint32_t> users(LinkId link) const {
    return {users_.data() + users_begin_[link], users_begin_[link + 1] - users_begin_[link]};
  }
  /// Numbers of the addresses that do not arrive from everywhere even if nothing dies.
  std::span<const std::uint32_t> strays() const { return strays_; }

 private:
  void list_addresses(const Targets& targets, const Tables& tables);
  void list_users();

  const Fabric& fabric_;
  SwitchLinks links_;
  std::vector<Destined> addresses_;
  std::vector<PortNumber> ports_;
  std::vector<std::size_t> users_begin_;
  std::vector<std::uint32_t> users_;
  std::vector<std::uint32_t> strays_;
};

/// Mends tables where parts of the fabric died, one address after the other, as mend() would the
/// tables of a fabric without these parts. For one thread.
class Mending {
 public:
  /// Both are borrowed. Cost: the addresses that went over what died, and those that are gone.
  Mending(const MendableTables& tables, const Remains& rest);

  /// Numbers of the addresses that must be mended, in this order.
  std::span<const std::uint32_t> broken() const { return broken_; }
  /// Mends one: by which port every switch forwards it now; valid until the next is mended.
  /// Cost: cables at switches that have lost their way; of addresses that never arrived from
  /// everywhere, all switches too.
  std::span<const PortNumber> mend(std::size_t i);
  /// Switches from which the one mended last did not arrive; all entries that changed are theirs,
  /// but for that at its own switch.
  std::span<const SwitchId> lost() const { return lost_; }
  /// Entries changed so far.
  std::size_t changed() const { return changed_; }
  /// Whether an address arrives from everywhere as it is.
  bool arrives(std::size_t i);

 private:
  /// The link by which a switch forwards the address at hand; kNoLink where it died.
  LinkId link_of(SwitchId s) const {
    const LinkId link = links_.by_port(s, column_[s]);
    return link == kNoLink || link_died_[link] != 0 ? kNoLink : link;
  }
  void leave_out(std::size_t i);
  void list_broken();
  void list_unrouted(std::vector<std::uint8_t>& out) const;
  void change(SwitchId s, PortNumber port);
  Onward next(SwitchId s, SwitchId target) const;
  void follow_all(std::size_t i);
  void find_lost();
  void lead_the_lost(std::size_t i);
  void enter(SwitchId s, std::uint32_t hops);
  LinkId least_used(SwitchId s, std::uint32_t hops) const;

  const MendableTables& tables_;
  const SwitchLinks& links_;
  const Remains& rest_;
  std::vector<std::uint8_t> link_died_;
  std::vector<LinkId> dead_links_;
  std::vector<std::uint32_t> load_;  ///< addresses that use a link
  std::vector<std::uint32_t> broken_;
  std::vector<PortNumber> column_;
  InTree tree_;                      ///< of the routes to the address at hand
  std::vector<std::uint32_t> hops_;  ///< by them, while the lost are led there
  std::vector<SwitchId> lost_;
  std::vector<std::vector<SwitchId>> ring_;  ///< switches by hops
  std::vector<SwitchId> found_;
  std::size_t changed_ = 0;
};

}  // namespace contend
