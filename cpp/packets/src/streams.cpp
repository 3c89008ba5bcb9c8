#include "contend/packets/streams.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "contend/base/error.hpp"

namespace contend {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
/// Longest that a time-out grows by doubling.
constexpr double kLongest = 120;

}  // namespace

Streams::Streams(const Crossings& routes, std::vector<std::uint32_t> back, const StreamModel& model,
                 DroppingPorts ports)
    : routes_(routes),
      back_(std::move(back)),
      model_(model),
      ports_(std::move(ports)),
      streams_(routes.messages()) {
  if (back_.size() != streams_.size()) throw Error("a way back for every stream");
  const double packet = model.payload + model.headers;
  if (!(model.payload >= 1 && packet < 65536) || !(model.least_timeout > 0)) {
    throw Error("packets of a byte to 64 KiB, and time-outs above 0");
  }
  const QueueLimits& queues = model.queues;
  const auto check = [](double holds, double least, const char* what) {
    if (holds <= 0 || holds >= least) return;
    throw Error(std::string(what) + " of at least " + std::to_string(std::llround(least)) +
                " bytes, got " + std::to_string(std::llround(holds)));
  };
  check(queues.buffer, packet, "a buffer");
  check(queues.shared, packet, "a shared buffer");
  check(queues.host, model.piece * packet, "a host's queue");
  for (Stream& stream : streams_) stream.window = model.first_window;
  counts_.drops.resize(ports_.channels(), 0);
}

void Streams::push(double time, Kind kind, std::uint32_t index) {
  events_.push({time, order_++, index, kind});
}

std::uint32_t Streams::write(std::uint32_t number, double bytes) {
  Stream& stream = streams_[number];
  const double packets = std::max(1.0, std::ceil(bytes / model_.payload));
  const double last = std::max(1.0, bytes - (packets - 1) * model_.payload);
  stream.written += static_cast<std::uint32_t>(packets);
  stream.writes.push({stream.written, static_cast<std::uint16_t>(last)});
  const std::uint32_t end = stream.written;
  send(number);
  return end;
}

bool Streams::step(double until) {
  if (events_.empty() || events_.top().time > until) {
    if (until < kNever) now_ = until;
    return false;
  }
  const Event event = events_.top();
  events_.pop();
  now_ = event.time;
  if (event.kind == Kind::port) {
    pass(event.index);
  } else if (event.time >= streams_[event.index].entry) {
    // A sooner one has not taken its place.
    streams_[event.index].entry = kNever;
    expire(event.index);
  }
  return true;
}

// Queues.

std::span<const std::uint32_t> Streams::route(const Datagram& datagram) const {
  return routes_.of_message(datagram.answers ? back_[datagram.stream] : datagram.stream);
}

void Streams::pass(std::uint32_t channel) {
  double more = kNever;
  Datagram datagram = ports_.take(channel, more);
  if (more < kNever) push(more, Kind::port, channel);
  const auto way = route(datagram);
  if (datagram.at + 1u < way.size()) {
    ++datagram.at;
    if (!enter(datagram) && !datagram.answers) {
      Stream& stream = streams_[datagram.stream];
      const std::uint32_t place = datagram.number - stream.first;
      if (place < stream.under_way.size()) stream.under_way[place].dropped = true;
    }
  } else if (datagram.answers) {
    hear(datagram);
  } else {
    const Datagram* behind = ports_.first(channel);
    receive(datagram, behind != nullptr && behind->stream == datagram.stream && !behind->answers);
  }
  if (ports_.injects(channel) && !datagram.answers) {
    Stream& stream = streams_[datagram.stream];
    const bool held = !may_queue(stream);
    --stream.queued;
    stream.pieces -= datagram.ends_piece ? 1 : 0;
    if (held && may_queue(stream)) send(datagram.stream);
  }
}

/// Puts a packet into the queue of its next channel; false if it finds no room.
bool Streams::enter(const Datagram& datagram) {
  const std::uint32_t channel = route(datagram)[datagram.at];
  if (!ports_.has_room(channel, datagram.bytes, now_)) {
    count_drop(channel, 1);
    return false;
  }
  const double arrives = ports_.put(channel, datagram, now_);
  if (ports_.alone(channel)) push(arrives, Kind::port, channel);
  return true;
}

void Streams::count_drop(std::uint32_t channel, std::uint64_t packets) {
  counts_.drops[channel] += packets;
  if (counts_.first_channel != kNone) return;
  counts_.first_channel = channel;
  counts_.first_at = now_;
}

// Receivers.

bool Streams::has(const Stream& stream, std::uint32_t packet) {
  return packet < stream.come ||
         std::binary_search(stream.ahead.begin(), stream.ahead.end(), packet);
}

void Streams::receive(const Datagram& datagram, bool followed) {
  Stream& stream = streams_[datagram.stream];
  const std::uint32_t before = stream.come;
  const bool in_order = datagram.packet == before && stream.ahead.empty();
  if (!has(stream, datagram.packet)) {
    if (datagram.packet == before) {
      ++stream.come;
      auto end = stream.ahead.begin();
      for (; end != stream.ahead.end() && *end == stream.come; ++end) ++stream.come;
      stream.ahead.erase(stream.ahead.begin(), end);
    } else {
      stream.ahead.insert(
          std::upper_bound(stream.ahead.begin(), stream.ahead.end(), datagram.packet),
          datagram.packet);
    }
  }
  // What comes close behind each other is answered together, as hosts join it (GRO); otherwise
  // every second packet is, and at once what ends a piece, or where something is missing. So nobody
  // waits for an answer that is put off.
  if (in_order && (followed || !(stream.unanswered || datagram.ends_piece))) {
    stream.unanswered = true;
  } else {
    stream.unanswered = false;
    answer(datagram.stream, datagram.number);
  }
  if (stream.come > before) listener_->come(datagram.stream, stream.come);
}

void Streams::answer(std::uint32_t number, std::uint32_t transmission) {
  enter({number, transmission, streams_[number].come, 0, static_cast<std::uint16_t>(model_.headers),
         true, true});
}

// Senders.

void Streams::hear(const Datagram& datagram) {
  Stream& stream = streams_[datagram.stream];
  const auto under_way = static_cast<double>(stream.under_way.size());
  double delivered = 0;
  bool lost = false;
  while (!stream.under_way.empty() && stream.first <= datagram.number) {
    const Sent sent = stream.under_way.front();
    stream.under_way.pop();
    if (!sent.dropped) {
      ++delivered;
    } else if (!has(stream, sent.packet)) {
      stream.lost.push(sent.packet);
      lost = true;
    }
    if (stream.first++ == datagram.number) time_round(stream, now_ - sent.at);
  }
  const bool further = datagram.packet > stream.known;
  stream.known = std::max(stream.known, datagram.packet);
  while (!stream.writes.empty() && stream.writes.front().end <= stream.known) stream.writes.pop();
  if (delivered > 0) {
    stream.backoff = 0;
    stream.probed = false;
    stream.reduced = false;
  }
  if (stream.recovers && stream.known >= stream.recovered) stream.recovers = false;
  const bool begins = lost && !stream.recovers;
  if (begins) {
    lose(stream);
    stream.window = stream.threshold;
    stream.recovers = true;
    stream.recovered = stream.next;
  } else if (!stream.recovers) {
    grow(stream, delivered, under_way);
  }
  if (delivered > 0) stream.deadline = kNever;
  send(datagram.stream, begins);
  if (further) listener_->known(datagram.stream, datagram.packet);
}

/// Only a window that is used grows.
void Streams::grow(Stream& stream, double delivered, double under_way) const {
  if (stream.window < stream.threshold) {
    if (stream.window < 2 * under_way) stream.window += delivered;
  } else if (stream.window <= under_way) {
    stream.window += delivered / stream.window;
  }
  stream.window = std::min(stream.window, model_.most_window);
}

void Streams::lose(Stream& stream) const { stream.threshold = std::max(2.0, stream.window / 2); }

double Streams::bytes_of(const Stream& stream, std::uint32_t packet) const {
  for (std::size_t k = 0; k < stream.writes.size(); ++k) {
    const Written& write = stream.writes[k];
    if (packet + 1 < write.end) return model_.payload;
    if (packet + 1 == write.end) return write.last;
  }
  return model_.payload;
}

/// Two pieces of a stream may lie in its host's queue, or what it sends in a millisecond.
bool Streams::may_queue(const Stream& stream) const {
  return stream.pieces < model_.pieces ||
         (stream.round > 0 && stream.queued * stream.round < 1e-3 * 2 * stream.window);
}

/// Sends what the window allows, and at least `one` where it is wanted at once.
void Streams::send(std::uint32_t number, bool one) {
  Stream& stream = streams_[number];
  std::vector<std::uint32_t>& chosen = chosen_;
  while (may_queue(stream)) {
    const double room =
        std::max(stream.window - static_cast<double>(stream.under_way.size()), one ? 1.0 : 0.0);
    chosen.clear();
    while (chosen.size() < model_.piece && static_cast<double>(chosen.size() + 1) <= room) {
      while (!stream.lost.empty() && has(stream, stream.lost.front())) stream.lost.pop();
      if (!stream.lost.empty()) {
        chosen.push_back(stream.lost.front());
        stream.lost.pop();
      } else if (stream.next < stream.written) {
        chosen.push_back(stream.next++);
      } else {
        break;
      }
    }
    if (chosen.empty()) break;
    one = false;
    if (send_piece(number, chosen)) continue;
    for (const std::uint32_t packet : chosen) stream.lost.push(packet);
    if (!stream.reduced) {
      lose(stream);
      stream.window = stream.threshold;
      stream.reduced = true;
    }
    break;
  }
  set_timer(number);
}

bool Streams::send_piece(std::uint32_t number, std::span<const std::uint32_t> packets) {
  Stream& stream = streams_[number];
  const auto wire = [&](std::uint32_t packet) { return bytes_of(stream, packet) + model_.headers; };
  double bytes = 0;
  for (const std::uint32_t packet : packets) bytes += wire(packet);
  const std::uint32_t channel = routes_.of_message(number).front();
  if (!ports_.has_room(channel, bytes, now_)) {
    count_drop(channel, packets.size());
    return false;
  }
  for (const std::uint32_t packet : packets) {
    const auto transmission = stream.first + static_cast<std::uint32_t>(stream.under_way.size());
    stream.under_way.push({packet, false, now_});
    ++stream.queued;
    stream.pieces += packet == packets.back() ? 1 : 0;
    const Datagram datagram{number,
                            transmission,
                            packet,
                            0,
                            static_cast<std::uint16_t>(wire(packet)),
                            false,
                            packet == packets.back()};
    const double arrives = ports_.put(channel, datagram, now_);
    if (ports_.alone(channel)) push(arrives, Kind::port, channel);
  }
  return true;
}

// Time-outs.

void Streams::time_round(Stream& stream, double taken) const {
  if (stream.round == 0) {
    stream.round = taken;
    stream.variation = taken / 2;
  } else {
    stream.variation += (std::abs(taken - stream.round) - stream.variation) / 4;
    stream.round += (taken - stream.round) / 8;
  }
}

double Streams::timeout(const Stream& stream) const {
  const double least = stream.round + std::max(model_.least_timeout, 4 * stream.variation);
  return std::min(kLongest, std::ldexp(least, stream.backoff));
}

/// A stream that has something under way, or could not send at all, is looked at again.
void Streams::set_timer(std::uint32_t number) {
  Stream& stream = streams_[number];
  const std::size_t under_way = stream.under_way.size();
  if (under_way == 0 && stream.lost.empty() && stream.next == stream.written) {
    stream.deadline = kNever;
    return;
  }
  if (stream.deadline < kNever) return;
  double after = timeout(stream);
  stream.probes = false;
  if (under_way > 0 && !stream.recovers && stream.lost.empty() && !stream.probed &&
      stream.backoff == 0) {
    const double probe = 2 * stream.round + (under_way == 1 ? model_.least_timeout : model_.probe);
    stream.probes = probe < after;
    after = std::min(after, probe);
  }
  stream.deadline = now_ + after;
  if (stream.deadline >= stream.entry) return;
  stream.entry = stream.deadline;
  push(stream.entry, Kind::timer, number);
}

void Streams::expire(std::uint32_t number) {
  Stream& stream = streams_[number];
  if (stream.deadline == kNever) return;
  if (stream.deadline > now_) {
    stream.entry = stream.deadline;
    push(stream.entry, Kind::timer, number);
    return;
  }
  stream.deadline = kNever;
  if (stream.probes) {
    stream.probed = true;
    const bool fresh = stream.next < stream.written;
    const std::uint32_t packet = fresh ? stream.next++ : stream.next - 1;
    if (!send_piece(number, {&packet, 1}) && fresh) stream.lost.push(packet);
    set_timer(number);
    return;
  }
  // Where all is still on its way, it goes on waiting (RFC 5682).
  bool lost = stream.under_way.empty();
  bool silent = false;
  for (std::size_t k = 0; k < stream.under_way.size(); ++k) {
    lost |= stream.under_way[k].dropped && !has(stream, stream.under_way[k].packet);
    silent |= has(stream, stream.under_way[k].packet);
  }
  stream.backoff = static_cast<std::uint8_t>(std::min(stream.backoff + 1, 16));
  if (lost) ++counts_.timeouts;
  if (lost || silent) {
    if (!stream.under_way.empty()) {
      if (stream.backoff == 1) lose(stream);
      stream.window = 1;
    }
    for (; !stream.under_way.empty(); ++stream.first) {
      const Sent sent = stream.under_way.front();
      stream.under_way.pop();
      if (!has(stream, sent.packet)) stream.lost.push(sent.packet);
    }
    stream.recovers = false;
    stream.reduced = false;
    // All has come, but no answer: one packet more asks for it.
    const std::uint32_t last = stream.next - 1;
    if (!lost) send_piece(number, {&last, 1});
  }
  send(number, lost);
}

}  // namespace contend
