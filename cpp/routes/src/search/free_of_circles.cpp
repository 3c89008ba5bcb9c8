#include "free_of_circles.hpp"
#include "contend/base/interruption.hpp"

#include <algorithm>

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
  turns_.clear();
  hops_[end_] = 0;
  cost_[end_] = 0;
  reached_.emplace(0, 0, end_);
  while (!reached_.empty()) {
    const auto [hops, cost, s] = reached_.top();
    reached_.pop();
    if (done_[s] != 0 || hops != hops_[s] || cost != cost_[s]) continue;
    if (settle(s)) {
      look_around(s);
    } else {
      look_again(s);
    }
  }
  for (const auto& [first, next] : turns_) order_->remove(first, next);
  return std::ranges::all_of(traffic.sources(),
                             [&](SwitchId s) { return done_[s] != 0 || !traffic.joined(s, end_); });
}

/// Makes the link out of a switch final; false when turns that others have taken since forbid it.
bool CircleFreeSearch::settle(SwitchId s) {
  if (order_ != nullptr && s != end_ && links_->to(out_[s]) != end_) {
    const LinkId next = out_[links_->to(out_[s])];
    if (!order_->admits(out_[s], next)) return false;
    order_->add(out_[s], next);
    turns_.emplace_back(out_[s], next);
  }
  done_[s] = 1;
  return true;
}

void CircleFreeSearch::look_again(SwitchId s) {
  hops_[s] = kFarHops;
  cost_[s] = kFar;
  out_[s] = kNoLink;
  for (LinkId link = links_->begin(s); link < links_->end(s); ++link) {
    if (done_[links_->to(link)] != 0) offer(s, link);
  }
}

void CircleFreeSearch::look_around(SwitchId s) {
  for (LinkId away = links_->begin(s); away < links_->end(s); ++away) {
    const SwitchId far = links_->to(away);
    if (done_[far] == 0) offer(far, links_->reverse(away));
  }
}

/// Lets a switch take a link if that is shorter or cheaper than what it has, or its present one.
void CircleFreeSearch::offer(SwitchId s, LinkId link) {
  const std::uint32_t hops = hops_[links_->to(link)] + 1;
  if (hops > hops_[s]) return;
  const std::uint64_t cost = cost_by(link);
  const bool better = hops < hops_[s] || cost < cost_[s] ||
                      (cost == cost_[s] && link == traffic_->out(destination_, s));
  if (!better || !may_join(link)) return;
  hops_[s] = hops;
  cost_[s] = cost;
  out_[s] = link;
  reached_.emplace(hops, cost, s);
}

/// What a message from the switch that a link leaves costs by way of it.
std::uint64_t CircleFreeSearch::cost_by(LinkId link) const {
  const SwitchId source = links_->from(link);
  std::uint64_t sum = traffic_->price_for(source, link);
  for (SwitchId s = links_->to(link); s != end_; s = links_->to(out_[s])) {
    sum += traffic_->price_for(source, out_[s]);
  }
  return sum;
}

std::uint64_t CircleFreeSearch::cost(const RoutedTraffic& traffic, std::size_t d) const {
  std::uint64_t sum = 0;
  for (const SwitchId source : traffic.sources()) {
    for (SwitchId s = source; out_[s] != kNoLink; s = links_->to(out_[s])) {
      sum += traffic.sent(d, source) * traffic.price_for(source, out_[s]);
    }
  }
  return sum;
}

bool note_turns(const RoutedTraffic& traffic, std::size_t d, ChannelOrder& order) {
  check_interruption();
  std::vector<std::pair<LinkId, LinkId>> noted;
  bool circle = false;
  traffic.walk(d, [&](SwitchId, LinkId link, LinkId before) {
    if (before == kNoLink || circle) return;
    circle = !order.insert(before, link);
    if (!circle) noted.emplace_back(before, link);
  });
  if (circle) {
    for (const auto& [first, next] : noted) order.remove(first, next);
  }
  return !circle;
}

void forget_turns(const RoutedTraffic& traffic, std::size_t d, ChannelOrder& order) {
  traffic.walk(d, [&](SwitchId, LinkId link, LinkId before) {
    if (before != kNoLink) order.remove(before, link);
  });
}

}  // namespace contend
