#include "contend/schedule/carry_out.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "buckets.hpp"
#include "contend/base/error.hpp"
#include "contend/congestion/flows.hpp"
#include "crowds.hpp"
#include "events.hpp"
#include "processors.hpp"
#include "roads.hpp"

namespace contend {

namespace {

/// What begins and ends within this time shares channels as if at once: symmetrical schedules find
/// shares once and not for every rank.
constexpr double kTogether = 1e-10;
/// Messages of so few bytes are no flows: they wait behind others, and take nothing from them.
constexpr double kLight = 256;
/// A channel is full from this part of its rate on.
constexpr double kFull = 0.999;
constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

/// What travels of a message.
enum class Part : std::uint32_t { ahead, answer };

struct Message {
  const MessageClass* of_class = nullptr;
  std::uint32_t flow = kNone;
  std::uint32_t version = 0;
  double bytes = 0;  ///< its own
  double rest = 0;   ///< on the wire
  double rate = 0;
  double updated = 0;
  bool posted = false;   ///< its receive
  bool asked = false;    ///< the receiver knows that it wants to come
  bool allowed = false;  ///< the sender knows that it may
  bool arrived = false;
  bool sent = false;  ///< its send has ended
};

struct Strand {
  std::uint64_t next = 0;
  std::uint64_t begun = 0;
  std::uint64_t ended = 0;
  bool waits = false;
  double since = 0;  ///< when it began to wait
  /// Parts of messages that have come while it did not look, first and last.
  std::uint32_t unseen = kNone;
  std::uint32_t last_unseen = kNone;
  bool spent = false;  ///< its next operation has had its processor for as long as it takes
};

class Carrier {
 public:
  Carrier(const Schedule& schedule, const Network& network, const Costs& costs);
  Outcome carry_out();

 private:
  void run(std::uint32_t strand);
  bool is_over(const Strand& strand, std::uint64_t first, std::uint64_t operation) const;
  bool spend(std::uint32_t strand, double seconds);
  void work(const Job& job);
  void emit(std::uint32_t message);
  void post(std::uint32_t message);
  void end_send(std::uint32_t message);
  void complete(std::uint64_t operation, std::uint32_t strand);

  void enter(std::uint32_t message, Part part);
  void depart(std::uint32_t road);
  bool is_data(std::uint32_t message, Part part) const {
    return part == Part::ahead &&
           (messages_[message].of_class->eager || messages_[message].allowed);
  }
  bool start(std::uint32_t message, Part part);
  double behind(std::size_t route) const;
  void arrive(std::uint32_t message, Part part);
  void look(Strand& strand);
  void see(std::uint32_t message, Part part);
  void handle(std::uint32_t message, Part part);
  void leave(std::uint32_t message);
  void share_out();

  const MessageClass& class_of(double bytes, bool within) const;
  std::uint32_t rank_of(std::uint32_t strand) const { return schedule_.rank_of_strand[strand]; }
  std::uint32_t group_of(std::uint32_t strand) const {
    return costs_.processor_of_rank[rank_of(strand)];
  }
  std::uint32_t strand_at(std::uint32_t message, Part part) const {
    return part == Part::ahead ? matches_[message].target : matches_[message].source;
  }
  double rest_of(std::uint32_t flow) const {
    const Message& message = messages_[owner_[flow]];
    return std::max(message.rest - message.rate * (now_ - message.updated), 0.0);
  }
  [[noreturn]] void refuse_deadlock() const;

  const Schedule& schedule_;
  const Network& network_;
  const Costs& costs_;
  std::vector<Match> matches_;
  Roads roads_;
  Flows flows_;
  Buckets buckets_;
  Events events_;
  double now_ = 0;
  double touched_at_ = 0;
  std::vector<Message> messages_;
  std::vector<Strand> strands_;
  std::vector<std::uint32_t> message_of_;  ///< by operation
  std::vector<std::uint8_t> done_;         ///< by operation
  std::vector<std::uint32_t> next_unseen_;
  std::vector<std::uint32_t> owner_;  ///< message of a flow
  std::vector<double> port_free_;     ///< by place
  Crowds crowds_;
  Processors processors_;
  Outcome outcome_;
};

Carrier::Carrier(const Schedule& schedule, const Network& network, const Costs& costs)
    : schedule_(schedule),
      network_(network),
      costs_(costs),
      matches_(match(schedule)),
      roads_(schedule, network, matches_),
      flows_(roads_.crossings(), network.rate),
      buckets_(network, flows_),
      messages_(matches_.size()),
      strands_(schedule.strands()),
      message_of_(schedule.operations(), kNone),
      done_(schedule.operations(), 0),
      next_unseen_(2 * matches_.size(), kNone),
      port_free_(network.resolver.places(), 0.0),
      crowds_(roads_.crossings().channels()),
      processors_(costs.processors) {
  for (std::uint32_t m = 0; m < matches_.size(); ++m) {
    message_of_[matches_[m].send] = m;
    message_of_[matches_[m].receive] = m;
    Message& message = messages_[m];
    message.bytes = schedule.amount[matches_[m].send];
    message.of_class = &class_of(message.bytes, roads_.within(m));
    message.rest = message.of_class->extra + message.of_class->stretch * message.bytes;
  }
  outcome_.rank_end.assign(network.place_of_rank.size(), 0.0);
  outcome_.operation_end.assign(schedule.operations(), 0.0);
  outcome_.channel_bytes.assign(roads_.crossings().channels(), 0.0);
  outcome_.messages = matches_.size();
}

const MessageClass& Carrier::class_of(double bytes, bool within) const {
  const std::vector<MessageClass>& classes = within ? costs_.within : costs_.between;
  const auto found = std::find_if(classes.begin(), classes.end() - 1,
                                  [&](const MessageClass& one) { return bytes <= one.up_to; });
  return *found;
}

Outcome Carrier::carry_out() {
  for (std::uint32_t strand = 0; strand < strands_.size(); ++strand) {
    strands_[strand].next = schedule_.begin[strand];
    events_.push(costs_.start.empty() ? 0 : costs_.start[rank_of(strand)], Event::Kind::begin,
                 strand);
  }
  for (Job job;;) {
    while (processors_.next(job)) work(job);
    if (flows_.changed() && (events_.empty() || events_.next_time() > touched_at_ + kTogether)) {
      share_out();
    }
    if (events_.empty()) break;
    const Event event = events_.pop();
    now_ = std::max(now_, event.time);
    const auto part = static_cast<Part>(event.version);
    switch (event.kind) {
      case Event::Kind::begin:
        processors_.want(group_of(event.index), {Job::Kind::strand, event.index});
        break;
      case Event::Kind::run:
        run(event.index);
        break;
      case Event::Kind::enter:
        enter(event.index, Part::ahead);
        break;
      case Event::Kind::arrive:
        arrive(event.index, part);
        break;
      case Event::Kind::seen:
        see(event.index, part);
        break;
      case Event::Kind::handle:
        handle(event.index, part);
        break;
      case Event::Kind::sent:
        if (messages_[event.index].version == event.version) end_send(event.index);
        break;
      case Event::Kind::leave:
        if (messages_[event.index].version == event.version) leave(event.index);
        break;
      case Event::Kind::empty:
        if (buckets_.is_current(event.index, event.version)) {
          if (!flows_.changed()) touched_at_ = now_;
          flows_.touch(event.index);
        }
        break;
    }
  }
  for (std::uint32_t strand = 0; strand < strands_.size(); ++strand) {
    if (strands_[strand].next < schedule_.begin[strand + 1]) refuse_deadlock();
  }
  outcome_.channel_busy = buckets_.busy();
  outcome_.channel_crowd = crowds_.most();
  outcome_.channel_crowd_bytes = crowds_.most_bytes();
  outcome_.end = *std::max_element(outcome_.rank_end.begin(), outcome_.rank_end.end());
  return std::move(outcome_);
}

/// Goes on with a strand, which has a processor, until it waits or keeps it busy.
void Carrier::run(std::uint32_t index) {
  Strand& strand = strands_[index];
  const std::uint64_t first = schedule_.begin[index];
  for (; strand.next < schedule_.begin[index + 1]; ++strand.next) {
    const std::uint64_t operation = strand.next;
    const double amount = schedule_.amount[operation];
    switch (static_cast<Action>(schedule_.action[operation])) {
      case Action::compute:
        if (spend(index, amount)) return;
        outcome_.operation_end[operation] = now_;
        if (amount > 0) {
          // What has come for the rank meanwhile is looked at first.
          ++strand.next;
          processors_.give_back(group_of(index));
          processors_.want(group_of(index), {Job::Kind::strand, index});
          return;
        }
        break;
      case Action::elapse:
        if (!strand.spent && amount > 0) {
          strand.spent = true;
          processors_.give_back(group_of(index));
          events_.push(now_ + amount, Event::Kind::begin, index);
          return;
        }
        strand.spent = false;
        outcome_.operation_end[operation] = now_;
        break;
      case Action::send: {
        const std::uint32_t message = message_of_[operation];
        const MessageClass& costs = *messages_[message].of_class;
        if (spend(index, costs.send_overhead + costs.send_per_byte * amount)) return;
        ++strand.begun;
        emit(message);
        break;
      }
      case Action::receive:
        ++strand.begun;
        post(message_of_[operation]);
        break;
      default:
        if (!is_over(strand, first, operation)) {
          strand.since = now_;
          strand.waits = true;
          processors_.give_back(group_of(index));
          look(strand);
          return;
        }
        outcome_.operation_end[operation] = now_;
        break;
    }
  }
  double& end = outcome_.rank_end[rank_of(index)];
  end = std::max(end, now_);
  processors_.give_back(group_of(index));
  look(strand);
}

/// Whether a strand's next operation has still to keep its processor busy.
bool Carrier::spend(std::uint32_t index, double seconds) {
  Strand& strand = strands_[index];
  if (strand.spent || seconds <= 0) {
    strand.spent = false;
    return false;
  }
  strand.spent = true;
  events_.push(now_ + seconds, Event::Kind::run, index);
  return true;
}

/// Begins what now has a processor.
void Carrier::work(const Job& job) {
  if (job.kind == Job::Kind::strand) {
    run(job.index);
    return;
  }
  const Part part = job.kind == Job::Kind::ahead ? Part::ahead : Part::answer;
  const MessageClass& costs = *messages_[job.index].of_class;
  const double bytes = is_data(job.index, part) ? messages_[job.index].bytes : 0;
  events_.push(now_ + costs.receive_overhead + costs.receive_per_byte * bytes, Event::Kind::handle,
               job.index, static_cast<std::uint32_t>(part));
}

bool Carrier::is_over(const Strand& strand, std::uint64_t first, std::uint64_t operation) const {
  const double amount = schedule_.amount[operation];
  switch (static_cast<Action>(schedule_.action[operation])) {
    case Action::wait:
      return done_[first + static_cast<std::uint64_t>(amount)] != 0;
    case Action::wait_for:
      return static_cast<double>(strand.ended) >= amount;
    default:
      return strand.ended == strand.begun;
  }
}

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

/// A send or receive has ended.
void Carrier::complete(std::uint64_t operation, std::uint32_t index) {
  done_[operation] = 1;
  outcome_.operation_end[operation] = now_;
  Strand& strand = strands_[index];
  ++strand.ended;
  if (strand.waits && is_over(strand, schedule_.begin[index], strand.next)) {
    strand.waits = false;
    processors_.want(group_of(index), {Job::Kind::strand, index});
  }
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
  if (!data || message.rest <= kLight) {
    const double latency = costs.latency + costs.latency_per_hop * roads_.hops(route);
    const double after = now_ + latency + behind(route);
    if (data) end_send(m);
    events_.push(after, Event::Kind::arrive, m, static_cast<std::uint32_t>(part));
    return false;
  }
  if (!flows_.changed()) touched_at_ = now_;
  message.flow = flows_.begin(route);
  message.updated = now_;
  message.rate = 0;
  if (message.flow >= owner_.size()) owner_.resize(message.flow + 1);
  owner_[message.flow] = m;
  crowds_.join(roads_.crossings().of_message(route), message.bytes);
  return true;
}

/// How long something waits for what stands before it at full channels.
double Carrier::behind(std::size_t route) const {
  double seconds = 0;
  for (const std::uint32_t channel : roads_.crossings().of_message(route)) {
    const double most = network_.queue[channel];
    const double rate = network_.rate[channel];
    if (most <= 0 || flows_.used(channel) < kFull * rate) continue;
    double waiting = 0;
    for (const std::uint32_t flow : flows_.on(channel)) waiting += rest_of(flow);
    seconds += std::min(waiting, most) / rate;
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
    const double looks = std::ceil((now_ - impatient) / costs_.look_every);
    events_.push(std::max(impatient + looks * costs_.look_every, now_), Event::Kind::seen, m,
                 static_cast<std::uint32_t>(part));
  } else {
    see(m, part);
  }
}

/// Sees all that has come for a strand.
void Carrier::look(Strand& strand) {
  std::uint32_t item = std::exchange(strand.unseen, kNone);
  for (; item != kNone; item = next_unseen_[item]) {
    see(item / 2, static_cast<Part>(item % 2));
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

/// The last byte has left its host.
void Carrier::leave(std::uint32_t m) {
  Message& message = messages_[m];
  const MessageClass& costs = *message.of_class;
  const double wire = costs.extra + costs.stretch * message.bytes;
  const std::size_t route = roads_.route(m);
  for (const std::uint32_t channel : roads_.crossings().of_message(route)) {
    outcome_.channel_bytes[channel] += wire;
  }
  crowds_.leave(roads_.crossings().of_message(route), message.bytes);
  message.rest = 0;
  if (!flows_.changed()) touched_at_ = now_;
  flows_.end(message.flow);
  ++message.version;
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

void Carrier::refuse_deadlock() const {
  for (std::uint32_t index = 0; index < strands_.size(); ++index) {
    const std::uint64_t next = strands_[index].next;
    if (next == schedule_.begin[index + 1]) continue;
    std::string waits = name_operation(schedule_, next) + " waits for ever";
    for (std::uint64_t i = schedule_.begin[index]; i < next; ++i) {
      if (message_of_[i] == kNone || done_[i] != 0) continue;
      const Match& open = matches_[message_of_[i]];
      const bool sends = open.send == i;
      waits += std::string(", as for its ") + (sends ? "send to" : "receive from") + " rank " +
               std::to_string(rank_of(sends ? open.target : open.source)) + " (tag " +
               std::to_string(schedule_.tag[i]) + ")";
      break;
    }
    throw Error(waits);
  }
  throw Error("a schedule that cannot end");
}

void check(const Schedule& schedule, const Network& network, const Costs& costs) {
  const std::size_t ranks = network.place_of_rank.size();
  const std::size_t channels = network.resolver.switch_channels() + 3 * network.resolver.places();
  for (const std::uint32_t rank : schedule.rank_of_strand) {
    if (rank >= ranks) throw Error("rank " + std::to_string(rank) + " has no place");
  }
  if (ranks == 0 || network.rate.size() != channels || network.burst.size() != channels ||
      network.queue.size() != channels) {
    throw Error("a rate, a burst and a queue for each of " + std::to_string(channels) +
                " channels, and a place for every rank");
  }
  for (std::size_t c = 0; c < channels; ++c) {
    if (!(network.rate[c] > 0) || !(network.burst[c] >= 0) || !(network.queue[c] >= 0) ||
        (network.burst[c] > 0 && !(network.peak >= network.rate[c]))) {
      throw Error("rates above 0, bursts and queues of 0 or more, and a peak above every rate");
    }
  }
  if (costs.between.empty() || costs.within.empty()) throw Error("costs of some class of messages");
  if (!costs.start.empty() && costs.start.size() != ranks) throw Error("a start of every rank");
  if (costs.processor_of_rank.size() != ranks) throw Error("a processor for every rank");
  for (const std::uint32_t processor : costs.processor_of_rank) {
    if (processor >= costs.processors.size() || costs.processors[processor] == 0) {
      throw Error("processors that are there");
    }
  }
}

}  // namespace

Outcome carry_out(const Schedule& schedule, const Network& network, const Costs& costs) {
  check(schedule, network, costs);
  return Carrier(schedule, network, costs).carry_out();
}

}  // namespace contend
