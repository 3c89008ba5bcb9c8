#include <algorithm>

#include "alltoall/algorithm.hpp"
#include "common/ranks.hpp"

namespace contend::probe::alltoall {

const std::vector<Algorithm>& catalogue() {
  static const std::vector<Algorithm> all = [] {
    std::vector<Algorithm> made{library(), library_v(), nonblocking(), nonblocking_v(),
                                persistent()};
    for (int schedule = 0; schedule < CONTEND_SCHEDULES; ++schedule) {
      made.push_back(direct(static_cast<contend_schedule>(schedule)));
    }
    for (const Algorithm& forwarding : {bruck(), hierarchical(), put()}) {
      made.push_back(forwarding);
    }
    return made;
  }();
  return all;
}

const Algorithm& find_algorithm(const std::string& name) {
  const auto found = std::find_if(catalogue().begin(), catalogue().end(),
                                  [&](const Algorithm& one) { return one.name == name; });
  if (found == catalogue().end()) {
    fail("there is no algorithm '" + name + "'");
  }
  return *found;
}

std::string unsuitable(const Algorithm& algorithm, int ranks, Counts::Kind counts) {
  if (!algorithm.uneven && counts != Counts::Kind::even) {
    return algorithm.name + " needs blocks of equal size";
  }
  if (algorithm.knows_all && counts == Counts::Kind::own) {
    return algorithm.name + " needs the counts of all ranks, but each rank knows only its own";
  }
  if (algorithm.power_of_two && (ranks & (ranks - 1)) != 0) {
    return algorithm.name + " needs a power-of-two number of ranks, got " + std::to_string(ranks);
  }
  return "";
}

}  // namespace contend::probe::alltoall
