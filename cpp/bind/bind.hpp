#pragma once

// The glue between numpy arrays and the core; users never meet this floor.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "contend/base/error.hpp"
#include "contend/base/interruption.hpp"
#include "contend/routes/ways/next_hops.hpp"

namespace contend::bind {

namespace nb = nanobind;

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
using Numpy = nb::ndarray<nb::numpy, T>;

template <class T>
std::span<const T> as_span(const Vector<T>& array) {
  return {array.data(), array.size()};
}

template <class T>
std::vector<T> as_vector(const Vector<T>& array) {
  return {array.data(), array.data() + array.size()};
}

/// Hands a vector to numpy without copying; numpy frees it.
template <class T>
Numpy<T> to_numpy(std::vector<T>&& values, std::vector<std::size_t> shape = {}) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  if (shape.empty()) shape.push_back(owned->size());
  return Numpy<T>(owned->data(), shape.size(), shape.data(), owner);
}

/// Several of them as a tuple.
template <class... T>
nb::typed<nb::tuple, Numpy<T>...> to_tuple(std::vector<T>&&... values) {
  return nb::typed<nb::tuple, Numpy<T>...>(nb::make_tuple(to_numpy(std::move(values))...));
}

/// Tables of a fabric. Throws Error where they are of another.
inline TableView view_of(const Fabric& fabric, const Matrix<std::uint16_t>& ports) {
  if (ports.shape(0) != fabric.switches()) throw Error("tables do not belong to the fabric");
  return {ports.data(), ports.shape(0), ports.shape(1)};
}

/// Which entries of tables may use groups of ports. Throws Error where shapes differ.
inline GroupView groups_of(const Matrix<std::uint16_t>& ports,
                           const Matrix<std::uint16_t>& group_of_entry,
                           const Vector<std::uint32_t>& first,
                           const Vector<std::uint16_t>& group_ports) {
  if (group_of_entry.shape(0) != ports.shape(0) || group_of_entry.shape(1) != ports.shape(1)) {
    throw Error("groups do not belong to the tables");
  }
  return {group_of_entry.data(), as_span(first), as_span(group_ports)};
}

/// Runs the core without the interpreter's lock, so that what ends Python ends the core too: on the
/// main thread Python's handlers of signals run, and the core ends with what they raise; on others
/// it ends once the Stop that they heed is set.
class Released {
 public:
  Released();

 private:
  nb::gil_scoped_release release_;
  Interruption interruption_;
};

/// What a function of the core says, which runs without the interpreter's lock.
template <class Run>
auto released(const Run& run) {
  const Released lock;
  return run();
}

/// A function that is told between begin() and end() what share is done of what the core does on
/// the main thread, from 0 to 1, some times a second, with the interpreter's lock. It may throw. Of
/// several the innermost is told.
class Told {
 public:
  using Tell = nb::typed<nb::callable, void(double)>;

  explicit Told(Tell tell);
  void begin();
  void end() const;
  void tell() const;

 private:
  Tell tell_;
  const Told* outer_ = nullptr;
};

/// Ends what other threads do in the core. Signals are handled on the main thread alone, which may
/// have to wait for them.
class Stop {
 public:
  void set() const { *ended_ = true; }
  /// Lets the core end on this thread, from now on, when the stop is set.
  void heed() const;

 private:
  std::shared_ptr<std::atomic<bool>> ended_ = std::make_shared<std::atomic<bool>>(false);
};

void bind_interruption(nb::module_& m);
void bind_check(nb::module_& m);
void bind_fabric(nb::module_& m);
void bind_resolver(nb::module_& m);
void bind_pattern(nb::module_& m);
void bind_packets(nb::module_& m);
void bind_congestion(nb::module_& m);
void bind_schedule(nb::module_& m);
void bind_readers(nb::module_& m);
void bind_engines(nb::module_& m);

}  // namespace contend::bind
