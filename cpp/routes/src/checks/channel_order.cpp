#include "contend/routes/checks/channel_order.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace contend {

ChannelOrder::ChannelOrder(const SwitchLinks& links, const std::vector<std::uint32_t>& rank)
    : links_(&links), place_(links.links()), seen_(links.links(), 0) {
  begin_.reserve(links.links());
  std::size_t pairs = 0, words = 0;
  for (LinkId link = 0; link < links.links(); ++link) {
    begin_.push_back(pairs);
    word_begin_.push_back(words);
    const std::size_t ways = links.end(links.to(link)) - links.begin(links.to(link));
    pairs += ways;
    words += (ways + 63) / 64;
  }
  word_begin_.push_back(words);
  after_.assign(words, 0);
  refused_.assign(words, 0);
  count_.assign(pairs, 0);
  std::vector<LinkId> order(links.links());
  std::iota(order.begin(), order.end(), LinkId{0});
  std::ranges::stable_sort(order, {}, [&](LinkId link) { return rank[link]; });
  for (std::uint32_t place = 0; place < order.size(); ++place) place_[order[place]] = place;
}

/// Moves what must come after `next` behind what must come before `first`, if no link must do both.
bool ChannelOrder::rearrange(LinkId first, LinkId next) {
  if (first == next) return false;
  later_.clear();
  earlier_.clear();
  const bool apart = collect_after(next, first);
  if (apart) {
    collect_before(first, place_[next]);
    share_places();
  }
  for (const LinkId link : later_) seen_[link] = 0;
  for (const LinkId link : earlier_) seen_[link] = 0;
  return apart;
}

/// The links that follow `next`, itself included, with places up to that of `first`; false when
/// `first` is one of them.
bool ChannelOrder::collect_after(LinkId next, LinkId first) {
  later_.push_back(next);
  seen_[next] = 1;
  for (std::size_t head = 0; head < later_.size(); ++head) {
    const LinkId at = later_[head];
    LinkId base = links_->begin(links_->to(at));
    for (std::size_t w = word_begin_[at]; w < word_begin_[at + 1]; ++w, base += 64) {
      for (std::uint64_t word = after_[w]; word != 0; word &= word - 1) {
        const LinkId link = base + static_cast<LinkId>(std::countr_zero(word));
        if (link == first) return false;
        if (seen_[link] != 0 || place_[link] > place_[first]) continue;
        seen_[link] = 1;
        later_.push_back(link);
      }
    }
  }
  return true;
}

/// The links that `first` follows, itself included, with places from `lowest` on.
void ChannelOrder::collect_before(LinkId first, std::uint32_t lowest) {
  earlier_.push_back(first);
  seen_[first] = 1;
  for (std::size_t head = 0; head < earlier_.size(); ++head) {
    const LinkId at = earlier_[head];
    const SwitchId near = links_->from(at);
    for (LinkId out = links_->begin(near); out < links_->end(near); ++out) {
      const LinkId link = links_->reverse(out);
      if (seen_[link] != 0 || place_[link] < lowest || !has(link, at)) continue;
      seen_[link] = 1;
      earlier_.push_back(link);
    }
  }
}

/// Gives the places of all collected links to those before, then to those after, each in the
/// order that they had.
void ChannelOrder::share_places() {
  const auto by_place = [&](LinkId link) { return place_[link]; };
  std::ranges::sort(earlier_, {}, by_place);
  std::ranges::sort(later_, {}, by_place);
  places_.clear();
  for (const LinkId link : earlier_) places_.push_back(place_[link]);
  for (const LinkId link : later_) places_.push_back(place_[link]);
  std::ranges::sort(places_);
  std::size_t next = 0;
  for (const LinkId link : earlier_) place_[link] = places_[next++];
  for (const LinkId link : later_) place_[link] = places_[next++];
}

}  // namespace contend
