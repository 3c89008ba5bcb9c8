#include "contend/packets/packets.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "circle.hpp"
#include "contend/base/error.hpp"
#include "contend/base/interruption.hpp"
#include "contend/base/large_array.hpp"
#include "delay_lines.hpp"
#include "senders.hpp"
#include "state.hpp"
#include "waits.hpp"

namespace contend {

namespace packets {

namespace {

class Network {
 public:
  Network(const PacketRoutes& routes, std::span<const double> rate, const PacketModel& model)
      : model_(model),
        routes_(routes),
        chooses_(routes.chooses()),
        by_output_(model.queueing == Queueing::kByOutput),
        channels_(routes.channels),
        first_ejection_(static_cast<std::uint32_t>(routes.channels - routes.places)),
        first_injection_(static_cast<std::uint32_t>(routes.channels - 2 * routes.places)),
        random_(model.seed),
        senders_(routes, model.message_packets, model.drawn),
        delivered_(routes.first.size() - 1, 0),
        ended_(routes.first.size() - 1, kNever),
        exchanges_(model.exchanges && model.message_packets > 0),
        watches_(!model.watched.empty()) {
    for (const std::uint32_t channel : model.watched) {
      if (channel >= routes.channels) throw Error("watched channels that exist");
    }
    if (exchanges_) find_partners();
    waited_.resize(routes_.choices(), 0);
    if (watches_) held_.resize(by_output_ ? routes_.choices() : routes_.channel.size(), 0);
    make_queues();
    set_rates(rate);
    make_cells();
  }

  PacketFlows run() {
    start_hosts();
    std::uint32_t events = 0;
    while (const PacketEvent* event = lines_.next()) {
      if (event->time >= end_) break;
      now_ = event->time;
      if (!measures_ && now_ >= begin_) begin_measuring();
      const PacketEvent what = *event;
      lines_.pop();
      fetch_ahead();
      if (what.step != kNone) {
        arrive(what.channel, what.step);
      } else {
        sent(what.channel);
      }
      if ((++events & 0xFFFFu) == 0) check_interruption();
    }
    return results();
  }

 private:
  /// What events soon need, each from what is there by then: memory takes longer than an event.
  void fetch_ahead() const {
    if (const PacketEvent* event = lines_.ahead(24)) {
      __builtin_prefetch(&channels_[event->channel], 1);
      if (event->step != kNone && !by_output_) __builtin_prefetch(&queues_[event->channel], 1);
    }
    if (const PacketEvent* event = lines_.ahead(16)) {
      const Channel& channel = channels_[event->channel];
      if (event->step != kNone) {
        if (channel.free != kNone) __builtin_prefetch(&cells_[channel.free], 1);
        if (!chooses_) __builtin_prefetch(&channels_[routes_.channel[event->step + 1]], 1);
      } else if (channel.carries != kNone) {
        __builtin_prefetch(&queues_[channel.carries], 1);
        if (channel.waiting.first != kNone) __builtin_prefetch(&queues_[channel.waiting.first], 1);
      }
    }
    if (const PacketEvent* event = lines_.ahead(8); event != nullptr && event->step == kNone) {
      const Channel& channel = channels_[event->channel];
      if (channel.carries != kNone &&
          (event->channel < first_injection_ || event->channel >= first_ejection_)) {
        const Queue& queue = queues_[channel.carries];
        __builtin_prefetch(&channels_[queue.over], 1);
        __builtin_prefetch(&cells_[queue.packets.first], 1);
      }
    }
  }

  /// One for each channel, or for each two that packets cross one after the other.
  void make_queues() {
    if (!by_output_) {
      queues_.resize(channels_.size());
      for (std::uint32_t c = 0; c < queues_.size(); ++c) queues_[c].over = c;
      return;
    }
    std::vector<std::pair<std::uint64_t, std::uint32_t>> turns;
    routes_.for_each_choice([&](std::uint32_t step, std::uint32_t choice) {
      turns.emplace_back(routes_.turn(step, choice), choice);
    });
    std::sort(turns.begin(), turns.end());
    queue_of_.resize(routes_.choices(), kNone);
    std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
    for (const auto& [turn, choice] : turns) {
      if (turn != last) queues_.emplace_back().over = static_cast<std::uint32_t>(turn >> 32);
      last = turn;
      queue_of_[choice] = static_cast<std::uint32_t>(queues_.size() - 1);
    }
  }

  void set_rates(std::span<const double> rate) {
    if (rate.size() != channels_.size()) throw Error("a rate for every channel");
    std::vector<double> kinds(rate.begin(), rate.end());
    std::sort(kinds.begin(), kinds.end());
    kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
    if (!kinds.empty() && !(kinds.front() > 0)) throw Error("rates above 0");
    const auto ticks = [](double seconds) {
      return static_cast<Time>(std::llround(seconds * kTicksPerSecond));
    };
    for (const double kind : kinds) takes_.push_back(ticks(model_.packet_bytes / kind));
    const Time latency = ticks(model_.latency);
    for (const Time taken : takes_) sent_line_.push_back(lines_.add(taken));
    for (const Time over : takes_) {
      for (const Time then : takes_) {
        // A faster channel must not run out of bits before the packet has all come.
        arrival_line_.push_back(lines_.add(latency + (over > then ? over - then : 0)));
      }
    }
    const std::uint32_t room = model_.buffer > 0 ? model_.buffer : kNone;
    double slowest = std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < channels_.size(); ++c) {
      channels_[c].kind = static_cast<std::uint32_t>(
          std::lower_bound(kinds.begin(), kinds.end(), rate[c]) - kinds.begin());
      channels_[c].room = c < first_ejection_ ? room : kNone;
      if (c >= first_injection_) slowest = std::min(slowest, rate[c]);
    }
    blocked_.resize(channels_.size(), 0);
    port_rate_.assign(rate.begin() + first_injection_, rate.end());
    if (model_.message_packets == 0 || exchanges_) {
      const double packet =
          model_.packet_bytes / slowest * (exchanges_ ? model_.message_packets : 1);
      begin_ = ticks(model_.from * packet);
      end_ = ticks(model_.until * packet);
    }
  }

  /// Those of small buffers stand side by side; larger ones get theirs as they fill.
  void make_cells() {
    constexpr std::uint32_t kSmall = 256;
    const std::uint64_t cells = std::uint64_t{first_ejection_} * model_.buffer;
    if (model_.buffer == 0 || model_.buffer > kSmall || cells >= kNone) return;
    cells_.resize(cells);
    std::uint32_t cell = 0;
    for (std::uint32_t c = 0; c < first_ejection_; ++c) {
      channels_[c].free = cell;
      for (std::uint32_t k = 1; k < model_.buffer; ++k, ++cell) cells_[cell].behind = cell + 1;
      cells_[cell++].behind = kNone;
    }
  }

  /// At moments of their own within the time of a packet, or all at once.
  void start_hosts() {
    std::vector<std::pair<Time, std::uint32_t>> starts;
    for (std::uint32_t place = 0; place < routes_.places; ++place) {
      if (!senders_.has_any(place)) continue;
      const std::uint32_t channel = first_injection_ + place;
      const Time offset = model_.together ? 0 : random_.below(takes_[channels_[channel].kind]);
      starts.emplace_back(offset, channel);
    }
    std::sort(starts.begin(), starts.end());
    // As if a packet had just been sent.
    for (const auto& [time, channel] : starts) lines_.start({time, channel, kNone});
  }

  void begin_measuring() {
    measures_ = true;
    for (Channel& channel : channels_) {
      if (channel.blocked_since != kNever) channel.blocked_since = now_;
    }
  }

  // What happens.

  void arrive(std::uint32_t over, std::uint32_t step) {
    // In one queue a packet chooses when it is the first; else its choice is its queue.
    const std::uint32_t what = by_output_ ? choose(step) : step;
    const std::uint32_t number = by_output_ ? queue_of_[what] : over;
    const std::uint32_t cell = take_cell(channels_[over]);
    cells_[cell] = {what, kNone};
    // Of what is still there, the difference is the time.
    if (watches_) held_[what] -= std::max(now_, begin_);
    List& packets = queues_[number].packets;
    if (packets.first == kNone) {
      packets = {cell, cell};
      ask(number);
    } else {
      cells_[packets.last].behind = cell;
      packets.last = cell;
    }
  }

  std::uint32_t take_cell(Channel& over) {
    if (over.free == kNone) {
      cells_.push_back({0, kNone});
      return static_cast<std::uint32_t>(cells_.size() - 1);
    }
    const std::uint32_t cell = over.free;
    over.free = cells_[cell].behind;
    return cell;
  }

  std::uint32_t choose(std::uint32_t step) {
    std::uint32_t choice = routes_.choice_of(step);
    if (chooses_) {
      const std::uint32_t end = routes_.choices_end(step);
      if (end - choice > 1) choice = among(choice, end);
      ++channels_[routes_.channel_by(choice)].chosen;
    }
    return choice;
  }

  std::uint32_t among(std::uint32_t begin, std::uint32_t end) {
    const std::uint32_t count = end - begin;
    const auto start = static_cast<std::uint32_t>(random_.below(count));
    std::uint32_t best = begin + start;
    if (!model_.shortest) return best;
    // From a drawn one on, so that of several that are alike none is preferred.
    for (std::uint32_t k = 1; k < count; ++k) {
      const std::uint32_t at = begin + (start + k) % count;
      if (channels_[routes_.channel_by(at)].chosen < channels_[routes_.channel_by(best)].chosen)
        best = at;
    }
    return best;
  }

  /// The first packet of a queue wants to go on.
  void ask(std::uint32_t number) {
    Queue& queue = queues_[number];
    const std::uint32_t what = cells_[queue.packets.first].what;
    queue.choice = by_output_ ? what : choose(what);
    queue.since = now_;
    queue.behind = kNone;
    const std::uint32_t wanted = routes_.channel_by(queue.choice);
    List& waiting = channels_[wanted].waiting;
    if (waiting.first == kNone) {
      waiting.first = number;
    } else {
      queues_[waiting.last].behind = number;
    }
    waiting.last = number;
    try_to_send(wanted);
  }

  void try_to_send(std::uint32_t number) {
    Channel& channel = channels_[number];
    if (channel.carries != kNone) return;
    const bool injects = number >= first_injection_ && number < first_ejection_;
    const bool any =
        injects ? senders_.has_any(number - first_injection_) : channel.waiting.first != kNone;
    if (!any) return;
    if (channel.room == 0) {
      if (channel.blocked_since == kNever) channel.blocked_since = now_;
      return;
    }
    if (channel.blocked_since != kNever) {
      if (measures_) blocked_[number] += now_ - channel.blocked_since;
      channel.blocked_since = kNever;
    }
    std::uint32_t step;
    if (injects) {
      step = routes_.first[senders_.next(number - first_injection_, random_)];
      channel.carries = 0;
    } else {
      channel.carries = channel.waiting.first;
      const Queue& queue = queues_[channel.carries];
      channel.waiting.first = queue.behind;
      step = routes_.step_by(queue.choice);
      if (measures_) waited_[queue.choice] += now_ - std::max(queue.since, begin_);
      if (watches_) held_[cells_[queue.packets.first].what] += std::max(now_, begin_);
    }
    if (number < first_ejection_) {
      if (model_.buffer > 0) --channel.room;
      lines_.put(arrival_line_[channel.kind * takes_.size() + next_kind(step)], now_,
                 {0, number, step});
    }
    lines_.put(sent_line_[channel.kind], now_, {0, number, kNone});
  }

  /// Of the fastest channel that a packet may go on by.
  std::uint32_t next_kind(std::uint32_t step) const {
    if (takes_.size() == 1) return 0;
    std::uint32_t fastest = 0;
    for (std::uint32_t at = routes_.choice_of(step); at < routes_.choices_end(step); ++at) {
      fastest = std::max(fastest, channels_[routes_.channel_by(at)].kind);
    }
    return fastest;
  }

  void sent(std::uint32_t number) {
    Channel& channel = channels_[number];
    const std::uint32_t carried = channel.carries;
    channel.carries = kNone;
    if (carried != kNone) {
      if (measures_) ++channel.sent;
      ++hops_;
      if (number < first_injection_ || number >= first_ejection_) {
        if (number >= first_ejection_) {
          deliver(routes_.message[routes_.step_by(queues_[carried].choice)]);
        }
        if (chooses_) --channel.chosen;
        leave_buffer(carried);
      }
    }
    try_to_send(number);
  }

  /// The first packet of a queue has left the buffer.
  void leave_buffer(std::uint32_t number) {
    Queue& queue = queues_[number];
    const std::uint32_t cell = queue.packets.first;
    const std::uint32_t next = cells_[cell].behind;
    const std::uint32_t came_over = queue.over;
    Channel& over = channels_[came_over];
    queue.packets.first = next;
    cells_[cell].behind = over.free;
    over.free = cell;
    if (next != kNone) ask(number);
    if (model_.buffer > 0) {
      ++over.room;
      try_to_send(came_over);
    }
  }

  void deliver(std::uint32_t message) {
    if (exchanges_) {
      come(message);
      return;
    }
    if (measures_) ++delivered_[message];
    if (model_.message_packets > 0 && delivered_[message] == model_.message_packets) {
      ended_[message] = now_;
    }
  }

  /// A packet of a message that is exchanged.
  void come(std::uint32_t message) {
    ++delivered_[message];
    if (delivered_[message] % model_.message_packets != 0) return;
    const std::uint32_t other = partner_[message];
    if (other != kNone && delivered_[other] < delivered_[message]) return;
    const Time since = std::max(begin_, begun_[message]);
    if (now_ > since) {
      // Of the exchange in which measuring begins, the part behind.
      const double part =
          static_cast<double>(now_ - since) / static_cast<double>(now_ - begun_[message]);
      exchanged_[message] += part;
      if (other != kNone) exchanged_[other] += part;
    }
    for (const std::uint32_t one : {message, other}) {
      if (one == kNone) continue;
      begun_[one] = now_;
      const std::uint32_t channel = routes_.channel[routes_.first[one]];
      senders_.begin_again(one, channel - first_injection_, model_.message_packets);
      try_to_send(channel);
    }
  }

  void find_partners() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> by_ends;
    partner_.assign(delivered_.size(), kNone);
    begun_.assign(delivered_.size(), 0);
    exchanged_.assign(delivered_.size(), 0);
    for (std::uint32_t m = 0; m < delivered_.size(); ++m) {
      if (routes_.first[m] == routes_.first[m + 1]) continue;
      const auto [in, out] = ports(m);
      const auto other = by_ends.find({out, in});
      if (other == by_ends.end()) {
        by_ends[{in, out}] = m;
        continue;
      }
      partner_[m] = other->second;
      partner_[other->second] = m;
      by_ends.erase(other);
    }
  }

  // What is found.

  PacketFlows results() {
    PacketFlows found;
    const bool ends = model_.message_packets > 0 && !exchanges_;
    const Time until = ends ? now_ : end_;
    const auto time = static_cast<double>(until > begin_ ? until - begin_ : 1);
    const std::size_t messages = delivered_.size();
    found.share.resize(messages, 1);
    still_waiting(until);
    for (std::size_t m = 0; m < messages; ++m) {
      if (routes_.first[m] == routes_.first[m + 1]) continue;
      found.share[m] = share(m, ends ? std::min(ended_[m], until) : until - begin_);
    }
    tell_waits(routes_, waited_, time, found);
    if (watches_) {
      tell_watched(routes_, waited_, held_, by_output_, model_.watched, time, found);
    }
    for (std::size_t c = 0; c < channels_.size(); ++c) {
      const auto carried = static_cast<double>(channels_[c].sent * takes_[channels_[c].kind]);
      found.busy.push_back(std::min(1.0, carried / time));
      found.blocked.push_back(static_cast<double>(blocked_[c]) / time);
    }
    found.circle = waiting_circle(channels_, queues_, still_coming(), first_injection_);
    found.hops = hops_;
    return found;
  }

  /// The places that a message leaves and comes to.
  std::pair<std::uint32_t, std::uint32_t> ports(std::size_t m) const {
    const std::uint32_t in = routes_.channel[routes_.first[m]] - first_injection_;
    std::uint32_t out = in;
    for (std::uint32_t step = routes_.first[m]; step < routes_.first[m + 1]; ++step) {
      const std::uint32_t channel = routes_.channel[step];
      if (channel >= first_ejection_) out = channel - first_ejection_;
    }
    return {in, out};
  }

  /// What a message got of the slower of its two ports in some time.
  double share(std::size_t m, Time time) const {
    const auto [in, out] = ports(m);
    double packets = static_cast<double>(delivered_[m]);
    if (exchanges_) {
      packets = exchanged_[m] * model_.message_packets;
      time = begun_[m] > begin_ ? begun_[m] - begin_ : time;
    }
    const double bytes = packets * model_.packet_bytes;
    const double seconds = static_cast<double>(std::max<Time>(time, 1)) / kTicksPerSecond;
    return bytes / std::min(port_rate_[in], port_rate_[routes_.places + out]) / seconds;
  }

  /// Adds what waits at the end.
  void still_waiting(Time until) {
    if (watches_) still_held(std::max(until, begin_));
    for (std::size_t c = 0; c < channels_.size(); ++c) {
      const Channel& channel = channels_[c];
      if (channel.blocked_since != kNever) {
        blocked_[c] += until - std::min(until, std::max(channel.blocked_since, begin_));
      }
      for (std::uint32_t q = channel.waiting.first; q != kNone; q = queues_[q].behind) {
        const Queue& queue = queues_[q];
        waited_[queue.choice] += until - std::min(until, std::max(queue.since, begin_));
      }
    }
  }

  /// All that is in buffers but what is leaving.
  void still_held(Time until) {
    std::vector<std::uint8_t> leaves(queues_.size(), 0);
    for (std::uint32_t c = 0; c < channels_.size(); ++c) {
      const bool injects = c >= first_injection_ && c < first_ejection_;
      if (!injects && channels_[c].carries != kNone) leaves[channels_[c].carries] = 1;
    }
    for (std::uint32_t q = 0; q < queues_.size(); ++q) {
      std::uint32_t cell = queues_[q].packets.first;
      if (leaves[q] != 0) cell = cells_[cell].behind;
      for (; cell != kNone; cell = cells_[cell].behind) held_[cells_[cell].what] += until;
    }
  }

  /// Over which channels packets are under way that may find a way on: with a queue for each output
  /// they need not wait behind others.
  std::vector<std::uint8_t> still_coming() {
    std::vector<std::uint8_t> coming(channels_.size(), 0);
    for (; const PacketEvent* event = lines_.next(); lines_.pop()) {
      if (by_output_ && event->step != kNone) coming[event->channel] = 1;
    }
    return coming;
  }

  const PacketModel model_;
  const PacketRoutes& routes_;
  const bool chooses_;
  const bool by_output_;
  LargeArray<Channel> channels_;
  LargeArray<Queue> queues_;
  const std::uint32_t first_ejection_;
  const std::uint32_t first_injection_;
  Random random_;
  Senders senders_;
  std::vector<std::uint64_t> delivered_;  ///< packets of every message
  std::vector<Time> ended_;
  const bool exchanges_;
  std::vector<std::uint32_t> partner_;   ///< the message that goes the other way; kNone: none
  std::vector<Time> begun_;              ///< when the exchange of every message began
  std::vector<double> exchanged_;        ///< exchanges of every message since measuring began
  std::vector<std::uint32_t> queue_of_;  ///< by choice; empty where it is that of the channel
  std::vector<Time> takes_;
  std::vector<double> port_rate_;
  DelayLines lines_;
  std::vector<std::uint32_t> sent_line_;
  std::vector<std::uint32_t> arrival_line_;
  LargeArray<Cell> cells_;
  Time now_ = 0;
  Time begin_ = 0;
  Time end_ = kNever;
  bool measures_ = false;
  LargeArray<Time> waited_;
  const bool watches_;
  std::vector<Time> held_;  ///< how long packets waited, by step; by choice with a queue for each
  std::vector<Time> blocked_;
  std::uint64_t hops_ = 0;
};

}  // namespace

}  // namespace packets

PacketFlows packet_flows(const PacketRoutes& routes, std::span<const double> rate,
                         const PacketModel& model) {
  return packets::Network(routes, rate, model).run();
}

}  // namespace contend
