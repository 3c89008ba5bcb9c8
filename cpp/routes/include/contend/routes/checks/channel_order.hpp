#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "contend/base/ids.hpp"
#include "contend/routes/engines/links.hpp"

namespace contend {

/// Which links wait for which, kept free of circles while routes come and go.
///
/// Every link has a place, and a link that follows another on some route has the higher one, so
/// that no circle can close (Dally and Seitz 1987). Where a new pair contradicts the places, those
/// between the two are rearranged if that is possible (Pearce and Kelly, A Dynamic Topological
/// Sort Algorithm for Directed Acyclic Graphs, 2006). Cost: constant for a pair that agrees with
/// the places, else linear in the links and pairs whose places lie between.
///
/// Memory: four bytes and a quarter per link and link out of the switch that it leads to.
class ChannelOrder {
 public:
  /// Without pairs. Links of higher `rank` come later, equal ones by number.
  ChannelOrder(const SwitchLinks& links, const std::vector<std::uint32_t>& rank);

  /// Whether the next link may follow the first. The places make room for it then, so that it may
  /// until others are added. What was refused stays refused until `forget_refusals`.
  bool admits(LinkId first, LinkId next) {
    if (place_[first] < place_[next]) return true;
    const Bit bit = bit_of(first, next);
    if ((refused_[bit.word] & bit.mask) != 0) return false;
    if (rearrange(first, next)) return true;
    refused_[bit.word] |= bit.mask;
    return false;
  }
  void forget_refusals() { refused_.assign(refused_.size(), 0); }
  /// Notes that a link follows another, making room for it; false, and nothing noted, where that
  /// would close a circle.
  bool insert(LinkId first, LinkId next) {
    if (place_[first] >= place_[next] && !rearrange(first, next)) return false;
    add(first, next);
    return true;
  }
  /// Notes that a link follows another, which the places must have room for.
  void add(LinkId first, LinkId next) {
    ++count_[pair(first, next)];
    hold(first, next);
  }
  /// Takes back one such note.
  void remove(LinkId first, LinkId next) {
    if (--count_[pair(first, next)] == 0) release(first, next);
  }
  /// Lets a link follow another, which the places must have room for, until it is released; false
  /// where it does already.
  bool hold(LinkId first, LinkId next) {
    const Bit bit = bit_of(first, next);
    const bool held = (after_[bit.word] & bit.mask) != 0;
    after_[bit.word] |= bit.mask;
    return !held;
  }
  void release(LinkId first, LinkId next) {
    const Bit bit = bit_of(first, next);
    after_[bit.word] &= ~bit.mask;
  }
  bool has(LinkId first, LinkId next) const {
    const Bit bit = bit_of(first, next);
    return (after_[bit.word] & bit.mask) != 0;
  }

 private:
  std::size_t pair(LinkId first, LinkId next) const {
    return begin_[first] + (next - links_->begin(links_->to(first)));
  }
  struct Bit {
    std::size_t word;
    std::uint64_t mask;
  };
  Bit bit_of(LinkId first, LinkId next) const {
    const std::size_t nth = next - links_->begin(links_->to(first));
    return {word_begin_[first] + nth / 64, std::uint64_t{1} << (nth % 64)};
  }
  bool rearrange(LinkId first, LinkId next);
  bool collect_after(LinkId next, LinkId first);
  void collect_before(LinkId first, std::uint32_t lowest);
  void share_places();

  const SwitchLinks* links_;
  std::vector<std::size_t> begin_;       ///< first pair of a link
  std::vector<std::uint32_t> count_;     ///< by pair
  std::vector<std::size_t> word_begin_;  ///< first word of a link, and behind the last
  std::vector<std::uint64_t> after_;     ///< a bit by pair: whether the next follows the first
  std::vector<std::uint64_t> refused_;   ///< a bit by pair
  std::vector<std::uint32_t> place_;     ///< by link
  std::vector<std::uint8_t> seen_;       ///< by link, while places are rearranged
  std::vector<LinkId> earlier_;
  std::vector<LinkId> later_;
  std::vector<std::uint32_t> places_;
};

}  // namespace contend
