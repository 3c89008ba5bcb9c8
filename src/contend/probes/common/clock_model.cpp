#include "common/clock_model.hpp"

namespace contend::probe {

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

}  // namespace contend::probe
