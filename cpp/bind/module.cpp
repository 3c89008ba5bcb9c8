#include <nanobind/nanobind.h>

#include "bind.hpp"
#include "contend/base/error.hpp"
#include "contend/routes/checks/unreachable.hpp"

namespace nb = nanobind;

// Exceptions of the core become those of contend.base.errors: an InputError keeps its line, what
// was expected and what was found there; the reader that called adds the file's name.
static void translate(const std::exception_ptr& error, void*) {
  const auto raise = [](const char* type, const nb::tuple& args) {
    const nb::object cls = nb::module_::import_("contend.base.errors").attr(type);
    PyErr_SetObject(cls.ptr(), nb::object(cls(*args)).ptr());
  };
  try {
    std::rethrow_exception(error);
  } catch (const contend::InputError& e) {
    // The reader's source name is not known here.
    raise("InputError",
          nb::make_tuple("", e.line(), nb::str(e.expected().data(), e.expected().size()),
                         nb::str(e.got().data(), e.got().size())));
  } catch (const contend::UnreachableError& e) {
    raise("UnreachableError",
          nb::make_tuple(e.to(), e.address(), e.from(), e.at(), e.why().c_str()));
  } catch (const contend::Interrupted&) {
    PyErr_SetNone(PyExc_KeyboardInterrupt);
  } catch (const contend::Error& e) {
    raise("UsageError", nb::make_tuple(e.what()));
  }
}

NB_MODULE(_core, m) {
  m.doc() = "The C++ core of contend; use the package contend, not this module.";
  nb::register_exception_translator(translate, nullptr);
  // A fabric that somebody still holds when Python ends is no leak, and nothing to tell a user.
  nb::set_leak_warnings(false);
  contend::bind::bind_interruption(m);
  contend::bind::bind_check(m);
  contend::bind::bind_fabric(m);
  contend::bind::bind_resolver(m);
  contend::bind::bind_packets(m);
  contend::bind::bind_pattern(m);
  contend::bind::bind_congestion(m);
  contend::bind::bind_schedule(m);
  contend::bind::bind_readers(m);
  contend::bind::bind_engines(m);
}
