#include "contend/schedule/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "contend/base/error.hpp"
#include "contend/base/interruption.hpp"

namespace contend {

namespace {

struct End {
  std::uint32_t source;
  std::uint32_t target;
  std::int32_t tag;
  std::uint64_t operation;

  auto channel() const { return std::tie(source, target, tag); }
  bool operator<(const End& other) const {
    return std::tie(source, target, tag, operation) <
           std::tie(other.source, other.target, other.tag, other.operation);
  }
};

[[noreturn]] void refuse(const Schedule& schedule, std::uint64_t operation, const char* why) {
  throw Error(name_operation(schedule, operation) + " " + why);
}

bool begins(Action action) { return action == Action::send || action == Action::receive; }

void check_shape(const Schedule& schedule) {
  const std::size_t operations = schedule.operations();
  bool fits = schedule.begin.size() == schedule.strands() + 1 && schedule.begin.front() == 0 &&
              schedule.begin.back() == operations && schedule.peer.size() == operations &&
              schedule.tag.size() == operations && schedule.amount.size() == operations;
  for (std::size_t strand = 0; fits && strand < schedule.strands(); ++strand) {
    fits = schedule.begin[strand] <= schedule.begin[strand + 1];
  }
  if (!fits) throw Error("the columns of a schedule do not fit each other");
}

void check_operation(const Schedule& schedule, std::size_t strand, std::uint64_t operation,
                     std::uint64_t begun) {
  const auto action = static_cast<Action>(schedule.action[operation]);
  const double amount = schedule.amount[operation];
  const std::uint64_t first = schedule.begin[strand];
  if (schedule.action[operation] >= kActions) refuse(schedule, operation, "is of no kind");
  if (!std::isfinite(amount) || amount < 0) {
    refuse(schedule, operation, "takes less than nothing, or no number");
  }
  if (begins(action) && schedule.peer[operation] >= schedule.strands()) {
    refuse(schedule, operation, "names a strand that is not there");
  }
  if (action == Action::wait) {
    const bool before = amount < static_cast<double>(operation - first);
    if (!before ||
        !begins(static_cast<Action>(schedule.action[first + static_cast<std::uint64_t>(amount)]))) {
      refuse(schedule, operation, "waits for what is no send or receive before it");
    }
  }
  if (action == Action::wait_for && amount > static_cast<double>(begun)) {
    refuse(schedule, operation, "waits for more sends and receives than have begun");
  }
}

}  // namespace

std::string name_operation(const Schedule& schedule, std::uint64_t operation) {
  const auto next = std::upper_bound(schedule.begin.begin(), schedule.begin.end(), operation);
  const auto strand = static_cast<std::size_t>(next - schedule.begin.begin()) - 1;
  return "rank " + std::to_string(schedule.rank_of_strand[strand]) + ", operation " +
         std::to_string(operation - schedule.begin[strand]);
}

std::vector<Match> match(const Schedule& schedule) {
  check_shape(schedule);
  std::vector<End> sends;
  std::vector<End> receives;
  for (std::uint32_t strand = 0; strand < schedule.strands(); ++strand) {
    std::uint64_t begun = 0;
    check_interruption();
    for (std::uint64_t i = schedule.begin[strand]; i < schedule.begin[strand + 1]; ++i) {
      check_operation(schedule, strand, i, begun);
      const auto action = static_cast<Action>(schedule.action[i]);
      if (action == Action::send) {
        sends.push_back({strand, schedule.peer[i], schedule.tag[i], i});
      } else if (action == Action::receive) {
        receives.push_back({schedule.peer[i], strand, schedule.tag[i], i});
      }
      begun += begins(action) ? 1 : 0;
    }
  }
  std::sort(sends.begin(), sends.end());
  std::sort(receives.begin(), receives.end());
  std::vector<Match> matches;
  matches.reserve(sends.size());
  const std::size_t both = std::min(sends.size(), receives.size());
  for (std::size_t i = 0; i < both; ++i) {
    if (sends[i].channel() < receives[i].channel()) {
      refuse(schedule, sends[i].operation, "sends what nobody receives");
    }
    if (receives[i].channel() < sends[i].channel()) {
      refuse(schedule, receives[i].operation, "waits for what nobody sends");
    }
    matches.push_back(
        {sends[i].source, sends[i].target, sends[i].operation, receives[i].operation});
  }
  if (sends.size() > both) {
    refuse(schedule, sends[both].operation, "sends what nobody receives");
  }
  if (receives.size() > both) {
    refuse(schedule, receives[both].operation, "waits for what nobody sends");
  }
  return matches;
}

}  // namespace contend
