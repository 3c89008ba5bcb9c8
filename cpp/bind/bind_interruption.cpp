#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "bind.hpp"

namespace contend::bind {

namespace {

thread_local std::shared_ptr<std::atomic<bool>> heeded;
thread_local const std::function<void()>* told = nullptr;

// Only the main thread handles signals.
bool is_main_thread() { return syscall(SYS_gettid) == getpid(); }

void run_signal_handlers() {
  const nb::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
  if (told != nullptr) (*told)();
}

void look_at_stop() {
  if (heeded && *heeded) throw Interrupted();
}

}  // namespace

Released::Released() : interruption_(is_main_thread() ? run_signal_handlers : look_at_stop) {}

Told::Told(std::function<void()> tell) : tell_(std::move(tell)) { told = &tell_; }

Told::~Told() { told = nullptr; }

void Stop::heed() const { heeded = ended_; }

void bind_interruption(nb::module_& m) {
  nb::class_<Stop>(m, "Stop").def(nb::init<>()).def("set", &Stop::set).def("heed", &Stop::heed);
}

}  // namespace contend::bind
