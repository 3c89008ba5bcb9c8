#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "contend/base/ids.hpp"
#include "contend/fabric/fabric.hpp"
#include "contend/fabric/remains.hpp"
#include "contend/routes/checks/trace.hpp"
#include "contend/routes/resolver.hpp"
#include "contend/routes/tables.hpp"
#include "contend/routes/ways/in_tree.hpp"

namespace contend {

/// The channels among which switches choose. What is meant for different hosts of a switch and
/// chooses alike everywhere has one row. Sets of channels are kept once, as most share theirs; set
/// 0 is empty.
struct NextHops {
  /// Switches with hosts that take part, ascending.
  std::vector<SwitchId> sources;
  /// By row: the switch on which its hosts hang; kNoSwitch where that does not deliver to them.
  std::vector<SwitchId> ends;
  /// By place (or whatever the rows were made for): its row.
  std::vector<std::uint32_t> row_of;
  /// By row and switch: the number of the set that leads on from the switch; 0 at the end itself
  /// and where no way leads there.
  std::vector<std::uint32_t> set_of;
  /// Where every set begins among the members, and where the last one ends.
  std::vector<std::uint32_t> first{0, 0};
  std::vector<ChannelId> members;
  /// Channels of the longest way from the sources to the ends.
  std::size_t hops = 0;

  std::size_t switches() const { return ends.empty() ? 0 : set_of.size() / ends.size(); }
  std::span<const ChannelId> of_set(std::uint32_t set) const {
    return {members.data() + first[set], first[set + 1] - first[set]};
  }
  /// The number of each switch among the sources; 0 of others.
  std::vector<std::uint32_t> source_number(std::size_t switches) const;
};

/// Which places hang on a leaf, and which targets are of a class: what is sent from a leaf to a
/// class goes the same ways. Targets of a class hang on one leaf.
class Classes {
 public:
  /// The sources of next hops, and their rows.
  Classes(const Fabric& fabric, const Places& places, const NextHops& next);
  /// Leaves that are classes, too.
  Classes(const Fabric& fabric, const Places& places, std::span<const SwitchId> leaves);

  std::size_t leaves() const { return leaves_; }
  std::size_t classes() const { return leaf_of_class_.size(); }
  /// Number of the leaf that a place is on.
  std::uint32_t leaf_of(Place place) const { return leaf_of_[place]; }
  /// Number of the class of a target.
  std::uint32_t class_of(Place place) const { return class_of_[place]; }
  std::uint32_t leaf_of_class(std::size_t number) const { return leaf_of_class_[number]; }

 private:
  std::size_t leaves_;
  std::vector<std::uint32_t> leaf_of_;
  std::vector<std::uint32_t> class_of_;
  std::vector<std::uint32_t> leaf_of_class_;
};

/// What a way's length is.
struct Measure {
  /// By channel between switches: whether it counts as none; empty where all are there.
  std::span<const std::uint8_t> died;
  /// Group of every switch. A way is shorter then that crosses fewer cables between groups, and of
  /// those that cross as many the one with fewer cables. Empty: all cables count alike.
  std::span<const std::uint32_t> group;
};

/// That of what is left of a fabric, where `rest` is given.
inline Measure measure_of(const Remains* rest, std::span<const std::uint32_t> group = {}) {
  Measure measure{{}, group};
  if (rest != nullptr) measure.died = rest->channel_died;
  return measure;
}

/// Cables from every switch to one of them; the largest number where no way leads there.
std::vector<std::uint32_t> distances(const Fabric& fabric, SwitchId to);

/// Shortest ways from all switches to the nearest of some, a row for each such choice of switches.
/// `sources`, `ends`, `row_of` and `hops` of the next hops stay empty.
struct WaysToSome : NextHops {
  /// By row: the switches from which a way leads there, nearest first, the ends among them.
  std::vector<SwitchId> order;
  std::vector<std::size_t> first_of_row{0};

  std::span<const SwitchId> order_of(std::size_t row) const {
    return {order.data() + first_of_row[row], first_of_row[row + 1] - first_of_row[row]};
  }
};

/// Cost: one search of the switches and one look at all channels for each row. Memory: eight bytes
/// for each row and switch.
WaysToSome ways_to_some(const Fabric& fabric, std::span<const std::vector<SwitchId>> ends,
                        const Measure& measure);

/// The channels that begin a shortest way to the switches of places, each of which is a row.
/// Cost: one search of the switches and one look at all channels for each. Memory: four bytes for
/// each such switch and switch. Throws UnreachableError when no way joins two of the hosts. Where
/// `rest` is given: on what is left of the fabric, whose channels and switches keep their numbers;
/// hosts that are gone have no ways. For `group` see Measure.
NextHops next_hops(const Fabric& fabric, const Places& places, const Remains* rest = nullptr,
                   std::span<const std::uint32_t> group = {});

/// Which entries of tables may use a group of ports instead of their own, borrowed: row-major like
/// the tables, 0 where the port counts. Groups are as in PortGroups.
struct GroupView {
  const std::uint16_t* of_entry;
  std::span<const std::uint32_t> first;
  std::span<const PortNumber> ports;
};

/// The channels that tables with groups of ports lead to, for some addresses.
///
/// Ports of a group with nothing plugged in are left out, as switches see that. A switch whose
/// group, or port, leads to another host leads nowhere.
class TableHops {
 public:
  /// Throws Error where the groups are none.
  TableHops(const Fabric& fabric, const TableView& tables, const GroupView& groups);

  /// Rows for destinations, with `row_of` by destination. Cost: one entry a switch and destination.
  NextHops rows(std::span<const Destination> all) const;
  /// Why a switch has an empty set for a destination.
  TraceEnd fault(SwitchId s, const Destination& to) const;

 private:
  class Sets;

  std::uint16_t group(SwitchId s, Address address) const {
    return address < tables_.addresses ? groups_.of_entry[s * tables_.addresses + address]
                                       : std::uint16_t{0};
  }
  std::span<const PortNumber> ports_of(std::uint16_t group) const {
    return groups_.ports.subspan(groups_.first[group],
                                 groups_.first[group + 1] - groups_.first[group]);
  }
  bool delivers(const Destination& to) const;

  const Fabric* fabric_;
  TableView tables_;
  GroupView groups_;
};

/// The same for the first addresses of places. Throws UnreachableError when some way from the
/// switch of a place to another place does not arrive; or, where `cut` is given, says by row and
/// source whether that is so.
NextHops next_hops(const Fabric& fabric, const TableView& tables, const GroupView& groups,
                   const AddressView& addresses, const Places& places,
                   std::vector<std::uint8_t>* cut = nullptr);

/// All ways from some switches to the end of one row after the other.
class WaysTo {
 public:
  explicit WaysTo(const Fabric& fabric);

  /// Follows them. Cost: linear in the channels on them.
  void follow(const NextHops& next, std::size_t row, std::span<const SwitchId> from);

  /// Switches on the ways, each before those that it leads to, circles aside; the end is left out.
  std::span<const SwitchId> order() const { return order_; }
  /// Whether all ways from such a switch arrive.
  bool arrive(SwitchId s) const { return state_[s].last == kNoSwitch; }
  /// Where one ends that does not: a switch without a way, or one that it meets again.
  SwitchId last(SwitchId s) const { return state_[s].last; }
  bool circle(SwitchId s) const { return state_[s].circle; }
  /// Channels of the longest way from it, if all arrive.
  std::uint32_t hops(SwitchId s) const { return state_[s].hops; }
  /// Where every channel between switches ends.
  const std::vector<SwitchId>& ends() const { return to_; }

 private:
  enum class Seen : std::uint8_t { no, on_path, done };
  struct State {
    SwitchId last = kNoSwitch;
    std::uint32_t hops = 0;
    bool circle = false;
    Seen seen = Seen::no;
  };
  struct Step {
    SwitchId at;
    std::uint32_t next;  ///< of its channels
  };

  void enter(const NextHops& next, std::size_t row, SwitchId s);

  std::vector<SwitchId> to_;  ///< where every channel ends
  std::vector<State> state_;
  std::vector<SwitchId> order_;
  std::vector<Step> path_;
};

}  // namespace contend
