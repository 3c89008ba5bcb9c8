#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <utility>

#include "bind.hpp"
#include "contend/base/progress.hpp"

namespace contend::bind {

namespace {

thread_local std::shared_ptr<std::atomic<bool>> heeded;
thread_local const Told* told = nullptr;

// Only the main thread handles signals.
bool is_main_thread() { return syscall(SYS_gettid) == getpid(); }

void run_signal_handlers() {
  const nb::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
  if (told != nullptr) told->tell();
}

void look_at_stop() {
  if (heeded && *heeded) throw Interrupted();
}

}  // namespace

Released::Released() : interruption_(is_main_thread() ? run_signal_handlers : look_at_stop) {}

Told::Told(Tell tell) : tell_(std::move(tell)) {}

void Told::begin() {
  outer_ = told;
  told = this;
}

void Told::end() const { told = outer_; }

void Told::tell() const {
  if (const double share = share_done(); share >= 0) tell_(share);
}

void Stop::heed() const { heeded = ended_; }

void bind_interruption(nb::module_& m) {
  nb::class_<Stop>(m, "Stop").def(nb::init<>()).def("set", &Stop::set).def("heed", &Stop::heed);
  nb::class_<Told>(m, "Told")
      .def(nb::init<Told::Tell>())
      .def(
          "__enter__",
          [](Told& told) -> Told& {
            told.begin();
            return told;
          },
          nb::rv_policy::reference)
      .def(
          "__exit__", [](Told& told, const nb::args&) { told.end(); },
          nb::sig("def __exit__(self, *reason: object) -> None"));
}

}  // namespace contend::bind
