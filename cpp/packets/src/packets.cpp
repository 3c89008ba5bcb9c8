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
#include "contend/packets/random.hpp"
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
        detours_(routes.detours.get()),
        chooses_(routes.chooses()),
        counts_(chooses_ || detours_ != nullptr),
        by_output_(model.queueing == Queueing::kByOutput),
        links_(checked_links(routes)),
        channels_(links_ * routes.lanes),
        channel_(routes.channel.data()),
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
    if (detours_ != nullptr) {
      stride_ = static_cast<std::uint32_t>(detours_->longest());
      drawn_.resize(2 * stride_);
    } else {
      waited_.resize(routes_.choices(), 0);
    }
    if (watches_ && detours_ == nullptr) {
      held_.resize(by_output_ ? routes_.choices() : routes_.channel.size(), 0);
    }
    turn_.resize(routes_.rule == Choice::kInTurn ? delivered_.size() : 0, 0);
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
      if (what.step < kCredit) {
        arrive(what.channel, what.step);
      } else if (what.step == kCredit) {
        ++channels_[what.channel].room;
        try_to_send(routes_.cable(what.channel));
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
      if (event->step < kCredit && !by_output_) __builtin_prefetch(&queues_[event->channel], 1);
    }
    if (const PacketEvent* event = lines_.ahead(16)) {
      const Channel& channel = channels_[event->channel];
      if (event->step < kCredit) {
        if (channel.free != kNone) __builtin_prefetch(&cells_[channel.free], 1);
        if (!chooses_) __builtin_prefetch(&channels_[channel_[event->step + 1]], 1);
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

  static std::uint32_t checked_links(const PacketRoutes& routes) {
    if (std::uint64_t{routes.channels} * routes.lanes >= kNone) {
      throw Error("fewer than 2^32 channels on all lanes together");
    }
    return static_cast<std::uint32_t>(routes.channels);
  }

  /// One for each channel and lane, or for each two that packets cross one after the other.
  void make_queues() {
    if (!by_output_) {
      queues_.resize(channels_.size());
      for (std::uint32_t c = 0; c < queues_.size(); ++c) queues_[c].over = c;
      return;
    }
    if (detours_ != nullptr) {
      // The lane that a packet goes on by follows from the channels.
      for (std::uint32_t c = 0; c < channels_.size(); ++c) {
        first_queue_.push_back(static_cast<std::uint32_t>(queues_.size()));
        if (routes_.cable(c) >= first_ejection_) continue;
        queues_.resize(queues_.size() + detours_->ways_on(routes_.cable(c)));
        for (std::size_t q = first_queue_[c]; q < queues_.size(); ++q) queues_[q].over = c;
      }
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
    if (rate.size() != links_) throw Error("a rate for every channel");
    if (!model_.flight.empty() && model_.flight.size() != links_) {
      throw Error("a time for every cable");
    }
    const auto ticks = [](double seconds) {
      return static_cast<Time>(std::llround(seconds * kTicksPerSecond));
    };
    // Channels of a kind are alike in rate, faster ones last, and in flight.
    using Kind = std::pair<double, Time>;
    const auto kind_of = [&](std::size_t c) {
      return Kind{rate[c], model_.flight.empty() ? 0 : ticks(model_.flight[c])};
    };
    std::vector<Kind> kinds;
    for (std::size_t c = 0; c < links_; ++c) {
      if (kinds.empty() || kinds.back() != kind_of(c)) kinds.push_back(kind_of(c));
    }
    std::sort(kinds.begin(), kinds.end());
    kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
    if (!kinds.empty() && !(kinds.front().first > 0)) throw Error("rates above 0");
    for (const Kind& kind : kinds) takes_.push_back(ticks(model_.packet_bytes / kind.first));
    const Time latency = ticks(model_.latency);
    for (const Time taken : takes_) sent_line_.push_back(lines_.add(taken));
    for (std::size_t over = 0; over < kinds.size(); ++over) {
      const Time flight = kinds[over].second;
      for (const Time then : takes_) {
        // A faster channel must not run out of bits before the packet has all come.
        const Time behind = takes_[over] > then ? takes_[over] - then : 0;
        arrival_line_.push_back(lines_.add(flight + latency + behind));
      }
      credit_line_.push_back(flight > 0 ? lines_.add(flight) : 0);
      in_flight_.push_back(static_cast<std::uint32_t>((flight + takes_[over] - 1) / takes_[over]));
    }
    const std::uint32_t room = model_.buffer > 0 ? model_.buffer : kNone;
    double slowest = std::numeric_limits<double>::infinity();
    for (std::uint32_t c = 0; c < channels_.size(); ++c) {
      const std::uint32_t cable = routes_.cable(c);
      channels_[c].kind = static_cast<std::uint32_t>(
          std::lower_bound(kinds.begin(), kinds.end(), kind_of(cable)) - kinds.begin());
      channels_[c].room = cable < first_ejection_ ? room : kNone;
      if (cable >= first_injection_) slowest = std::min(slowest, rate[cable]);
    }
    blocked_.resize(links_, 0);
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
    const std::uint64_t cells = std::uint64_t{first_ejection_} * model_.buffer * routes_.lanes;
    if (model_.buffer == 0 || model_.buffer > kSmall || cells >= kNone) return;
    cells_.resize(cells);
    std::uint32_t cell = 0;
    for (std::uint32_t c = 0; c < channels_.size(); ++c) {
      if (routes_.cable(c) >= first_ejection_) continue;
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
    const std::uint32_t number = by_output_ ? queue_of(over, what) : over;
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

  std::uint32_t queue_of(std::uint32_t over, std::uint32_t choice) const {
    if (detours_ == nullptr) return queue_of_[choice];
    return first_queue_[over] + detours_->number_of(routes_.cable(channel_by(choice)));
  }

  // Where packets go. Those of detours have steps of their own, which end with the packet.

  std::uint32_t channel_by(std::uint32_t choice) const {
    return chooses_ ? routes_.channel_by(choice) : channel_[choice + 1];
  }
  std::uint32_t step_by(std::uint32_t choice) const {
    return chooses_ ? routes_.then[choice] : choice + 1;
  }
  std::uint32_t message_of(std::uint32_t step) const {
    return detours_ == nullptr ? routes_.message[step] : owner_[step / stride_];
  }

  /// The step of a packet that leaves its host.
  std::uint32_t first_step(std::uint32_t message) {
    const std::uint32_t first = routes_.first[message];
    if (detours_ == nullptr) return first;
    if (free_ways_.empty()) {
      free_ways_.push_back(static_cast<std::uint32_t>(owner_.size()));
      owner_.push_back(kNone);
      ways_.resize(ways_.size() + stride_);
      waited_.resize(waited_.size() + stride_, 0);
      if (watches_) held_.resize(waited_.size(), 0);
      channel_ = ways_.data();
    }
    const std::uint32_t way = free_ways_.back();
    free_ways_.pop_back();
    owner_[way] = message;
    // It has no way yet but to come.
    ways_[std::size_t{way} * stride_] = routes_.channel[first];
    ways_[std::size_t{way} * stride_ + 1] = routes_.channel[first + 1];
    return way * stride_;
  }

  void draw_way(std::uint32_t step) {
    const std::uint32_t first = routes_.first[owner_[step / stride_]];
    const auto waiting = [&](std::uint32_t channel) {
      std::uint64_t held = channels_[routes_.cable(channel)].chosen;
      for (std::uint32_t c = routes_.cable(channel); c < channels_.size(); c += links_) {
        held += room() - channels_[c].room;
      }
      return held;
    };
    const std::uint32_t* const end = detours_->draw(routes_.channel[first] - first_injection_,
                                                    routes_.channel[first + 1] - first_ejection_,
                                                    random_, waiting, drawn_.data());
    std::copy(static_cast<const std::uint32_t*>(drawn_.data()), end, ways_.begin() + step + 1);
  }

  /// A packet of a detour has come, or none other will.
  void end_way(std::uint32_t way) {
    std::uint32_t step = way * stride_;
    for (; routes_.cable(channel_[step]) < first_ejection_; ++step) {
      if (measures_) {
        waits_.push_back({owner_[way], routes_.cable(channel_[step]),
                          routes_.cable(channel_[step + 1]), waited_[step],
                          watches_ ? held_[step] : 0});
      }
      waited_[step] = 0;
      if (watches_) held_[step] = 0;
    }
    owner_[way] = kNone;
    free_ways_.push_back(way);
    if (waits_.size() < most_waits_) return;
    join_waits(waits_);
    most_waits_ = std::max(most_waits_, 2 * waits_.size());
  }

  std::uint32_t room() const { return model_.buffer > 0 ? model_.buffer : kNone; }

  std::uint32_t choose(std::uint32_t step) {
    std::uint32_t choice = routes_.choice_of(step);
    if (chooses_) {
      const std::uint32_t end = routes_.choices_end(step);
      if (end - choice > 1) choice = among(step, choice, end);
    } else if (detours_ != nullptr && step % stride_ == 0) {
      draw_way(step);
    }
    if (counts_) ++channels_[routes_.cable(channel_by(choice))].chosen;
    return choice;
  }

  std::uint32_t among(std::uint32_t step, std::uint32_t begin, std::uint32_t end) {
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
    try_to_send(routes_.cable(wanted));
  }

  void try_to_send(std::uint32_t number) {
    Channel& channel = channels_[number];
    if (channel.carries != kNone) return;
    std::uint32_t step = kNone;
    std::uint32_t onto = number;
    if (number >= first_injection_ && number < first_ejection_) {
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
      const Queue& queue = queues_[channel.carries];
      waiting.first = queue.behind;
      step = step_by(queue.choice);
      if (measures_) waited_[queue.choice] += now_ - std::max(queue.since, begin_);
      if (watches_) held_[cells_[queue.packets.first].what] += std::max(now_, begin_);
    }
    if (channel.blocked_since != kNever) {
      if (measures_) blocked_[number] += now_ - channel.blocked_since;
      channel.blocked_since = kNever;
    }
    if (number < first_ejection_) {
      --channels_[onto].room;
      lines_.put(arrival_line_[channel.kind * takes_.size() + next_kind(step)], now_,
                 {0, onto, step});
    }
    lines_.put(sent_line_[channel.kind], now_, {0, number, kNone});
  }

  void block(Channel& channel) const {
    if (channel.blocked_since == kNever) channel.blocked_since = now_;
  }

  /// Of the lanes of a channel with room for a packet that waits, the one whose packet has waited
  /// longest; kNone where packets wait, and none has room; the channel itself where none wait.
  std::uint32_t lane_to_send(std::uint32_t number) const {
    std::uint32_t best = kNone;
    bool any = false;
    for (std::uint32_t c = number; c < channels_.size(); c += links_) {
      const std::uint32_t first = channels_[c].waiting.first;
      if (first == kNone) continue;
      any = true;
      if (channels_[c].room == 0) continue;
      if (best == kNone || queues_[first].since < queues_[channels_[best].waiting.first].since) {
        best = c;
      }
    }
    return any ? best : number;
  }

  /// Of the fastest channel that a packet may go on by.
  std::uint32_t next_kind(std::uint32_t step) const {
    if (takes_.size() == 1) return 0;
    if (detours_ != nullptr) {
      // Nobody knows yet which way it goes from its first switch.
      return step % stride_ == 0 ? static_cast<std::uint32_t>(takes_.size() - 1)
                                 : channels_[channel_[step + 1]].kind;
    }
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
          const std::uint32_t step = step_by(queues_[carried].choice);
          const std::uint32_t message = message_of(step);
          if (detours_ != nullptr) end_way(step / stride_);
          deliver(message);
        }
        if (counts_) --channel.chosen;
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
    // Where there is room for all that can be sent until then, it makes no difference.
    if (over.room < in_flight_[over.kind]) {
      lines_.put(credit_line_[over.kind], now_, {0, came_over, kCredit});
      return;
    }
    ++over.room;
    if (model_.buffer > 0) try_to_send(routes_.cable(came_over));
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
      const std::uint32_t channel = routes_.cable(routes_.channel[routes_.first[one]]);
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
    gather_waits(found);
    if (watches_) tell_watched(waits_, model_.watched, links_, time, found);
    tell_waits(waits_, links_, time, found);
    for (std::size_t c = 0; c < links_; ++c) {
      const auto carried = static_cast<double>(channels_[c].sent * takes_[channels_[c].kind]);
      found.busy.push_back(std::min(1.0, carried / time));
      found.blocked.push_back(static_cast<double>(blocked_[c]) / time);
    }
    found.circle = waiting_circle(channels_, queues_, still_coming(), links_, first_injection_);
    found.hops = hops_;
    return found;
  }

  /// The places that a message leaves and comes to.
  std::pair<std::uint32_t, std::uint32_t> ports(std::size_t m) const {
    const std::uint32_t in = routes_.cable(routes_.channel[routes_.first[m]]) - first_injection_;
    std::uint32_t out = in;
    for (std::uint32_t step = routes_.first[m]; step < routes_.first[m + 1]; ++step) {
      const std::uint32_t channel = routes_.cable(routes_.channel[step]);
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

  /// What packets waited for, by message and by the channels that they came over and went on by.
  void gather_waits(PacketFlows& found) {
    if (detours_ != nullptr) {
      for (std::uint32_t way = 0; way < owner_.size(); ++way) {
        if (owner_[way] != kNone) end_way(way);
      }
      join_waits(waits_);
      for (const Wait& wait : waits_) {
        const bool again = !found.crossed.empty() && found.crossed.back() == wait.wanted &&
                           found.crossed_by.back() == wait.message;
        if (again) continue;
        found.crossed.push_back(wait.wanted);
        found.crossed_by.push_back(wait.message);
      }
      return;
    }
    routes_.for_each_choice([&](std::uint32_t step, std::uint32_t choice) {
      const Time held = watches_ ? held_for(step, choice) : 0;
      if (waited_[choice] == 0 && held == 0) return;
      waits_.push_back({routes_.message[step], routes_.cable(routes_.channel[step]),
                        routes_.cable(routes_.channel_by(choice)), waited_[choice], held});
    });
    join_waits(waits_);
  }

  /// How long packets that chose so were in buffers. Where a packet in one queue chooses when it is
  /// the first, those behind count for its message's choices as the first ones waited for these.
  Time held_for(std::uint32_t step, std::uint32_t choice) const {
    if (by_output_) return held_[choice];
    const std::uint32_t begin = routes_.choice_of(step);
    const std::uint32_t end = routes_.choices_end(step);
    if (end - begin < 2) return held_[step];
    Time all = 0;
    for (std::uint32_t at = begin; at < end; ++at) all += waited_[at];
    const double part =
        all > 0 ? static_cast<double>(waited_[choice]) / static_cast<double>(all) : 0;
    return static_cast<Time>(part * static_cast<double>(held_[step]));
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
      if (by_output_ && event->step < kCredit) coming[event->channel] = 1;
      if (event->step == kCredit) ++channels_[event->channel].room;
    }
    return coming;
  }

  const PacketModel model_;
  const PacketRoutes& routes_;
  const Detours* const detours_;
  const bool chooses_;
  const bool counts_;  ///< packets that have chosen a channel
  const bool by_output_;
  const std::uint32_t links_;     ///< channels, whatever the lane
  LargeArray<Channel> channels_;  ///< by lane and channel; what is of all lanes by the first
  const std::uint32_t* channel_;  ///< by step
  LargeArray<Queue> queues_;
  const std::uint32_t first_ejection_;
  const std::uint32_t first_injection_;
  Random random_;
  Senders senders_;
  std::vector<std::uint64_t> delivered_;  ///< packets of every message
  std::vector<Time> ended_;
  const bool exchanges_;
  std::vector<std::uint32_t> partner_;      ///< the message that goes the other way; kNone: none
  std::vector<Time> begun_;                 ///< when the exchange of every message began
  std::vector<double> exchanged_;           ///< exchanges of every message since measuring began
  std::vector<std::uint32_t> queue_of_;     ///< by choice; empty where it is that of the channel
  std::vector<std::uint32_t> first_queue_;  ///< by channel and lane, of detours
  std::vector<std::uint32_t> turn_;         ///< by message
  std::uint32_t stride_ = 1;                ///< steps of a way
  std::vector<std::uint32_t> drawn_;
  std::vector<std::uint32_t> ways_;   ///< of packets under way, stride_ each
  std::vector<std::uint32_t> owner_;  ///< message by way
  std::vector<std::uint32_t> free_ways_;
  std::vector<Wait> waits_;
  std::size_t most_waits_ = std::size_t{1} << 20;
  std::vector<Time> takes_;
  std::vector<double> port_rate_;
  DelayLines lines_;
  std::vector<std::uint32_t> sent_line_;
  std::vector<std::uint32_t> arrival_line_;
  std::vector<std::uint32_t> credit_line_;  ///< by kind
  std::vector<std::uint32_t> in_flight_;    ///< packets that begin in the time of flight, by kind
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
