#include <doctest/doctest.h>

#include "common/machine.hpp"

using namespace contend::probe;

namespace {

Machines on_one_machine(const std::vector<std::string>& cpus) {
  Machines machines;
  for (const std::string& list : cpus) {
    machines.host.push_back("n");
    machines.pid.push_back(1);
    machines.cpus.push_back(list);
    machines.host_cpus.push_back(4);
    machines.machine.push_back("m");
    machines.clock.push_back("c");
  }
  return machines;
}

}  // namespace

TEST_CASE("the kernel's lists of processors") {
  CHECK(parse_cpus("0-2,8") == std::set<int>{0, 1, 2, 8});
  CHECK(parse_cpus("5") == std::set<int>{5});
  CHECK(parse_cpus("").empty());
}

TEST_CASE("as many ranks as processors is not too many") {
  CHECK_FALSE(oversubscribed(on_one_machine({"0-3", "0-3", "0-3", "0-3"})));
  CHECK(oversubscribed(on_one_machine({"0-3", "0-3", "0-3", "0-3", "0-3"})));
}

TEST_CASE("ranks bound to one processor share it even where others are free") {
  CHECK_FALSE(oversubscribed(on_one_machine({"0", "1", "2", "3"})));
  CHECK(oversubscribed(on_one_machine({"0", "0"})));
  // Two are bound to 0-1, one to 1: three ranks for two processors.
  CHECK(oversubscribed(on_one_machine({"0-1", "0-1", "1"})));
}

TEST_CASE("unknown processors are all of the machine's") {
  CHECK_FALSE(oversubscribed(on_one_machine({"", "", "", ""})));
  CHECK(oversubscribed(on_one_machine({"", "", "", "", ""})));
}

TEST_CASE("machines are counted apart") {
  Machines machines = on_one_machine({"0-1", "0-1", "0-1", "0-1"});
  CHECK(oversubscribed(machines));
  machines.machine = {"a", "a", "b", "b"};
  CHECK_FALSE(oversubscribed(machines));
}
