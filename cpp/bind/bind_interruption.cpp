#include <sys/syscall.h>
#include <unistd.h>

#include "bind.hpp"

namespace contend::bind {

namespace {

thread_local std::shared_ptr<std::atomic<bool>> heeded;

// Only the main thread handles signals.
bool is_main_thread() { return syscall(SYS_gettid) == getpid(); }

void run_signal_handlers() {
  const nb::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

void look_at_stop() {
  if (heeded && *heeded) throw Interrupted();
}

}  // namespace

Released::Released() : interruption_(is_main_thread() ? run_signal_handlers : look_at_stop) {}

void Stop::heed() const { heeded = ended_; }

void bind_interruption(nb::module_& m) {
  nb::class_<Stop>(m, "Stop").def(nb::init<>()).def("set", &Stop::set).def("heed", &Stop::heed);
}

}  // namespace contend::bind
