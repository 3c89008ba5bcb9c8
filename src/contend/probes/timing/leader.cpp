#include "timing/leader.hpp"

#include <algorithm>
#include <cmath>

namespace contend::probe {

Leader::Leader(const std::vector<Cell>& cells, const Settings& settings, Record& record, int ranks)
    : cells_(cells),
      settings_(settings),
      record_(record),
      ranks_(static_cast<std::size_t>(ranks)),
      schedule_(cells.size(), settings.budget),
      progress_(cells.size()) {}

// Once the file fails nothing more is written, and all ranks end at the next order.
template <class Write>
void Leader::keep(Write write) {
  if (!problem_.empty()) {
    return;
  }
  try {
    write();
  } catch (const CannotWrite& problem) {
    problem_ = problem.what();
    outcome_ = Outcome::cannot_write;
  }
}

Order Leader::next_turn(double now, bool clock_old) {
  if (problem_.empty() && clock_old) {
    return {Order::Kind::synchronise};
  }
  const std::optional<Schedule::Turn> turn = problem_.empty() ? schedule_.next(now) : std::nullopt;
  if (!turn) {
    end_cells_given_up();
    keep([&] { record_.done(overhead_); });
    return {Order::Kind::stop, static_cast<double>(outcome_)};
  }
  cell_ = turn->cell;
  until_ = turn->until;
  began_ = now;
  least_ = 0.0;
  last_ = 0.0;
  index_ = 0;
  seen_ = 0;
  closed_ = false;
  wrong_ = -1;
  last_end_ = std::numeric_limits<double>::quiet_NaN();
  return {Order::Kind::turn, static_cast<double>(cell_)};
}

void Leader::end_cells_given_up() {
  for (const std::size_t cell : schedule_.given_up()) {
    cell_ = cell;
    begin({"start", "end"});
    const Progress& progress = progress_[cell];
    const bool any = progress.results.count() > 0;
    end(cell, {any ? "budget" : "skipped", progress.verified, any ? "" : "no time left"});
  }
}

void Leader::begin(const std::vector<std::string>& columns) {
  columns_ = columns.size();
  if (!progress_[cell_].begun) {
    progress_[cell_].begun = true;
    keep([&] { record_.cell(cell_, cells_[cell_], columns); });
  }
}

void Leader::refuse(const Ending& ending) {
  begin({"start", "end"});
  end(cell_, ending);
}

void Leader::end(std::size_t cell, const Ending& ending) {
  closed_ = true;
  if (ending.reason == "failed" && outcome_ == Outcome::done) {
    outcome_ = Outcome::wrong;
  }
  keep([&] { record_.end(cell, cells_[cell], ending, progress_[cell].results); });
}

Order Leader::next_sample(double now, bool clock_old, bool together) {
  const Progress& progress = progress_[cell_];
  const auto count = static_cast<std::int64_t>(progress.results.count());
  // What a sample takes as a whole decides whether there is time for another.
  if (index_ > seen_) {
    last_ = now - asked_;
    seen_ = index_;
  }
  asked_ = now;
  if (closed_ || !problem_.empty()) {
    return {Order::Kind::stop};
  }
  if (wrong_ >= 0) {
    return {Order::Kind::explain, static_cast<double>(wrong_)};
  }
  const std::int64_t timed = index_ - settings_.warm_ups;
  if (timed >= 0 && count >= settings_.most) {
    end(cell_, {"repetitions", progress.verified, ""});
  } else if (timed > 0 && count >= settings_.least &&
             progress.results.narrow(settings_.precision)) {
    end(cell_, {"precision", progress.verified, ""});
  }
  if (closed_) {
    return {Order::Kind::stop};
  }
  // The first sample belongs to its warm-ups, which would have to be repeated for it.
  const double limit = timed > 0 ? until_ : schedule_.end();
  const bool over = index_ > 0 && now + last_ > limit;
  const bool interrupted = clock_old && !together && timed > 0;
  if (over || interrupted) {
    return end_of_turn(now);
  }
  return {clock_old && together ? Order::Kind::synchronise : Order::Kind::sample};
}

Order Leader::end_of_turn(double now) {
  schedule_.again(cell_, std::max(least_, index_ <= settings_.warm_ups ? now - began_ : 0.0));
  return {Order::Kind::stop};
}

double Leader::start_after(double now, bool by_clock) {
  ordered_ = now;
  agreed_ = by_clock ? now + margin_.seconds() : std::numeric_limits<double>::quiet_NaN();
  return agreed_;
}

bool Leader::verified(const Settings& settings, std::int64_t index) {
  return index == 0 || settings.verify;
}

void Leader::take(const std::vector<double>& gathered, const std::vector<int>& world_ranks) {
  Progress& progress = progress_[cell_];
  const std::size_t length = columns_ + 2;
  times_.assign(ranks_ * columns_, std::numeric_limits<double>::quiet_NaN());
  double ready = ordered_;
  double first = std::numeric_limits<double>::infinity();
  double last_start = -first;
  double last_end = -first;
  for (std::size_t member = 0; member < world_ranks.size(); ++member) {
    const double* const sent = gathered.data() + member * length;
    std::copy_n(sent + 2, columns_,
                times_.data() + static_cast<std::size_t>(world_ranks[member]) * columns_);
    const double start = sent[2];
    // Rank 0 may only lead.
    if (std::isnan(start)) {
      continue;
    }
    wrong_ = wrong_ < 0 && sent[0] != 0.0 ? static_cast<int>(member) : wrong_;
    ready = std::max(ready, sent[1]);
    first = std::min(first, start);
    last_start = std::max(last_start, start);
    last_end = std::max(last_end, sent[length - 1]);
  }
  if (std::isnan(agreed_)) {
    // No rank can be late where none agreed on anything.
    agreed_ = last_start;
  } else {
    margin_.learn(ready - ordered_);
  }
  const bool warm_up = index_ < settings_.warm_ups;
  const bool looked_at = verified(settings_, index_);
  const SampleHead head{static_cast<std::uint32_t>(cell_), progress.repetitions++, warm_up,
                        looked_at, agreed_};
  keep([&] { record_.sample(head, times_); });
  if (looked_at) {
    progress.verified = wrong_ < 0;
  }
  if (!warm_up && wrong_ < 0) {
    progress.results.add(last_end - first, too_late(last_start - agreed_, last_end - first));
  }
  if (!std::isnan(last_end_)) {
    overhead_.push_back(first - last_end_);
  }
  last_end_ = last_end;
  rests_until_ = last_end + settings_.pause;
  least_ = index_ == settings_.warm_ups ? last_end - began_ : least_;
  ++index_;
}

void Leader::hear(const std::string& said) {
  wrong_ = -1;
  end(cell_, {"failed", false, said});
}

void Leader::clock(const Synchronised& found) {
  last_end_ = std::numeric_limits<double>::quiet_NaN();
  keep([&] { record_.clock(found); });
}

}  // namespace contend::probe
