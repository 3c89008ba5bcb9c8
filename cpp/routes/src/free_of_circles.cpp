#include "free_of_circles.hpp"

#include <algorithm>

namespace contend {

static constexpr std::uint64_t kFar = ~std::uint64_t{0};

bool CircleFreeSearch::find(const RoutedTraffic& traffic, std::size_t d, ChannelOrder* order) {
  traffic_ = &traffic;
  order_ = order;
  destination_ = d;
  end_ = traffic.at(d);
  std::ranges::fill(cost_, kFar);
  std::ranges::fill(out_, kNoLink);
  std::ranges::fill(done_, std::uint8_t{0});
  turns_.clear();
  cost_[end_] = 0;
  reached_.emplace(0, end_);
  while (!reached_.empty()) {
    const auto [cost, s] = reached_.top();
    reached_.pop();
    if (done_[s] != 0 || cost != cost_[s]) continue;
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
  cost_[s] = kFar;
  out_[s] = kNoLink;
  for (LinkId link = links_->begin(s); link < links_->end(s); ++link) {
    if (done_[links_->to(link)] == 0) continue;
    const std::uint64_t cost = cost_by(link);
    if (cost >= cost_[s] || !may_join(link)) continue;
    cost_[s] = cost;
    out_[s] = link;
  }
  if (out_[s] != kNoLink) reached_.emplace(cost_[s], s);
}

void CircleFreeSearch::look_around(SwitchId s) {
  for (LinkId away = links_->begin(s); away < links_->end(s); ++away) {
    const SwitchId far = links_->to(away);
    if (done_[far] != 0) continue;
    const LinkId link = links_->reverse(away);
    const std::uint64_t cost = cost_by(link);
    const bool better =
        cost < cost_[far] || (cost == cost_[far] && link == traffic_->out(destination_, far));
    if (!better || !may_join(link)) continue;
    cost_[far] = cost;
    out_[far] = link;
    reached_.emplace(cost, far);
  }
}

/// What a message from the switch that a link leaves costs by way of it.
std::uint64_t CircleFreeSearch::cost_by(LinkId link) const {
  const SwitchId source = links_->from(link);
  std::uint64_t sum = traffic_->price_for(source, link) + hop_;
  for (SwitchId s = links_->to(link); s != end_; s = links_->to(out_[s])) {
    sum += traffic_->price_for(source, out_[s]) + hop_;
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
