#include <algorithm>
#include <bit>
#include <cmath>

#include "carrier.hpp"
#include "contend/base/mixed.hpp"

namespace contend {

namespace {

/// Messages of so few bytes are no flows: they wait behind others, and take of them only what a
/// channel has stored.
constexpr double kLight = 256;
/// A channel is full from this part of its rate on.
constexpr double kFull = 0.999;

}  // namespace

void Carrier::emit(std::uint32_t m) {
  const Message& message = messages_[m];
  double leaves = now_;
  if (!roads_.within(m)) {
    double& free = port_free_[roads_.source_place(m)];
    leaves = std::max(now_, free);
    free = leaves + message.of_class->gap;
  }
  if (message.of_class->eager) end_send(m);
  if (leaves > now_) {
    events_.push(leaves, Event::Kind::enter, m);
  } else {
    enter(m, Part::ahead);
  }
}

void Carrier::post(std::uint32_t m) {
  Message& message = messages_[m];
  message.posted = true;
  if (message.arrived) {
    complete(matches_[m].receive, matches_[m].target);
  } else if (message.asked) {
    enter(m, Part::answer);
  }
}

void Carrier::end_send(std::uint32_t m) {
  Message& message = messages_[m];
  if (message.sent) return;
  message.sent = true;
  complete(matches_[m].send, matches_[m].source);
}

void Carrier::enter(std::uint32_t m, Part part) {
  const std::uint32_t road = part == Part::ahead ? roads_.ahead(m) : roads_.back(m);
  roads_.append(road, 2 * m + static_cast<std::uint32_t>(part));
  depart(road);
}

/// Lets go what stands first in line between two ranks, until something takes time.
void Carrier::depart(std::uint32_t road) {
  while (!roads_.taken(road) && !roads_.empty(road)) {
    const std::uint32_t item = roads_.pop(road);
    if (start(item / 2, static_cast<Part>(item % 2))) roads_.take(road);
  }
}

/// Whether it has the road for a while.
bool Carrier::start(std::uint32_t m, Part part) {
  Message& message = messages_[m];
  const MessageClass& costs = *message.of_class;
  const std::size_t route = part == Part::ahead ? roads_.route(m) : roads_.route_back(m);
  const bool data = is_data(m, part);
  if (!data || message.wire <= kLight) {
    const double latency = costs.latency + costs.latency_per_hop * roads_.hops(route);
    const double wire = data ? message.wire : costs.extra;
    double after = now_ + latency + behind(route);
    if (!roads_.within(m)) {
      const Place from = part == Part::ahead ? roads_.source_place(m) : roads_.target_place(m);
      after += ports_.wait(from, now_);
      ports_.line_up(from, wire, now_);
      for (const std::uint32_t channel : roads_.crossings().of_message(route)) {
        buckets_.take(channel, wire, now_);
      }
    }
    if (data) end_send(m);
    events_.push(after, Event::Kind::arrive, m, static_cast<std::uint32_t>(part));
    return false;
  }
  crowds_.join(roads_.crossings().of_message(route), message.bytes);
  if (!line_up(m)) begin_flow(m, route, message.wire);
  return true;
}

/// Whether a message goes off piece by piece: where it is sent at once, and nothing streams.
bool Carrier::line_up(std::uint32_t m) {
  Message& message = messages_[m];
  const Place place = roads_.source_place(m);
  if (network_.piece == 0 || roads_.within(m) || !message.of_class->eager ||
      flows_.count(ports_.channel(place)) > 0) {
    return false;
  }
  message.pieces = static_cast<std::uint32_t>(std::ceil(message.wire / network_.piece));
  const std::uint32_t window = ports_.window(place);
  while (message.lined < std::min(message.pieces, window)) line_up_piece(m);
  return true;
}

double Carrier::piece_of(std::uint32_t m, std::uint32_t number) const {
  return std::min(network_.piece, messages_[m].wire - number * network_.piece);
}

void Carrier::line_up_piece(std::uint32_t m) {
  const double bytes = piece_of(m, messages_[m].lined++);
  const Place place = roads_.source_place(m);
  buckets_.take(ports_.channel(place), bytes, now_);
  events_.push(ports_.line_up(place, bytes, now_), Event::Kind::piece, m);
}

/// A piece is beyond its host's port, and the next one may line up.
void Carrier::pass_on(std::uint32_t m) {
  Message& message = messages_[m];
  const double bytes = piece_of(m, message.passed++);
  if (message.lined < message.pieces) line_up_piece(m);
  if (message.flow == kNone) {
    begin_flow(m, roads_.beyond(m), bytes);
    return;
  }
  message.rest = rest_of(message.flow) + bytes;
  message.updated = now_;
  if (message.rate > 0) {
    events_.push(now_ + message.rest / message.rate, Event::Kind::leave, m, ++message.version);
  }
}

void Carrier::begin_flow(std::uint32_t m, std::size_t route, double bytes) {
  Message& message = messages_[m];
  if (!flows_.changed()) touched_at_ = now_;
  message.flow = flows_.begin(route);
  message.rest = bytes;
  message.updated = now_;
  message.rate = 0;
  if (message.flow >= owner_.size()) owner_.resize(message.flow + 1);
  owner_[message.flow] = m;
}

void Carrier::end_flow(std::uint32_t m) {
  Message& message = messages_[m];
  if (!flows_.changed()) touched_at_ = now_;
  flows_.end(message.flow);
  message.flow = kNone;
  message.rest = 0;
  ++message.version;
}

/// How long something waits for what stands before it at full channels.
double Carrier::behind(std::size_t route) const {
  double seconds = 0;
  for (const std::uint32_t channel : roads_.crossings().of_message(route)) {
    const double most = network_.queue[channel];
    const double rate = network_.rate[channel];
    if (most <= 0 || flows_.used(channel) < kFull * rate) continue;
    double waiting = 0;
    for (const std::uint32_t flow : flows_.on(channel)) waiting += std::min(rest_of(flow), most);
    seconds += waiting / rate;
  }
  return seconds;
}

/// A rank sees what comes while it waits, and otherwise when it waits next.
void Carrier::arrive(std::uint32_t m, Part part) {
  const std::uint32_t index = strand_at(m, part);
  Strand& strand = strands_[index];
  const double impatient = strand.since + costs_.patience;
  if (!strand.waits && strand.next < schedule_.begin[index + 1]) {
    const std::uint32_t item = 2 * m + static_cast<std::uint32_t>(part);
    next_unseen_[item] = kNone;
    (strand.unseen == kNone ? strand.unseen : next_unseen_[strand.last_unseen]) = item;
    strand.last_unseen = item;
  } else if (strand.waits && costs_.look_every > 0 && now_ > impatient) {
    events_.push(next_look(index), Event::Kind::seen, m, static_cast<std::uint32_t>(part));
  } else {
    see(m, part);
  }
}

/// When a rank that has waited long looks again: once in every interval, at a time that is drawn,
/// as no two ranks nap alike.
double Carrier::next_look(std::uint32_t index) const {
  const double since = strands_[index].since;
  const double impatient = since + costs_.patience;
  const auto interval = static_cast<std::uint64_t>((now_ - impatient) / costs_.look_every);
  for (std::uint64_t k = interval > 0 ? interval - 1 : 0;; ++k) {
    const std::uint64_t drawn = mixed(mixed(std::bit_cast<std::uint64_t>(since) ^ index) + k);
    const double part = static_cast<double>(drawn >> 11U) * 0x1p-53;
    const double look = impatient + (static_cast<double>(k) + part) * costs_.look_every;
    if (look >= now_) return look;
  }
}

/// A rank looks at what has come.
void Carrier::see(std::uint32_t m, Part part) {
  const Job::Kind kind = part == Part::ahead ? Job::Kind::ahead : Job::Kind::answer;
  processors_.want(group_of(strand_at(m, part)), {kind, m});
}

void Carrier::handle(std::uint32_t m, Part part) {
  Message& message = messages_[m];
  processors_.give_back(group_of(strand_at(m, part)));
  if (part == Part::answer) {
    message.allowed = true;
    enter(m, Part::ahead);
  } else if (message.of_class->eager || message.allowed) {
    message.arrived = true;
    if (message.posted) complete(matches_[m].receive, matches_[m].target);
  } else {
    message.asked = true;
    if (message.posted) enter(m, Part::answer);
  }
}

/// The last byte of what is under way has left.
void Carrier::leave(std::uint32_t m) {
  Message& message = messages_[m];
  end_flow(m);
  if (message.passed < message.pieces) return;
  const MessageClass& costs = *message.of_class;
  const std::size_t route = roads_.route(m);
  for (const std::uint32_t channel : roads_.crossings().of_message(route)) {
    outcome_.channel_bytes[channel] += message.wire;
  }
  crowds_.leave(roads_.crossings().of_message(route), message.bytes);
  if (message.pieces == 0 && !roads_.within(m)) ports_.empty(roads_.source_place(m), now_);
  end_send(m);
  events_.push(now_ + costs.latency + costs.latency_per_hop * roads_.hops(route),
               Event::Kind::arrive, m, static_cast<std::uint32_t>(Part::ahead));
  const std::uint32_t road = roads_.ahead(m);
  roads_.leave(road);
  depart(road);
}

void Carrier::share_out() {
  ++outcome_.fills;
  buckets_.before_fill(flows_.gather(), now_);
  for (const std::uint32_t flow : flows_.fill()) {
    const std::uint32_t m = owner_[flow];
    Message& message = messages_[m];
    message.rest = rest_of(flow);
    message.updated = now_;
    message.rate = flows_.share(flow);
    ++message.version;
    if (!message.sent) {
      const double before = std::max(message.rest - message.of_class->buffered, 0.0);
      events_.push(now_ + before / message.rate, Event::Kind::sent, m, message.version);
    }
    events_.push(now_ + message.rest / message.rate, Event::Kind::leave, m, message.version);
  }
  buckets_.after_fill(now_, events_);
}

}  // namespace contend
