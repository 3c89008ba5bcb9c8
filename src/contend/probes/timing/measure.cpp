#include "timing/measure.hpp"

#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <new>
#include <optional>

#include "common/ranks.hpp"
#include "timing/clock.hpp"
#include "timing/leader.hpp"
#include "timing/waiting.hpp"

namespace contend::probe {

namespace {

/// The part of measuring that all ranks do alike.
class Measurement {
 public:
  Measurement(const std::vector<Cell>& cells, const MakeOperation& make, const Settings& settings,
              GlobalClock& clock, Record* record, MPI_Comm world)
      : cells_(cells),
        make_(make),
        settings_(settings),
        clock_(clock),
        world_(duplicate(world)),
        operations_(duplicate(world)),
        team_(world) {
    if (record != nullptr) {
      leader_.emplace(cells, settings, *record, size_of(world));
    }
  }

  Outcome run();

 private:
  void synchronise();
  void take_turn(std::size_t cell);
  bool make(std::size_t cell);
  void sample(double agreed, bool verified);
  void explain(int rank);
  Order announce_turn(Order order) const;
  Order announce_sample(Order order) const;

  const std::vector<Cell>& cells_;
  const MakeOperation& make_;
  const Settings& settings_;
  GlobalClock& clock_;
  Communicator world_;
  // What probes send cannot meet what the loop sends.
  Communicator operations_;
  Team team_;
  // On rank 0 alone.
  std::optional<Leader> leader_;
  std::unique_ptr<Operation> operation_;
  bool takes_part_ = true;
  std::vector<std::string> columns_;
  Stamps stamps_;
  std::optional<std::string> problem_;
  std::vector<double> mine_;
  std::vector<double> gathered_;
};

Outcome Measurement::run() {
  synchronise();
  for (;;) {
    Order order{Order::Kind::stop};
    if (leader_) {
      order = leader_->next_turn(clock_.now(), clock_.old());
    }
    order = announce_turn(order);
    // Only now, when all ranks have come here: its end may need them all.
    operation_.reset();
    if (order.kind == Order::Kind::synchronise) {
      synchronise();
    } else if (order.kind == Order::Kind::turn) {
      take_turn(static_cast<std::size_t>(order.value));
    } else {
      if (leader_ && !leader_->problem().empty()) {
        const std::string line = program_name() + ": " + leader_->problem() + "\n";
        std::fwrite(line.data(), 1, line.size(), stderr);
      }
      return static_cast<Outcome>(static_cast<int>(order.value));
    }
  }
}

// The same call on all ranks, as some of them sleep while they wait for it.
Order Measurement::announce_turn(Order order) const {
  double words[] = {static_cast<double>(order.kind), order.value};
  MPI_Request request = MPI_REQUEST_NULL;
  CHECKED(MPI_Ibcast, words, 2, MPI_DOUBLE, 0, world_.get(), &request);
  if (team_.member()) {
    wait(request);
  } else {
    wait_asleep(request);
  }
  return {static_cast<Order::Kind>(static_cast<int>(words[0])), words[1]};
}

Order Measurement::announce_sample(Order order) const {
  std::vector<double> words{static_cast<double>(order.kind), order.value};
  broadcast(words, team_.comm());
  return {static_cast<Order::Kind>(static_cast<int>(words[0])), words[1]};
}

void Measurement::synchronise() {
  const Synchronised found = clock_.synchronise();
  if (leader_) {
    leader_->clock(found);
  }
}

bool Measurement::make(std::size_t cell) {
  enum State { made, unsupported, failed };
  int mine = made;
  // Of another rank; this one may have memory enough.
  std::string said = "not enough memory for the data";
  try {
    operation_ = make_(cells_[cell], operations_.get());
  } catch (const Unsupported& reason) {
    mine = unsupported;
    said = reason.what();
  } catch (const NoMemory& reason) {
    mine = failed;
    said = reason.what();
  } catch (const std::bad_alloc&) {
    mine = failed;
  }
  int worst = made;
  MPI_Request request = MPI_REQUEST_NULL;
  CHECKED(MPI_Iallreduce, &mine, &worst, 1, MPI_INT, MPI_MAX, world_.get(), &request);
  wait(request);
  if (worst != made && leader_) {
    leader_->refuse(worst == unsupported ? Ending{"skipped", std::nullopt, said}
                                         : Ending{"failed", std::nullopt, said});
  }
  return worst == made;
}

void Measurement::take_turn(std::size_t cell) {
  if (!make(cell)) {
    return;
  }
  takes_part_ = operation_->takes_part();
  team_.choose(takes_part_);
  if (!team_.member()) {
    return;
  }
  columns_ = operation_->columns();
  if (leader_) {
    std::vector<std::string> names{"start"};
    names.insert(names.end(), columns_.begin(), columns_.end());
    names.emplace_back("end");
    leader_->begin(names);
  }
  bool ready = false;
  for (std::int64_t index = 0;;) {
    Order order{Order::Kind::sample};
    if (leader_) {
      order = leader_->next_sample(clock_.now(), clock_.old(), team_.whole());
    }
    const bool verified = Leader::verified(settings_, index);
    if (operation_->resets_together()) {
      order = announce_sample(order);
    }
    // Otherwise others get ready before they know whether there is another sample, rank 0 after.
    if (order.kind == Order::Kind::sample && !ready && takes_part_) {
      operation_->reset(verified);
      ready = true;
    }
    if (leader_ && order.kind == Order::Kind::sample) {
      if (leader_->rests_until() > clock_.now()) {
        wait_until(clock_.local(leader_->rests_until()));
      }
      order.value = leader_->start_after(clock_.now(), operation_->starts_by_clock());
    }
    order = announce_sample(order);
    if (order.kind == Order::Kind::sample) {
      sample(order.value, verified);
      ready = false;
      ++index;
    } else if (order.kind == Order::Kind::synchronise) {
      synchronise();
    } else if (order.kind == Order::Kind::explain) {
      explain(static_cast<int>(order.value));
    } else {
      return;
    }
  }
}

void Measurement::sample(double agreed, bool verified) {
  mine_.assign(columns_.size() + 4, std::numeric_limits<double>::quiet_NaN());
  problem_.reset();
  if (takes_part_) {
    stamps_.clear(columns_.size());
    const std::int64_t arrived = local_now();
    if (std::isnan(agreed)) {
      pass_barrier(team_.comm());
    } else {
      wait_until(clock_.local(agreed));
    }
    const std::int64_t start = local_now();
    operation_->run(stamps_);
    const std::int64_t end = local_now();
    operation_->finish(stamps_);
    if (stamps_.values().size() != columns_.size()) {
      fail("an operation has more or fewer stamps than columns");
    }
    if (verified) {
      problem_ = operation_->verify();
    }
    auto next = mine_.begin();
    *next++ = problem_ ? 1.0 : 0.0;
    *next++ = clock_.global(arrived);
    *next++ = clock_.global(start);
    for (const Stamps::Value& value : stamps_.values()) {
      *next++ = value.instant ? clock_.global(value.local_ns) : value.seconds;
    }
    *next = clock_.global(end);
  }
  gather(mine_, gathered_, team_.comm());
  if (leader_) {
    leader_->take(gathered_, team_.world_ranks());
  }
}

void Measurement::explain(int rank) {
  const int world_rank = team_.world_ranks()[static_cast<std::size_t>(rank)];
  const std::string mine =
      problem_ ? "rank " + std::to_string(world_rank) + ": " + *problem_ : std::string();
  const std::string said = send_to_first(mine, rank, team_.comm());
  if (leader_) {
    leader_->hear(said);
  }
}

}  // namespace

Outcome measure_cells(const std::vector<Cell>& cells, const MakeOperation& make,
                      const Settings& settings, GlobalClock& clock, Record* record,
                      MPI_Comm world) {
  return Measurement(cells, make, settings, clock, record, world).run();
}

}  // namespace contend::probe
