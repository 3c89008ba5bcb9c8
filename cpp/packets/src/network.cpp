#include "network.hpp"

#include <algorithm>
#include <utility>

#include "contend/base/error.hpp"
#include "contend/base/interruption.hpp"

namespace contend::packets {

namespace {

/// Events from one fetch of memory to the next.
constexpr std::size_t kStage = 8;
/// Channels, and queues apart from them, that stay in a core's own cache or close to it: to fetch
/// these beforehand only takes time.
constexpr std::uint32_t kNear = 1 << 14;

}  // namespace

PacketFlows Network::run() {
  start_hosts();
  std::uint32_t events = 0;
  while (step(end_ - 1)) {
    if ((++events & 0xFFFFu) == 0) check_interruption();
  }
  return results();
}

bool Network::step(Time until) {
  const PacketEvent* event = lines_.next();
  if (event == nullptr || event->time > until) {
    if (until < kForGood) now_ = until;
    return false;
  }
  now_ = event->time;
  if (!measures_ && now_ >= begin_) begin_measuring();
  const PacketEvent what = *event;
  lines_.pop();
  if (far_) fetch_ahead();
  if (what.step < kCredit) {
    arrive(what.channel, what.step);
  } else if (what.step == kCredit) {
    ++channels_[what.channel].room;
    try_to_send(routes_.cable(what.channel));
  } else {
    sent(what.channel);
  }
  return true;
}

std::uint32_t Network::write(std::uint32_t stream, std::uint32_t packets) {
  const std::uint32_t channel = routes_.cable(routes_.channel[routes_.first[stream]]);
  senders_.begin_again(stream, channel - first_injection_, packets);
  try_to_send(channel);
  return written_[stream] += packets;
}

Network::Network(const PacketRoutes& routes, std::span<const double> rate, const PacketModel& model,
                 const ShortStreams& shorts, bool streams)
    : model_(model),
      routes_(routes),
      chooses_(routes.chooses()),
      counts_(chooses_ || routes.detours != nullptr),
      by_output_(model.queueing == Queueing::kByOutput),
      has_short_(streams && shorts.first < routes.first.size() - 1),
      first_ejection_(routes.first_ejection()),
      first_injection_(routes.first_injection()),
      channels_(routes, model.buffer, by_output_),
      far_(channels_.size() + (by_output_ ? channels_.queues() : 0) > kNear),
      channel_(routes.channel.data()),
      random_(model.seed),
      senders_(routes, model.message_packets, model.drawn, streams),
      waits_(routes, by_output_, model_.watched),
      watches_(waits_.watches()),
      delivered_(routes.first.size() - 1, 0),
      ended_(routes.first.size() - 1, kNever),
      turn_(routes.rule == Choice::kInTurn ? delivered_.size() : 0, 0),
      paces_(model, model.packet_bytes, rate, routes.channels, lines_),
      blocked_(routes.channels, 0),
      first_short_(streams ? shorts.first : kNone),
      written_(streams ? delivered_.size() : 0, 0) {
  for (const std::uint32_t channel : model.watched) {
    if (channel >= routes.channels) throw Error("watched channels that exist");
  }
  if (model.exchanges && model.message_packets > 0) exchanges_.emplace(routes);
  if (routes.detours != nullptr) ways_.emplace(routes);
  for (std::uint32_t c = 0; c < channels_.size(); ++c) {
    channels_[c].kind = paces_.of(routes.cable(c));
  }
  if (has_short_) {
    short_paces_.emplace(model, shorts.bytes, rate, routes.channels, lines_);
    saved_.resize(routes.channels, 0);
  }
  port_rate_ = rate.subspan(first_injection_);
  if (streams) return;
  if (!port_rate_.empty()) set_span(*std::min_element(port_rate_.begin(), port_rate_.end()));
}

inline void Network::fetch_ahead() const {
  const Ring<PacketEvent>& events = lines_.current();
  if (events.size() <= 6 * kStage) return;
  const auto far = [&](std::size_t count) { return &events[count * kStage]; };
  prefetch(far(6));
  const PacketEvent* event = far(5);
  channels_.fetch(event->channel);
  if (event->step < kCredit) {
    prefetch(&channel_[event->step + 1]);
    channels_.fetch_queue_of(event->step);
  } else if (injects(event->channel)) {
    senders_.fetch(event->channel - first_injection_);
  }
  event = far(4);
  if (event->step < kCredit) {
    if (by_output_ && !counts_) channels_.fetch_queue(channels_.queue_of(0, event->step, 0));
    if (!chooses_) channels_.fetch(channel_[event->step + 1]);
  } else if (leaves_buffer(*event)) {
    const Channel& channel = channels_[event->channel];
    channels_.fetch_queue(channel.carries);
    if (channel.waiting.first != kNone) channels_.fetch_queue(channel.waiting.first);
  } else if (injects(event->channel)) {
    senders_.fetch_message(event->channel - first_injection_);
  }
  event = far(3);
  if (leaves_buffer(*event)) {
    const Channel& channel = channels_[event->channel];
    channels_.fetch_second(channel.carries);
    if (event->channel >= first_ejection_ && !ways_) {
      prefetch(&routes_.message[step_by(channels_.queue(channel.carries).choice)]);
    }
    if (channel.waiting.first != kNone) {
      waits_.fetch(channels_.queue(channel.waiting.first).choice);
    }
  } else if (event->step == kNone && injects(event->channel)) {
    const std::uint32_t place = event->channel - first_injection_;
    if (senders_.has_any(place)) {
      senders_.fetch_left(senders_.likely(place));
      prefetch(&routes_.first[senders_.likely(place)]);
    }
  }
  event = far(2);
  if (leaves_buffer(*event)) {
    const Channel& channel = channels_[event->channel];
    if (event->channel >= first_ejection_ && !ways_) {
      const std::uint32_t step = step_by(channels_.queue(channel.carries).choice);
      prefetch(&delivered_[routes_.message[step]]);
    }
    if (by_output_ || chooses_) return;
    // The packet behind wants to go on, too.
    const std::uint32_t next = channels_.second(channel.carries);
    if (next != kNone) prefetch(&channel_[next + 1]);
  }
  if (by_output_ || chooses_) return;
  event = far(1);
  if (leaves_buffer(*event)) {
    const std::uint32_t next = channels_.second(channels_[event->channel].carries);
    if (next != kNone) channels_.fetch(channel_[next + 1]);
  }
}

inline bool Network::leaves_buffer(const PacketEvent& event) const {
  return event.step == kNone && channels_[event.channel].carries != kNone &&
         !injects(event.channel);
}

inline bool Network::injects(std::uint32_t number) const {
  return number >= first_injection_ && number < first_ejection_;
}

void Network::set_span(double slowest) {
  if (model_.message_packets > 0 && !exchanges_) return;
  const double packet = model_.packet_bytes / slowest * (exchanges_ ? model_.message_packets : 1);
  begin_ = ticks(model_.from * packet);
  end_ = ticks(model_.until * packet);
}

void Network::start_hosts() {
  std::vector<std::pair<Time, std::uint32_t>> starts;
  for (std::uint32_t place = 0; place < routes_.places; ++place) {
    if (!senders_.has_any(place)) continue;
    const std::uint32_t channel = first_injection_ + place;
    const Time offset = model_.together ? 0 : random_.below(paces_.takes(channels_[channel].kind));
    starts.emplace_back(offset, channel);
  }
  std::sort(starts.begin(), starts.end());
  // As if a packet had just been sent.
  for (const auto& [time, channel] : starts) lines_.start({time, channel, kNone});
}

inline void Network::begin_measuring() {
  measures_ = true;
  for (std::uint32_t c = 0; c < channels_.size(); ++c) {
    if (channels_[c].blocked_since != kNever) channels_[c].blocked_since = now_;
  }
}

inline void Network::arrive(std::uint32_t over, std::uint32_t step) {
  // In one queue a packet chooses when it is the first; else its choice is its queue.
  const std::uint32_t what = by_output_ ? choose(step) : step;
  std::uint32_t number = over;
  if (by_output_) {
    number = channels_.queue_of(over, what, ways_ ? routes_.cable(channel_by(what)) : kNone);
  }
  if (watches_) waits_.come(what, std::max(now_, begin_));
  Queue& queue = channels_.queue(number);
  if (queue.choice == kNone) {
    ask(number, what);
  } else {
    channels_.push(queue, what);
  }
}

inline std::uint32_t Network::channel_by(std::uint32_t choice) const {
  return chooses_ ? routes_.channel_by(choice) : channel_[choice + 1];
}

inline std::uint32_t Network::step_by(std::uint32_t choice) const {
  return chooses_ ? routes_.then[choice] : choice + 1;
}

inline std::uint32_t Network::message_of(std::uint32_t step) const {
  return ways_ ? ways_->message_of(step) : routes_.message[step];
}

inline std::uint32_t Network::first_step(std::uint32_t message) {
  if (!ways_) return routes_.first[message];
  const std::uint32_t step = ways_->start(message);
  channel_ = ways_->channel();
  waits_.resize(ways_->steps());
  return step;
}

inline std::uint32_t Network::choose(std::uint32_t step) {
  std::uint32_t choice = routes_.choice_of(step);
  if (chooses_) {
    const std::uint32_t end = routes_.choices_end(step);
    if (end - choice > 1) choice = among(step, choice, end);
  } else if (ways_ && ways_->begins(step)) {
    // By packets that wait for a channel, and in the buffers behind it.
    ways_->draw(step, random_, [&](std::uint32_t channel) {
      std::uint64_t held = channels_[routes_.cable(channel)].chosen;
      for (std::uint32_t c = routes_.cable(channel); c < channels_.size(); c += links()) {
        held += (model_.buffer > 0 ? model_.buffer : kNone) - channels_[c].room;
      }
      return held;
    });
  }
  if (counts_) ++channels_[routes_.cable(channel_by(choice))].chosen;
  return choice;
}

inline std::uint32_t Network::among(std::uint32_t step, std::uint32_t begin, std::uint32_t end) {
  const std::uint32_t count = end - begin;
  if (routes_.rule == Choice::kInTurn) {
    return begin + turn_[routes_.message[step]]++ % count;
  }
  const auto start = static_cast<std::uint32_t>(random_.below(count));
  std::uint32_t best = begin + start;
  if (routes_.rule == Choice::kDrawn) return best;
  // From a drawn one on, so that of several that are alike none is preferred.
  const auto waiting = [&](std::uint32_t at) {
    return channels_[routes_.cable(routes_.channel_by(at))].chosen;
  };
  for (std::uint32_t k = 1; k < count; ++k) {
    const std::uint32_t at = begin + (start + k) % count;
    if (waiting(at) < waiting(best)) best = at;
  }
  return best;
}

inline void Network::ask(std::uint32_t number, std::uint32_t what) {
  Queue& queue = channels_.queue(number);
  queue.choice = by_output_ ? what : choose(what);
  queue.since = now_;
  queue.behind = kNone;
  const std::uint32_t wanted = channel_by(queue.choice);
  List& waiting = channels_[wanted].waiting;
  if (waiting.first == kNone) {
    waiting.first = number;
  } else {
    channels_.queue(waiting.last).behind = number;
  }
  waiting.last = number;
  try_to_send(routes_.cable(wanted));
}

inline void Network::try_to_send(std::uint32_t number) {
  Channel& channel = channels_[number];
  if (channel.carries != kNone) return;
  std::uint32_t step = kNone;
  std::uint32_t onto = number;
  if (injects(number)) {
    const std::uint32_t place = number - first_injection_;
    if (!senders_.has_any(place)) return;
    const bool one_lane = routes_.lanes == 1;
    if (one_lane && channel.room == 0) return block(channel);
    const std::uint32_t message = senders_.next(place, random_, [&](std::uint32_t m) {
      return one_lane || channels_[routes_.channel[routes_.first[m]]].room > 0;
    });
    if (message == kNone) return block(channel);
    step = first_step(message);
    onto = channel_[step];
    channel.carries = 0;
  } else {
    if (routes_.lanes > 1 && number < first_injection_) onto = lane_to_send(number);
    if (onto == kNone) return block(channel);
    List& waiting = channels_[onto].waiting;
    if (waiting.first == kNone) return;
    if (channels_[onto].room == 0) return block(channel);
    channel.carries = waiting.first;
    const Queue& queue = channels_.queue(channel.carries);
    waiting.first = queue.behind;
    step = step_by(queue.choice);
    const Time waited = now_ - std::max(queue.since, begin_);
    if (measures_ && waited > 0) waits_.add(queue.choice, waited);
    if (watches_) waits_.leave(queue.choice, std::max(now_, begin_));
  }
  if (channel.blocked_since != kNever) {
    if (measures_) blocked_[number] += now_ - channel.blocked_since;
    channel.blocked_since = kNever;
  }
  const bool is_short = has_short_ && message_of(step) >= first_short_;
  const Paces& paces = is_short ? *short_paces_ : paces_;
  if (number < first_ejection_) {
    --channels_[onto].room;
    lines_.put(paces.arrival_line(channel.kind, next_kind(step)), now_, {0, onto, step});
  }
  lines_.put(paces.sent_line(channel.kind), now_, {0, number, kNone});
  if (is_short) saved_[number] += paces_.takes(channel.kind) - paces.takes(channel.kind);
}

inline void Network::block(Channel& channel) const {
  if (channel.blocked_since == kNever) channel.blocked_since = now_;
}

inline std::uint32_t Network::lane_to_send(std::uint32_t number) const {
  std::uint32_t best = kNone;
  bool any = false;
  const auto since = [&](std::uint32_t c) {
    return channels_.queue(channels_[c].waiting.first).since;
  };
  for (std::uint32_t c = number; c < channels_.size(); c += links()) {
    if (channels_[c].waiting.first == kNone) continue;
    any = true;
    if (channels_[c].room > 0 && (best == kNone || since(c) < since(best))) best = c;
  }
  return any ? best : number;
}

inline std::uint32_t Network::next_kind(std::uint32_t step) const {
  if (paces_.kinds() == 1) return 0;
  if (ways_) {
    // Nobody knows yet which way it goes from its first switch.
    return ways_->begins(step) ? paces_.kinds() - 1 : channels_[channel_[step + 1]].kind;
  }
  std::uint32_t fastest = 0;
  for (std::uint32_t at = routes_.choice_of(step); at < routes_.choices_end(step); ++at) {
    fastest = std::max(fastest, channels_[routes_.channel_by(at)].kind);
  }
  return fastest;
}

inline void Network::sent(std::uint32_t number) {
  Channel& channel = channels_[number];
  const std::uint32_t carried = std::exchange(channel.carries, kNone);
  if (carried != kNone) {
    if (measures_) ++channel.sent;
    ++hops_;
    if (!injects(number)) {
      if (number >= first_ejection_) {
        const std::uint32_t step = step_by(channels_.queue(carried).choice);
        const std::uint32_t message = message_of(step);
        if (ways_) ways_->end(step, end_step());
        deliver(message);
      }
      if (counts_) --channel.chosen;
      leave_buffer(carried);
    }
  }
  try_to_send(number);
}

inline void Network::leave_buffer(std::uint32_t number) {
  const std::uint32_t came_over = channels_.over(number);
  const std::uint32_t next = channels_.pop(channels_.queue(number));
  if (next != kNone) ask(number, next);
  Channel& over = channels_[came_over];
  // Where there is room for all that can be sent until then, it makes no difference.
  if (over.room < paces_.in_flight(over.kind)) {
    lines_.put(paces_.credit_line(over.kind), now_, {0, came_over, kCredit});
    return;
  }
  ++over.room;
  if (model_.buffer > 0) try_to_send(routes_.cable(came_over));
}

inline void Network::deliver(std::uint32_t message) {
  if (listener_ != nullptr) {
    const auto come = static_cast<std::uint32_t>(++delivered_[message]);
    listener_->come(message, come);
    listener_->known(message, come);
    return;
  }
  if (measures_ || exchanges_) ++delivered_[message];
  if (model_.message_packets == 0) return;
  if (!exchanges_) {
    if (delivered_[message] == model_.message_packets) ended_[message] = now_;
    return;
  }
  if (delivered_[message] % model_.message_packets != 0) return;
  const std::uint32_t other = exchanges_->partner(message);
  if (other != kNone && delivered_[other] < delivered_[message]) return;
  exchanges_->end(message, now_, begin_);
  for (const std::uint32_t one : {message, other}) {
    if (one == kNone) continue;
    const std::uint32_t channel = routes_.cable(routes_.channel[routes_.first[one]]);
    senders_.begin_again(one, channel - first_injection_, model_.message_packets);
    try_to_send(channel);
  }
}

}  // namespace contend::packets
