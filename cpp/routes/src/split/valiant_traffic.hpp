#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "contend/fabric/fabric.hpp"
#include "contend/routes/resolver.hpp"
#include "contend/routes/split/valiant.hpp"
#include "contend/routes/split/ways.hpp"
#include "contend/routes/ways/next_hops.hpp"

namespace contend {

/// Messages by leaf of the source and leaf of the target that go by shortest ways or around by
/// stops, and what they meet there. Matrices are by target's leaf and source's, [leaves][leaves].
///
/// Both kinds of ways, and both halves of those around, follow the same rows of ways: the loads of
/// all messages take one look at the switches for each row, and so does what they meet.
class ValiantTraffic {
 public:
  ValiantTraffic(const Fabric& fabric, const Places& places, std::span<const std::uint32_t> group,
                 const Remains* rest);

  std::span<const SwitchId> leaves() const { return leaves_; }
  std::size_t bytes() const;
  /// Switches that a round looks at.
  std::uint64_t work() const { return ways_.order.size(); }

  /// Adds what messages put on every channel, some going straight and some around.
  void send(std::span<const double> straight, std::span<const double> around,
            std::span<double> load) const;

  /// What a message meets of values of channels: the largest on any of its ways, or what it meets
  /// in the mean over its packets of the sum along their ways. Written for those pairs that
  /// `asked` names; where `straight` or `around` is empty, not for that kind of ways.
  void find_largest(std::span<const std::uint64_t> asked, std::span<const double> value,
                    std::span<double> straight, std::span<double> around) const;
  void find_mean(std::span<const std::uint64_t> asked, std::span<const double> value,
                 std::span<double> straight, std::span<double> around) const;

 private:
  struct Entry {
    SwitchId at;
    double part;
  };

  std::span<const Entry> entries_of(std::size_t leaf) const {
    if (alike_) return entries_;
    return {entries_.data() + first_entry_[leaf], first_entry_[leaf + 1] - first_entry_[leaf]};
  }
  void find_entries();
  /// Sends what is at switches on to the ends of a row, where it stays.
  void forward(std::size_t row, std::span<double> flow, std::span<double> on_set) const;
  /// Adds what begins its second half at the switches of entries, for messages to a leaf.
  void add_second_half(std::span<const double> sent, std::span<double> flow) const;
  template <class Meeting>
  void find(std::span<const std::uint64_t> asked, std::span<const double> value,
            std::span<double> straight, std::span<double> around) const;

  std::size_t switches_;
  std::vector<SwitchId> leaves_;
  /// Rows of stops come first.
  std::size_t stops_ = 0;
  WaysToSome ways_;
  std::vector<std::uint32_t> leaf_of_row_;  ///< the number of the leaf that it ends at; or none
  std::vector<SwitchId> to_;                ///< where every channel ends
  /// At which switches packets of a leaf reach their stops, and which part of them at each. Where
  /// stops are single switches all leaves have the same, kept once.
  bool alike_ = true;
  std::vector<Entry> entries_;
  std::vector<std::size_t> first_entry_{0};
};

/// What routes by way of stops have in common: leaves are counted, and classes are leaves.
class ByStops : public SplittingResolver, protected Ways {
 public:
  ByStops(const Fabric& fabric, const Places& places, ValiantTraffic traffic)
      : SplittingResolver(places.hosts.size(), fabric.switch_channels(), 1, kUnit),
        Ways(Classes(fabric, places, traffic.leaves())),
        traffic_(std::move(traffic)) {}

  std::size_t bytes() const override { return traffic_.bytes(); }
  const Ways* ways() const final { return this; }

 protected:
  /// A thousandth of a message is told from none.
  static constexpr std::uint32_t kUnit = 1024;

  const ValiantTraffic& traffic() const { return traffic_; }
  /// Bytes of a round whose messages are counted by pair, as is what is worst on their ways, and
  /// that needs some more for every pair.
  std::size_t counted(std::size_t more) const {
    return classes() * leaves() * (sizeof(std::uint64_t) + sizeof(double) + more);
  }

 private:
  ValiantTraffic traffic_;
};

}  // namespace contend
