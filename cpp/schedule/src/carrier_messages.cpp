#include <algorithm>
#include <bit>

#include "carrier.hpp"
#include "contend/base/mixed.hpp"

namespace contend {

namespace {

/// Messages of so few bytes are no flows: they wait behind others, and take of them only what a
/// channel has stored.
constexpr double kLight = 256;

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
  depart(road, false);
}

/// Lets go what stands first in line between two ranks, until something takes time.
void Carrier::depart(std::uint32_t road, bool behind) {
  while (!roads_.taken(road) && !roads_.empty(road)) {
    const std::uint32_t item = roads_.pop(road);
    if (start(item / 2, static_cast<Part>(item % 2), behind)) roads_.take(road);
  }
}

/// Whether it is no flow: what asks or answers, and small messages.
bool Carrier::is_light(std::uint32_t m, Part part) const {
  return !is_data(m, part) || messages_[m].wire <= kLight;
}

/// Whether it has the road for a while. What is light and comes right behind another message waits
/// for nothing more: where that stood in line, it stood too.
bool Carrier::start(std::uint32_t m, Part part, bool behind) {
  Message& message = messages_[m];
  if (is_light(m, part)) {
    if (is_data(m, part)) end_send(m);
    if (behind || roads_.within(m)) {
      land(m, part);
    } else {
      set_out({m, part, 0, is_data(m, part) ? message.wire : message.of_class->extra});
    }
    return false;
  }
  crowds_.join(channels_of(m), message.bytes);
  if (network_.piece > 0 && !roads_.within(m)) {
    message.to_come = message.wire;
    begin_pieces(m);
  } else {
    begin_flow(m);
  }
  return true;
}

/// Pieces come to their host's port as the kernel's limit on small queues lets them: while less
/// than twice a piece's bytes of its message wait there, so a short last one once the others have
/// left; from the third on also when only one of those before it is not at the other host yet,
/// which acknowledgements without a delay are taken to tell. What is not there its host keeps, and
/// the send ends once it has room for all of that.
void Carrier::begin_pieces(std::uint32_t m) {
  Message& message = messages_[m];
  if (message.wire - message.there * network_.piece <= message.of_class->buffered) end_send(m);
  while (message.to_come > 0) {
    const double bytes = std::min(network_.piece, message.to_come);
    const bool one_out = message.begun > 1 && message.there + 1 >= message.begun;
    if (message.in_line >= 2 * bytes && !one_out) return;
    ++message.begun;
    message.to_come -= bytes;
    message.in_line += bytes;
    set_out({m, Part::ahead, 0, bytes});
  }
}

/// Lines a piece up in front of its host's port, at the place of one that is there.
void Carrier::set_out(const Piece& piece) {
  if (landed_.empty()) {
    landed_.push_back(static_cast<std::uint32_t>(pieces_.size()));
    pieces_.emplace_back();
  }
  const std::uint32_t p = landed_.back();
  landed_.pop_back();
  pieces_[p] = piece;
  line_up(p);
}

/// Lines a piece up in front of the next channel on its way.
void Carrier::line_up(std::uint32_t p) {
  const auto [m, part, crossed, bytes] = pieces_[p];
  const std::uint32_t channel = channels_of(m, part)[crossed];
  const double behind = now_ + buckets_.wait(channel, now_);
  const double stored = buckets_.line_up(channel, bytes, now_);
  const bool light = is_light(m, part);
  if (light && behind <= now_) {
    pass(p);
  } else {
    events_.push(light ? behind : std::max(stored, behind), Event::Kind::piece, p);
  }
}

/// A piece has passed a channel.
void Carrier::pass(std::uint32_t p) {
  const auto [m, part, crossed, bytes] = pieces_[p];
  const bool light = is_light(m, part);
  Message& message = messages_[m];
  pieces_[p].crossed = crossed + 1;
  if (!light && crossed == 0) {
    message.in_line -= bytes;
    begin_pieces(m);
  }
  if (crossed + 1 < channels_of(m, part).size()) {
    line_up(p);
    return;
  }
  landed_.push_back(p);
  if (light) {
    land(m, part);
  } else if (++message.there == message.begun && message.to_come <= 0) {
    end_crossing(m);
  } else {
    begin_pieces(m);
  }
}

/// The last of a part has passed its last channel.
void Carrier::land(std::uint32_t m, Part part) {
  const MessageClass& costs = *messages_[m].of_class;
  const double hops = roads_.hops(route_of(m, part));
  events_.push(now_ + costs.latency + costs.latency_per_hop * hops, Event::Kind::arrive, m,
               static_cast<std::uint32_t>(part));
}

void Carrier::begin_flow(std::uint32_t m) {
  Message& message = messages_[m];
  if (!flows_.changed()) touched_at_ = now_;
  message.flow = flows_.begin(roads_.route(m));
  message.rest = message.wire;
  message.updated = now_;
  if (message.flow >= owner_.size()) owner_.resize(message.flow + 1);
  owner_[message.flow] = m;
}

void Carrier::end_flow(std::uint32_t m) {
  Message& message = messages_[m];
  if (!flows_.changed()) touched_at_ = now_;
  flows_.end(message.flow);
  message.rest = 0;
  ++message.version;
  end_crossing(m);
}

/// The last byte of a message has passed its last channel.
void Carrier::end_crossing(std::uint32_t m) {
  const Message& message = messages_[m];
  for (const std::uint32_t channel : channels_of(m)) {
    outcome_.channel_bytes[channel] += message.wire;
  }
  crowds_.leave(channels_of(m), message.bytes);
  end_send(m);
  land(m, Part::ahead);
  const std::uint32_t road = roads_.ahead(m);
  roads_.leave(road);
  depart(road, true);
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

/// Brings what is known of a flow up to now.
void Carrier::bring_up(std::uint32_t flow) {
  Message& message = messages_[owner_[flow]];
  message.rest = rest_of(flow);
  message.updated = now_;
}

void Carrier::share_out() {
  ++outcome_.fills;
  const auto gathered = flows_.gather();
  buckets_.before_fill(gathered, now_);
  for (const std::uint32_t flow : flows_.fill()) {
    const std::uint32_t m = owner_[flow];
    Message& message = messages_[m];
    bring_up(flow);
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
