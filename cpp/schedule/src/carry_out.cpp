#include "contend/schedule/carry_out.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "carrier.hpp"
#include "contend/base/error.hpp"
#include "contend/base/progress.hpp"

namespace contend {

namespace {

/// What begins and ends within this time shares channels as if at once: symmetrical schedules find
/// shares once and not for every rank.
constexpr double kTogether = 1e-10;
/// So many events between two looks whether the work goes on.
constexpr std::uint64_t kSteps = 256;

void check(const Schedule& schedule, const Network& network, const Costs& costs) {
  const std::size_t ranks = network.place_of_rank.size();
  const std::size_t channels = network.resolver.switch_channels() + 3 * network.resolver.places();
  for (const std::uint32_t rank : schedule.rank_of_strand) {
    if (rank >= ranks) throw Error("rank " + std::to_string(rank) + " has no place");
  }
  if (ranks == 0 || network.rate.size() != channels || network.burst.size() != channels) {
    throw Error("a rate and a burst for each of " + std::to_string(channels) +
                " channels, and a place for every rank");
  }
  for (std::size_t c = 0; c < channels; ++c) {
    if (!(network.rate[c] > 0) || !(network.burst[c] >= 0) ||
        (network.burst[c] > 0 && !(network.peak >= network.rate[c]))) {
      throw Error("rates above 0, bursts of 0 or more, and a peak above every rate");
    }
  }
  if (!(network.piece >= 0)) throw Error("pieces of 0 bytes or more");
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
    message.wire = message.of_class->extra + message.of_class->stretch * message.bytes;
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
  Progress transfers(2 * matches_.size());
  std::uint64_t told = 0;
  for (std::uint64_t step = 0;; ++step) {
    if (step % kSteps == 0) {
      transfers.done(ended_ - std::exchange(told, ended_));
      check_interruption();
    }
    for (Job job; processors_.next(job);) work(job);
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
      case Event::Kind::piece:
        pass(event.index);
        break;
      case Event::Kind::leave:
        if (messages_[event.index].version == event.version) end_flow(event.index);
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

Outcome carry_out(const Schedule& schedule, const Network& network, const Costs& costs) {
  check(schedule, network, costs);
  return Carrier(schedule, network, costs).carry_out();
}

}  // namespace contend
