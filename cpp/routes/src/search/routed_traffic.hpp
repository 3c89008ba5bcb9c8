#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "contend/base/error.hpp"
#include "contend/routes/engines/links.hpp"
#include "contend/routes/search/fewest_collisions.hpp"
#include "contend/routes/ways/in_tree.hpp"

namespace contend {

/// The traffic of a fabric on its way: for every destination the link by which each switch
/// forwards what is meant for it, and what all of them together put on every link.
///
/// A destination is an address of a host; a source is a switch with hosts.
class RoutedTraffic {
 public:
  RoutedTraffic(const Fabric& fabric, const Targets& targets, const SwitchLinks& links,
                const CollisionTerms& terms);

  const SwitchLinks& links() const { return *links_; }
  std::size_t destinations() const { return to_.size(); }
  const Destination& to(std::size_t d) const { return to_[d]; }
  /// The switch that destination d hangs on.
  SwitchId at(std::size_t d) const { return at_[d]; }
  /// All destinations, those of one switch together.
  std::span<const std::size_t> by_switch() const { return by_switch_; }
  std::span<const SwitchId> sources() const { return sources_; }
  /// Whether cables join two switches, through others or directly.
  bool joined(SwitchId a, SwitchId b) const { return part_[a] == part_[b]; }
  /// What a source sends to destination d.
  std::uint64_t sent(std::size_t d, SwitchId source) const {
    if (demand_.empty()) return hosts_[source];
    return demand_[to_[d].host * hosts_.size() + source];
  }

  /// The link by which a switch forwards to destination d, or kNoLink.
  LinkId out(std::size_t d, SwitchId s) const {
    const std::uint16_t nth = out_[d * hosts_.size() + s];
    return nth == kNone ? kNoLink : links_->begin(s) + nth;
  }
  /// Where what is meant for destination d goes from a switch.
  Onward next(std::size_t d, SwitchId s) const {
    if (s == at_[d]) return TraceEnd::delivered;
    const LinkId link = out(d, s);
    if (link == kNoLink) return TraceEnd::no_entry;
    return links_->to(link);
  }
  void set(std::size_t d, SwitchId s, LinkId link) {
    out_[d * hosts_.size() + s] =
        link == kNoLink ? kNone : static_cast<std::uint16_t>(link - links_->begin(s));
  }
  void set(std::size_t d, std::span<const LinkId> out) {
    for (SwitchId s = 0; s < out.size(); ++s) set(d, s, out[s]);
  }
  /// Takes over the routes of tables, with nothing on the links before, and puts on them all that
  /// is sent. Throws Error where a route goes round and round.
  void adopt(const Fabric& fabric, const Tables& tables);
  /// Whether every source that is joined to destination d reaches it.
  bool is_reached(std::size_t d) const;

  /// Calls each(link, link before) along the route from a switch, entered by `before`, to d. Throws
  /// Error where it goes round and round.
  template <class Each>
  void walk(std::size_t d, SwitchId from, LinkId before, const Each& each) const {
    const std::uint16_t* out = out_.data() + d * hosts_.size();
    SwitchId s = from;
    for (std::size_t steps = 0; s != at_[d] && out[s] != kNone; ++steps) {
      if (steps == hosts_.size()) {
        throw Error("by these tables not all routes between hosts arrive");
      }
      const LinkId link = links_->begin(s) + out[s];
      each(link, before);
      before = link;
      s = links_->to(link);
    }
  }
  /// Calls each(source, link, link before or kNoLink) along the routes of all sources to d.
  template <class Each>
  void walk(std::size_t d, const Each& each) const {
    for (const SwitchId source : sources_) {
      walk(d, source, kNoLink, [&](LinkId link, LinkId before) { each(source, link, before); });
    }
  }

  /// Calls each(link, next link) for every turn on the routes of all sources to d, once.
  template <class Each>
  void turns(std::size_t d, const Each& each) const {
    std::vector<std::uint8_t> seen(hosts_.size(), 0);
    for (SwitchId s : sources_) {
      for (LinkId link = out(d, s); seen[s] == 0 && link != kNoLink;) {
        seen[s] = 1;
        s = links_->to(link);
        const LinkId next = s == at_[d] ? kNoLink : out(d, s);
        if (next != kNoLink) each(link, next);
        link = next;
      }
    }
  }

  /// Puts what is sent to destination d on its links, or takes it off.
  void add(std::size_t d) { load<1>(d); }
  void remove(std::size_t d) { load<-1>(d); }

  /// Makes the links that lead to other addresses of destination d's host dear while d is routed,
  /// so that the routes to them are disjoint where that is possible; and back.
  void shun_siblings(std::size_t d) { shun<1>(d); }
  void forgive_siblings(std::size_t d) { shun<-1>(d); }

  /// How much dearer a message is on a link than on the fastest.
  std::uint64_t weight(LinkId link) const { return weight_[link]; }
  /// What a link costs: all that goes over it, weighed by its speed.
  std::uint64_t price(LinkId link) const { return price_[link]; }
  /// The same without what the source's own host sends, where that is kept apart; of a link out of
  /// the source itself.
  std::uint64_t price_at_source(LinkId link) const {
    return own_.empty() ? price_[link] : price_[link] - own_at_source_[link];
  }
  /// What a source's own host sends over a link of another switch.
  std::uint64_t own(SwitchId source, LinkId link) const {
    return own_[link * own_stride_ + source_number_[source]];
  }
  /// Keeps apart what each host sends, if that does not take too much memory. To be called while
  /// nothing is on the links.
  void keep_sources_apart();
  bool keeps_apart(SwitchId source) const { return !own_.empty() && hosts_[source] > 0; }

  /// What destination d, which is off the links, would cost on them: over all messages and links,
  /// the price.
  std::uint64_t cost(std::size_t d) const;
  /// The mean price of a link.
  std::uint64_t mean_price() const;

  /// Twice the pairs of messages that may meet: those on one link, but for pairs of the same
  /// destination and, where they are kept apart, of the same source. Takes every destination off
  /// and puts it back.
  double collisions();

 private:
  static constexpr std::uint16_t kNone = 0xFFFF;

  template <int Sign>
  void load(std::size_t d) {
    for (const SwitchId source : sources_) {
      const std::uint64_t much = sent(d, source);
      walk(d, source, kNoLink, [&](LinkId link, LinkId before) {
        const std::uint64_t price = much * weight_[link];
        price_[link] += static_cast<std::uint64_t>(Sign) * price;
        if (own_.empty()) return;
        const std::uint64_t own = demand_.empty() ? weight_[link] : price / hosts_[source];
        std::uint32_t& kept = before == kNoLink ? own_at_source_[link]
                                                : own_[link * own_stride_ + source_number_[source]];
        kept += static_cast<std::uint32_t>(Sign) * static_cast<std::uint32_t>(own);
      });
    }
  }
  template <int Sign>
  void shun(std::size_t d) {
    // More than balancing could ever outweigh.
    constexpr std::uint64_t kDear = 1024;
    std::size_t first = d;
    while (first > 0 && to_[first - 1].host == to_[d].host) --first;
    for (std::size_t k = first; k < to_.size() && to_[k].host == to_[d].host; ++k) {
      if (k == d) continue;
      walk(k, [&](SwitchId source, LinkId link, LinkId) {
        price_[link] += static_cast<std::uint64_t>(Sign) * kDear * sent(k, source) * weight_[link];
      });
    }
  }
  void find_parts();

  const SwitchLinks* links_;
  std::span<const std::uint32_t> demand_;
  std::vector<Destination> to_;
  std::vector<SwitchId> at_;
  std::vector<std::size_t> by_switch_;
  std::vector<std::uint64_t> hosts_;  ///< by switch
  std::vector<SwitchId> sources_;
  std::vector<std::uint32_t> source_number_;  ///< by switch
  std::vector<std::uint32_t> part_;           ///< by switch
  std::vector<std::uint16_t> out_;            ///< [destinations][switches]
  std::vector<std::uint64_t> weight_;         ///< by link
  std::vector<std::uint64_t> price_;          ///< by link
  std::vector<std::uint32_t> own_;            ///< [links][own_stride_], by source
  std::size_t own_stride_ = 0;                ///< an odd number of cache lines
  std::vector<std::uint32_t> own_at_source_;  ///< by link: of the switch that it leaves
};

}  // namespace contend
