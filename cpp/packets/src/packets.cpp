#include "contend/packets/packets.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "contend/base/error.hpp"
#include "contend/base/interruption.hpp"
#include "contend/base/large_array.hpp"
#include "delay_lines.hpp"

namespace contend {

namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

struct List {
  std::uint32_t first = kNone;
  std::uint32_t last = kNone;
};

/// A packet in a buffer.
struct Cell {
  /// Its step on the channel that it came over; with a queue for every output, where it goes on.
  std::uint32_t what;
  std::uint32_t behind;  ///< the packet behind it in its queue
};

/// Packets at the far end of a channel; the first stays until all of it has left the switch.
struct Queue {
  List packets;
  std::uint32_t over = kNone;    ///< the channel that they came over
  std::uint32_t behind = kNone;  ///< the queue that waits after this one for the same channel
  std::uint32_t choice = 0;      ///< where the first packet goes on
  Time since = 0;                ///< when it was the first to be there
};

struct Channel {
  std::uint32_t room = 0;         ///< packets that its far end still takes
  std::uint32_t carries = kNone;  ///< the queue whose packet is leaving over it; kNone: it is idle
  List waiting;                   ///< queues whose first packet waits for it
  std::uint32_t free = kNone;     ///< an empty cell at its far end
  std::uint32_t chosen = 0;       ///< packets that have chosen it and not left
  std::uint32_t sent = 0;         ///< since measuring began
  std::uint32_t kind = 0;         ///< of its rate
  Time blocked_since = kNever;
};

/// xorshift64*, whose words are cheap; nothing here needs better ones.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 0x2545F4914F6CDD1Du) {}
  /// A number below `bound`.
  std::uint64_t below(std::uint64_t bound) {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return ((state_ * 0x2545F4914F6CDD1Du) >> 32) * bound >> 32;
  }

 private:
  std::uint64_t state_;
};

class Network {
 public:
  Network(const PacketRoutes& routes, std::span<const double> rate, const PacketModel& model)
      : model_(model),
        routes_(routes),
        chooses_(!routes.first_choice.empty()),
        by_output_(model.queueing == Queueing::kByOutput),
        channels_(routes.channels),
        first_ejection_(static_cast<std::uint32_t>(routes.channels - routes.places)),
        first_injection_(static_cast<std::uint32_t>(routes.channels - 2 * routes.places)),
        random_(model.seed) {
    list_messages();
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

  void list_messages() {
    const std::size_t messages = routes_.first.size() - 1;
    waited_.resize(choices(), 0);
    delivered_.resize(messages, 0);
    ended_.resize(messages, kNever);
    left_.resize(messages, model_.message_packets);
    // Messages by the place that sends them.
    const std::size_t places = first_ejection_ - first_injection_;
    first_of_place_.resize(places + 1, 0);
    const auto place_of = [&](std::size_t m) {
      return routes_.channel[routes_.first[m]] - first_injection_;
    };
    const auto travels = [&](std::size_t m) { return routes_.first[m] != routes_.first[m + 1]; };
    for (std::size_t m = 0; m < messages; ++m) {
      if (travels(m)) ++first_of_place_[place_of(m) + 1];
    }
    std::partial_sum(first_of_place_.begin(), first_of_place_.end(), first_of_place_.begin());
    of_place_.resize(first_of_place_.back());
    auto at = first_of_place_;
    for (std::size_t m = 0; m < messages; ++m) {
      if (travels(m)) of_place_[at[place_of(m)]++] = static_cast<std::uint32_t>(m);
    }
    turn_.assign(first_of_place_.begin(), first_of_place_.end() - 1);
    unsent_.resize(places);
    for (std::size_t place = 0; place < places; ++place) {
      unsent_[place] = first_of_place_[place + 1] - first_of_place_[place];
    }
  }

  // Choices are numbered: those of routes with one way by the step that they lead on from.

  std::size_t choices() const { return chooses_ ? routes_.then.size() : routes_.channel.size(); }
  std::uint32_t first_choice(std::uint32_t step) const {
    return chooses_ ? routes_.first_choice[step] : step;
  }
  std::uint32_t step_by(std::uint32_t choice) const {
    return chooses_ ? routes_.then[choice] : choice + 1;
  }
  std::uint32_t channel_by(std::uint32_t choice) const { return routes_.channel[step_by(choice)]; }
  /// Calls look(step, choice) for every one.
  template <class Look>
  void for_each_choice(const Look& look) const {
    for (std::uint32_t step = 0; step < routes_.channel.size(); ++step) {
      if (routes_.channel[step] >= first_ejection_) continue;
      const std::uint32_t end = chooses_ ? routes_.first_choice[step + 1] : step + 1;
      for (std::uint32_t choice = first_choice(step); choice < end; ++choice) look(step, choice);
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
    for_each_choice([&](std::uint32_t step, std::uint32_t choice) {
      turns.emplace_back(std::uint64_t{routes_.channel[step]} << 32 | channel_by(choice), choice);
    });
    std::sort(turns.begin(), turns.end());
    queue_of_.resize(choices(), kNone);
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
    if (model_.message_packets == 0) {
      const double packet = model_.packet_bytes / slowest;
      begin_ = ticks(model_.from * packet);
      end_ = ticks(model_.until * packet);
    }
  }

  /// Those of a buffer stand side by side, where there is a limit.
  void make_cells() {
    if (model_.buffer == 0) return;
    if (std::uint64_t{first_ejection_} * model_.buffer >= kNone) {
      throw Error("room for fewer than 2^32 packets in all buffers together");
    }
    cells_.resize(std::size_t{first_ejection_} * model_.buffer);
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
    for (std::uint32_t place = 0; place < unsent_.size(); ++place) {
      if (unsent_[place] == 0) continue;
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
      // Without a limit a buffer grows.
      cells_.push_back({0, kNone});
      return static_cast<std::uint32_t>(cells_.size() - 1);
    }
    const std::uint32_t cell = over.free;
    over.free = cells_[cell].behind;
    return cell;
  }

  std::uint32_t choose(std::uint32_t step) {
    std::uint32_t choice = first_choice(step);
    if (chooses_) {
      const std::uint32_t end = routes_.first_choice[step + 1];
      if (end - choice > 1) choice = among(choice, end);
      ++channels_[channel_by(choice)].chosen;
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
      if (channels_[channel_by(at)].chosen < channels_[channel_by(best)].chosen) best = at;
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
    const std::uint32_t wanted = channel_by(queue.choice);
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
    if (injects ? unsent_[number - first_injection_] == 0 : channel.waiting.first == kNone) return;
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
      step = routes_.first[next_message(number - first_injection_)];
      channel.carries = 0;
    } else {
      channel.carries = channel.waiting.first;
      const Queue& queue = queues_[channel.carries];
      channel.waiting.first = queue.behind;
      step = step_by(queue.choice);
      if (measures_) waited_[queue.choice] += now_ - std::max(queue.since, begin_);
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
    if (!chooses_) return channels_[routes_.channel[step + 1]].kind;
    std::uint32_t fastest = 0;
    for (std::uint32_t at = routes_.first_choice[step]; at < routes_.first_choice[step + 1]; ++at) {
      fastest = std::max(fastest, channels_[channel_by(at)].kind);
    }
    return fastest;
  }

  std::uint32_t next_message(std::uint32_t place) {
    const std::uint32_t begin = first_of_place_[place];
    const std::uint32_t end = first_of_place_[place + 1];
    std::uint32_t& turn = turn_[place];
    if (model_.drawn) turn = begin + static_cast<std::uint32_t>(random_.below(end - begin));
    const bool ends = model_.message_packets > 0;
    while (ends && left_[of_place_[turn]] == 0) turn = turn + 1 < end ? turn + 1 : begin;
    const std::uint32_t message = of_place_[turn];
    turn = turn + 1 < end ? turn + 1 : begin;
    if (ends && --left_[message] == 0) --unsent_[place];
    return message;
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
          deliver(routes_.message[step_by(queues_[carried].choice)]);
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
    if (measures_) ++delivered_[message];
    if (model_.message_packets > 0 && delivered_[message] == model_.message_packets) {
      ended_[message] = now_;
    }
  }

  // What is found.

  PacketFlows results() {
    PacketFlows found;
    const bool ends = model_.message_packets > 0;
    const Time until = ends ? now_ : end_;
    const auto time = static_cast<double>(until > begin_ ? until - begin_ : 1);
    const std::size_t messages = delivered_.size();
    found.share.resize(messages, 1);
    found.held_up.resize(messages, static_cast<std::uint32_t>(channels_.size()));
    found.waited.resize(messages, 0);
    still_waiting(until);
    for (std::size_t m = 0; m < messages; ++m) {
      if (routes_.first[m] == routes_.first[m + 1]) continue;
      found.share[m] = share(m, ends ? std::min(ended_[m], until) : until - begin_);
    }
    std::vector<Time> longest(messages, 0);
    for_each_choice([&](std::uint32_t step, std::uint32_t choice) {
      const std::uint32_t m = routes_.message[step];
      if (waited_[choice] <= longest[m]) return;
      longest[m] = waited_[choice];
      found.held_up[m] = channel_by(choice);
      found.waited[m] = static_cast<double>(longest[m]) / time;
    });
    for (std::size_t c = 0; c < channels_.size(); ++c) {
      const auto carried = static_cast<double>(channels_[c].sent * takes_[channels_[c].kind]);
      found.busy.push_back(std::min(1.0, carried / time));
      found.blocked.push_back(static_cast<double>(blocked_[c]) / time);
    }
    found.then = longest_waits();
    found.circle = circle();
    found.hops = hops_;
    return found;
  }

  /// What a message got of the slower of its two ports in some time.
  double share(std::size_t m, Time time) const {
    const std::uint32_t in = routes_.channel[routes_.first[m]] - first_injection_;
    std::uint32_t out = in;
    for (std::uint32_t step = routes_.first[m]; step < routes_.first[m + 1]; ++step) {
      const std::uint32_t channel = routes_.channel[step];
      if (channel >= first_ejection_) out = channel - first_injection_;
    }
    const double bytes = static_cast<double>(delivered_[m]) * model_.packet_bytes;
    const double seconds = static_cast<double>(std::max<Time>(time, 1)) / kTicksPerSecond;
    return bytes / std::min(port_rate_[in], port_rate_[out]) / seconds;
  }

  /// For every channel, where packets that came over it waited longest.
  std::vector<std::uint32_t> longest_waits() const {
    const auto none = static_cast<std::uint32_t>(channels_.size());
    std::vector<std::pair<std::uint64_t, Time>> turns;  // over one channel and on by another
    for_each_choice([&](std::uint32_t step, std::uint32_t choice) {
      if (waited_[choice] == 0) return;
      turns.emplace_back(std::uint64_t{routes_.channel[step]} << 32 | channel_by(choice),
                         waited_[choice]);
    });
    std::sort(turns.begin(), turns.end());
    std::vector<std::uint32_t> then(channels_.size(), none);
    std::vector<Time> most(channels_.size(), 0);
    for (std::size_t at = 0; at < turns.size();) {
      const std::uint64_t turn = turns[at].first;
      Time sum = 0;
      for (; at < turns.size() && turns[at].first == turn; ++at) sum += turns[at].second;
      const std::uint64_t from = turn >> 32;
      if (sum <= most[from]) continue;
      most[from] = sum;
      then[from] = static_cast<std::uint32_t>(turn);
    }
    return then;
  }

  /// Adds what waits at the end.
  void still_waiting(Time until) {
    for (std::size_t c = 0; c < channels_.size(); ++c) {
      const Channel& channel = channels_[c];
      if (channel.blocked_since != kNever) {
        blocked_[c] += until - std::min(until, std::max(channel.blocked_since, begin_));
      }
      for_each_waiting(channel, [&](const Queue& queue) {
        waited_[queue.choice] += until - std::min(until, std::max(queue.since, begin_));
      });
    }
  }

  template <class Look>
  void for_each_waiting(const Channel& channel, const Look& look) const {
    for (std::uint32_t at = channel.waiting.first; at != kNone; at = queues_[at].behind) {
      look(queues_[at]);
    }
  }

  /// Channels are stuck whose far ends are full of packets that all wait for stuck channels.
  std::vector<std::uint32_t> circle() const {
    std::vector<std::uint32_t> stuck_on(channels_.size(), kNone);
    std::vector<std::uint8_t> stuck(channels_.size());
    for (std::size_t c = 0; c < channels_.size(); ++c) {
      stuck[c] = channels_[c].room == 0 && channels_[c].carries == kNone;
    }
    for (bool changed = true; changed;) {
      changed = false;
      std::vector<std::uint8_t> moves(channels_.size(), 0);
      for (std::uint32_t c = 0; c < channels_.size(); ++c) {
        if (channels_[c].carries != kNone && c < first_injection_) {
          moves[queues_[channels_[c].carries].over] = 1;
        }
        for_each_waiting(channels_[c], [&](const Queue& queue) {
          const std::uint32_t from = queue.over;
          if (stuck[c]) {
            stuck_on[from] = c;
          } else {
            moves[from] = 1;
          }
        });
      }
      for (std::uint32_t c = 0; c < channels_.size(); ++c) {
        if (stuck[c] && (moves[c] || stuck_on[c] == kNone)) stuck[c] = 0, changed = true;
      }
    }
    for (std::uint32_t c = 0; c < channels_.size(); ++c) {
      if (!stuck[c]) continue;
      // From any stuck channel on one comes to a circle.
      std::vector<std::uint32_t> way;
      std::vector<std::uint8_t> seen(channels_.size(), 0);
      for (; !seen[c]; c = stuck_on[c]) {
        seen[c] = 1;
        way.push_back(c);
      }
      return {std::find(way.begin(), way.end(), c), way.end()};
    }
    return {};
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
  std::vector<std::uint32_t> queue_of_;  ///< by choice; empty where it is that of the channel
  std::vector<std::uint32_t> first_of_place_;
  std::vector<std::uint32_t> of_place_;
  std::vector<std::uint32_t> turn_;
  std::vector<std::uint32_t> unsent_;  ///< messages of a place that have packets to send
  std::vector<std::uint32_t> left_;
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
  std::vector<std::uint64_t> delivered_;
  std::vector<Time> ended_;
  LargeArray<Time> waited_;
  std::vector<Time> blocked_;
  std::uint64_t hops_ = 0;
};

}  // namespace

PacketFlows packet_flows(const PacketRoutes& routes, std::span<const double> rate,
                         const PacketModel& model) {
  return Network(routes, rate, model).run();
}

}  // namespace contend
