#include "common/machine.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>

#include "common/ranks.hpp"

namespace contend::probe {

namespace {

constexpr char kBetween = '\x1f';

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string host_name() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

std::string allowed_cpus() {
  std::ifstream file("/proc/self/status");
  const std::string wanted = "Cpus_allowed_list:";
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, wanted.size(), wanted) == 0) {
      return line.substr(std::min(line.find_first_not_of(" \t", wanted.size()), line.size()));
    }
  }
  return "";
}

// Processes in different time namespaces read different clocks under one kernel.
std::string time_namespace() {
  char name[128] = {};
  const ssize_t length = readlink("/proc/self/ns/time", name, sizeof name - 1);
  return length > 0 ? std::string(name, static_cast<std::size_t>(length)) : "";
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char letter : text) {
    if (letter == kBetween) {
      parts.emplace_back();
    } else {
      parts.back() += letter;
    }
  }
  return parts;
}

}  // namespace

Machines find_machines(MPI_Comm comm) {
  std::string machine = first_line("/proc/sys/kernel/random/boot_id");
  std::string clock = machine + time_namespace();
  if (machine.empty()) {
    // Without its name a kernel is as good as its host's, and a clock shared with nobody.
    machine = host_name();
    clock = machine + " " + std::to_string(rank_in(comm));
  }
  const std::string mine =
      host_name() + kBetween + std::to_string(getpid()) + kBetween + allowed_cpus() + kBetween +
      std::to_string(sysconf(_SC_NPROCESSORS_ONLN)) + kBetween + machine + kBetween + clock;
  Machines found;
  for (const std::string& told : gather_everywhere(mine, comm)) {
    const std::vector<std::string> parts = split(told);
    if (parts.size() != 6) {
      fail("a rank sent a description of its machine that cannot be read");
    }
    found.host.push_back(parts[0]);
    found.pid.push_back(std::atoll(parts[1].c_str()));
    found.cpus.push_back(parts[2]);
    found.host_cpus.push_back(std::atoll(parts[3].c_str()));
    found.machine.push_back(parts[4]);
    found.clock.push_back(parts[5]);
  }
  return found;
}

std::set<int> parse_cpus(const std::string& list) {
  std::set<int> numbers;
  const char* at = list.c_str();
  while (*at != '\0') {
    char* end = nullptr;
    const long first = std::strtol(at, &end, 10);
    if (end == at) {
      break;
    }
    long last = first;
    if (*end == '-') {
      at = end + 1;
      last = std::strtol(at, &end, 10);
    }
    for (long number = first; number <= last; ++number) {
      numbers.insert(static_cast<int>(number));
    }
    at = *end == ',' ? end + 1 : end;
  }
  return numbers;
}

bool oversubscribed(const Machines& machines) {
  std::map<std::string, std::map<std::string, int>> ranks_on;
  for (std::size_t rank = 0; rank < machines.cpus.size(); ++rank) {
    // A rank whose processors are unknown may use all of its machine's.
    const std::string cpus = machines.cpus[rank].empty()
                                 ? "0-" + std::to_string(machines.host_cpus[rank] - 1)
                                 : machines.cpus[rank];
    ++ranks_on[machines.machine[rank]][cpus];
  }
  for (const auto& [machine, bound] : ranks_on) {
    for (const auto& [list, count] : bound) {
      const std::set<int> available = parse_cpus(list);
      std::size_t ranks = 0;
      for (const auto& [other_list, other_count] : bound) {
        const std::set<int> other = parse_cpus(other_list);
        if (std::includes(available.begin(), available.end(), other.begin(), other.end())) {
          ranks += static_cast<std::size_t>(other_count);
        }
      }
      if (ranks > available.size()) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace contend::probe
