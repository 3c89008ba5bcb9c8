#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "contend/base/ids.hpp"
#include "contend/fabric/fabric.hpp"

namespace contend {

using LinkId = std::uint32_t;
inline constexpr LinkId kNoLink = 0xFFFFFFFF;

/// The channels between switches as adjacency lists: the links out of a switch are consecutive and
/// in the order of its ports. Channels from a switch to itself are left out.
class SwitchLinks {
 public:
  /// Cost: linear in ports.
  explicit SwitchLinks(const Fabric& fabric);

  std::size_t switches() const { return begin_.size() - 1; }
  std::size_t links() const { return to_.size(); }
  LinkId begin(SwitchId s) const { return begin_[s]; }
  LinkId end(SwitchId s) const { return begin_[s + 1]; }
  SwitchId from(LinkId link) const { return to_[reverse_[link]]; }
  SwitchId to(LinkId link) const { return to_[link]; }
  /// The port by which the link leaves.
  PortNumber port(LinkId link) const { return port_[link]; }
  /// The link that leaves a switch by a port; kNoLink where none does.
  LinkId by_port(SwitchId s, PortNumber port) const {
    const std::size_t at = port_begin_[s] + port;
    return at < port_begin_[s + 1] ? by_port_[at] : kNoLink;
  }
  /// The same cable in the other direction.
  LinkId reverse(LinkId link) const { return reverse_[link]; }

  /// Words that a set of links needs: every switch starts a new one.
  std::size_t set_words() const { return word_begin_.back(); }
  std::size_t word_begin(SwitchId s) const { return word_begin_[s]; }

 private:
  std::vector<LinkId> begin_;
  std::vector<SwitchId> to_;
  std::vector<PortNumber> port_;
  std::vector<std::size_t> port_begin_;
  std::vector<LinkId> by_port_;  ///< by switch and port, 0 included
  std::vector<LinkId> reverse_;
  std::vector<std::size_t> word_begin_;
};

/// A set of links, one bit each, over borrowed words.
class LinkSet {
 public:
  LinkSet(const SwitchLinks& links, std::span<std::uint64_t> words)
      : links_(&links), words_(words) {}

  void clear() {
    for (std::uint64_t& word : words_) word = 0;
  }

  void insert(SwitchId from, LinkId link) {
    const std::size_t place = link - links_->begin(from);
    words_[links_->word_begin(from) + place / 64] |= std::uint64_t{1} << (place % 64);
  }

  /// Appends the set's links out of a switch, in the order of ports.
  void out_of(SwitchId s, std::vector<LinkId>& found) const {
    LinkId base = links_->begin(s);
    for (std::size_t w = links_->word_begin(s); w < links_->word_begin(s + 1); ++w, base += 64) {
      for (std::uint64_t word = words_[w]; word != 0; word &= word - 1) {
        found.push_back(base + static_cast<LinkId>(std::countr_zero(word)));
      }
    }
  }

 private:
  const SwitchLinks* links_;
  std::span<std::uint64_t> words_;
};

}  // namespace contend
