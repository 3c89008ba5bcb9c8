#include "free_of_circles.hpp"
#include "contend/base/interruption.hpp"

#include <algorithm>
#include <functional>

namespace contend {

static constexpr std::uint64_t kFar = ~std::uint64_t{0};
static constexpr std::uint32_t kFarHops = 0xFFFFFFFF;

bool CircleFreeSearch::find(const RoutedTraffic& traffic, std::size_t d, ChannelOrder* order) {
  check_interruption();
  traffic_ = &traffic;
  order_ = order;
  destination_ = d;
  end_ = traffic.at(d);
  std::ranges::fill(hops_, kFarHops);
  std::ranges::fill(cost_, kFar);
  std::ranges::fill(out_, kNoLink);
  std::ranges::fill(done_, std::uint8_t{0});
  std::ranges::fill(price_, std::uint64_t{0});
  turns_.clear();
  hops_[end_] = 0;
  cost_[end_] = 0;
  next_.assign(1, end_);
  for (level_ = 0; !next_.empty(); ++level_) {
    take_next_level();
    while (!level_left_.empty()) {
      const auto [cost, s] = level_left_.back();
      level_left_.pop_back();
      if (done_[s] != 0 || level_ != hops_[s] || cost != cost_[s]) continue;
      if (settle(s)) {
        look_around(s);
      } else {
        look_again(s);
      }
    }
  }
  for (const auto& [first, next] : turns_) order_->release(first, next);
  return std::ranges::all_of(traffic.sources(),
                             [&](SwitchId s) { return done_[s] != 0 || !traffic.joined(s, end_); });
}

/// Lines up the switches that so many hops lead from, the dearest first.
void CircleFreeSearch::take_next_level() {
  for (const SwitchId s : next_) {
    if (hops_[s] == level_) level_left_.emplace_back(cost_[s], s);
  }
  next_.clear();
  std::ranges::sort(level_left_, std::greater{});
}

/// Makes the link out of a switch final; false when turns that others have taken since forbid it.
bool CircleFreeSearch::settle(SwitchId s) {
  if (order_ != nullptr && s != end_ && links_->to(out_[s]) != end_) {
    const LinkId next = out_[links_->to(out_[s])];
    if (!order_->admits(out_[s], next)) return false;
    if (order_->hold(out_[s], next)) turns_.emplace_back(out_[s], next);
  }
  done_[s] = 1;
  if (s != end_) price_[s] = traffic_->price(out_[s]) + price_[links_->to(out_[s])];
  return true;
}

void CircleFreeSearch::look_again(SwitchId s) {
  hops_[s] = kFarHops;
  cost_[s] = kFar;
  out_[s] = kNoLink;
  for (LinkId link = links_->begin(s); link < links_->end(s); ++link) {
    const SwitchId far = links_->to(link);
    if (done_[far] != 0) offer(s, link, far);
  }
}

void CircleFreeSearch::look_around(SwitchId s) {
  for (LinkId away = links_->begin(s); away < links_->end(s); ++away) {
    const SwitchId far = links_->to(away);
    if (done_[far] == 0 && hops_[s] < hops_[far]) offer(far, links_->reverse(away), s);
  }
}

/// Lets a switch take a link if that is shorter or cheaper than what it has, or its present one.
void CircleFreeSearch::offer(SwitchId s, LinkId link, SwitchId far) {
  const std::uint32_t hops = hops_[far] + 1;
  if (hops > hops_[s]) return;
  const std::uint64_t cost =
      traffic_->price_at_source(link) + price_[far] - own_behind(*traffic_, s, far);
  const bool better = hops < hops_[s] || cost < cost_[s] ||
                      (cost == cost_[s] && link == traffic_->out(destination_, s));
  if (!better || !may_join(link, far)) return;
  if (hops == level_) {
    const std::pair entry(cost, s);
    level_left_.insert(std::ranges::upper_bound(level_left_, entry, std::greater{}), entry);
  } else if (hops != hops_[s]) {
    next_.push_back(s);
  }
  hops_[s] = hops;
  cost_[s] = cost;
  out_[s] = link;
}

/// What a switch's own host sends over the links from another one on.
std::uint64_t CircleFreeSearch::own_behind(const RoutedTraffic& traffic, SwitchId source,
                                           SwitchId from) const {
  std::uint64_t sum = 0;
  if (!traffic.keeps_apart(source)) return sum;
  for (SwitchId s = from; out_[s] != kNoLink; s = links_->to(out_[s])) {
    sum += traffic.own(source, out_[s]);
  }
  return sum;
}

std::uint64_t CircleFreeSearch::cost(const RoutedTraffic& traffic, std::size_t d) const {
  std::uint64_t sum = 0;
  for (const SwitchId source : traffic.sources()) {
    if (out_[source] == kNoLink) continue;
    const SwitchId far = links_->to(out_[source]);
    sum += traffic.sent(d, source) *
           (traffic.price_at_source(out_[source]) + price_[far] - own_behind(traffic, source, far));
  }
  return sum;
}

bool note_turns(const RoutedTraffic& traffic, std::size_t d, ChannelOrder& order) {
  check_interruption();
  std::vector<std::pair<LinkId, LinkId>> noted;
  bool circle = false;
  traffic.turns(d, [&](LinkId first, LinkId next) {
    circle = circle || !order.insert(first, next);
    if (!circle) noted.emplace_back(first, next);
  });
  if (circle) {
    for (const auto& [first, next] : noted) order.remove(first, next);
  }
  return !circle;
}

void forget_turns(const RoutedTraffic& traffic, std::size_t d, ChannelOrder& order) {
  traffic.turns(d, [&](LinkId first, LinkId next) { order.remove(first, next); });
}

}  // namespace contend
