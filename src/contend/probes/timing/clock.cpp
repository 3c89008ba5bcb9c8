#include "timing/clock.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <type_traits>

#include "common/ranks.hpp"
#include "timing/waiting.hpp"

namespace contend::probe {

std::int64_t local_now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

double timer_cost() {
  constexpr int kBatches = 20;
  constexpr int kReadings = 500;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (int batch = 0; batch < kBatches; ++batch) {
    const std::int64_t start = local_now();
    std::int64_t last = start;
    for (int reading = 0; reading < kReadings; ++reading) {
      last = local_now();
    }
    // A batch that was interrupted costs more than the clock does.
    least = last - start < least ? last - start : least;
  }
  return static_cast<double>(least) / kReadings * 1e-9;
}

double unix_now() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

namespace {

// Crystals are specified to some tens of parts in a million.
constexpr double kFirstDrift = 1e-4;
// A drift changes by about 0.1 parts in a million within 10 s: variance per second.
constexpr double kDriftWander = 1e-15;

}  // namespace

double ClockModel::global(double local) const {
  return local + offset_ + drift_ * (local - reference_);
}

double ClockModel::local(double global) const {
  return reference_ + (global - reference_ - offset_) / (1.0 + drift_);
}

double ClockModel::measure(double local, double global, double error) {
  const double noise = error * error;
  if (!measured_) {
    measured_ = true;
    reference_ = local;
    offset_ = global - local;
    variance_offset_ = noise;
    variance_drift_ = kFirstDrift * kFirstDrift;
    return 0.0;
  }
  const double elapsed = local - reference_;
  const double residual = global - this->global(local);
  const double wander = kDriftWander * elapsed;
  const double variance_offset = variance_offset_ + 2.0 * elapsed * covariance_ +
                                 elapsed * elapsed * variance_drift_ +
                                 wander * elapsed * elapsed / 3.0;
  const double covariance = covariance_ + elapsed * variance_drift_ + wander * elapsed / 2.0;
  const double variance_drift = variance_drift_ + wander;
  const double gain_offset = variance_offset / (variance_offset + noise);
  const double gain_drift = covariance / (variance_offset + noise);
  offset_ += drift_ * elapsed + gain_offset * residual;
  drift_ += gain_drift * residual;
  reference_ = local;
  variance_offset_ = (1.0 - gain_offset) * variance_offset;
  covariance_ = (1.0 - gain_offset) * covariance;
  variance_drift_ = variance_drift - gain_drift * covariance;
  return residual;
}

namespace {

constexpr int kAsk = 2;
constexpr int kAnswer = 3;
// Questions stop when this many in a row were not answered faster, or after so many, or so long.
constexpr int kInVain = 12;
constexpr int kMostQuestions = 100;
constexpr int kFewestQuestions = 6;
constexpr std::int64_t kLongest = 40'000'000;

constexpr std::int64_t kFirstInterval = 50'000'000;
constexpr std::int64_t kLastInterval = 2'000'000'000;

void send(double value, int to, int tag, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  CHECKED(MPI_Isend, &value, 1, MPI_DOUBLE, to, tag, comm, &request);
  wait(request);
}

double receive(int from, int tag, MPI_Comm comm) {
  double value = 0.0;
  MPI_Request request = MPI_REQUEST_NULL;
  CHECKED(MPI_Irecv, &value, 1, MPI_DOUBLE, from, tag, comm, &request);
  wait(request);
  return value;
}

int clock_number(const Machines& machines, int rank) {
  const auto& clocks = machines.clock;
  const auto mine = clocks.begin() + rank;
  return static_cast<int>(std::find(clocks.begin(), clocks.end(), *mine) - clocks.begin());
}

}  // namespace

GlobalClock::GlobalClock(MPI_Comm comm, const Machines& machines, bool apart)
    : world_(duplicate(comm)), interval_ns_(kFirstInterval) {
  const int rank = rank_in(comm);
  const int first = apart ? rank : clock_number(machines, rank);
  sharers_ = split(comm, first);
  setters_ = split(comm, first == rank ? 0 : -1);
  clocks_ = setters_.get() == MPI_COMM_NULL ? 0 : size_of(setters_.get());
  CHECKED(MPI_Bcast, &clocks_, 1, MPI_INT, 0, sharers_.get());
  // Numbers stay small, so that seconds in a double keep their nanoseconds.
  origin_ns_ = local_now();
  epoch_unix_ = unix_now();
  CHECKED(MPI_Bcast, &origin_ns_, 1, MPI_INT64_T, 0, sharers_.get());
}

Synchronised GlobalClock::synchronise() {
  if (setters_.get() != MPI_COMM_NULL) {
    const int rank = rank_in(setters_.get());
    const int ranks = size_of(setters_.get());
    // In each step all that are set already set one more each.
    for (int step = 1; step < ranks; step *= 2) {
      if (rank < step && rank + step < ranks) {
        answer_child(rank + step);
      } else if (rank >= step && rank < 2 * step) {
        exchange_with_parent(rank - step);
      }
    }
  }
  static_assert(std::is_trivially_copyable_v<ClockModel>);
  CHECKED(MPI_Bcast, &model_, sizeof model_, MPI_BYTE, 0, sharers_.get());
  std::vector<double> found{round_trip_, residual_};
  broadcast(found, sharers_.get());
  const double base = static_cast<double>(origin_ns_) * 1e-9;
  const std::vector<double> mine{model_.offset() - base, model_.drift(), found[0], found[1]};
  std::vector<double> all;
  gather(mine, all, world_.get());
  interval_ns_ = synchronised_ns_ == 0 ? kFirstInterval : std::min(2 * interval_ns_, kLastInterval);
  synchronised_ns_ = local_now();
  Synchronised result;
  result.at = now();
  for (std::size_t at = 0; at < all.size(); at += 4) {
    result.offset.push_back(all[at]);
    result.drift.push_back(all[at + 1]);
    result.round_trip.push_back(all[at + 2]);
    result.residual.push_back(all[at + 3]);
  }
  return result;
}

void GlobalClock::exchange_with_parent(int parent) {
  std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
  std::int64_t middle = 0;
  double told = 0.0;
  int in_vain = 0;
  const std::int64_t begun = local_now();
  for (int asked = 0; asked < kMostQuestions; ++asked) {
    const std::int64_t before = local_now();
    if (asked >= kFewestQuestions && (in_vain >= kInVain || before - begun > kLongest)) {
      break;
    }
    send(1.0, parent, kAsk, setters_.get());
    const double answer = receive(parent, kAnswer, setters_.get());
    const std::int64_t after = local_now();
    ++in_vain;
    if (after - before < shortest) {
      shortest = after - before;
      middle = before - origin_ns_ + (after - before) / 2;
      told = answer;
      in_vain = 0;
    }
  }
  send(0.0, parent, kAsk, setters_.get());
  round_trip_ = static_cast<double>(shortest) * 1e-9;
  residual_ = model_.measure(static_cast<double>(middle) * 1e-9, told, round_trip_ / 4.0);
}

void GlobalClock::answer_child(int child) const {
  while (receive(child, kAsk, setters_.get()) != 0.0) {
    send(now(), child, kAnswer, setters_.get());
  }
}

double GlobalClock::global(std::int64_t local_ns) const {
  return model_.global(static_cast<double>(local_ns - origin_ns_) * 1e-9);
}

double GlobalClock::now() const { return global(local_now()); }

std::int64_t GlobalClock::local(double global_s) const {
  return origin_ns_ + static_cast<std::int64_t>(std::llround(model_.local(global_s) * 1e9));
}

bool GlobalClock::old() const {
  return clocks_ > 1 && local_now() - synchronised_ns_ > interval_ns_;
}

}  // namespace contend::probe
