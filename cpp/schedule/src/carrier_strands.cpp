#include <utility>

#include "carrier.hpp"

namespace contend {

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

/// A send or receive has ended.
void Carrier::complete(std::uint64_t operation, std::uint32_t index) {
  done_[operation] = 1;
  ++ended_;
  outcome_.operation_end[operation] = now_;
  Strand& strand = strands_[index];
  ++strand.ended;
  if (strand.waits && is_over(strand, schedule_.begin[index], strand.next)) {
    strand.waits = false;
    processors_.want(group_of(index), {Job::Kind::strand, index});
  }
}

/// Sees all that has come for a strand.
void Carrier::look(Strand& strand) {
  std::uint32_t item = std::exchange(strand.unseen, kNone);
  for (; item != kNone; item = next_unseen_[item]) {
    see(item / 2, static_cast<Part>(item % 2));
  }
}

}  // namespace contend
