#include "io/host_memory.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>

namespace contend::probe {

namespace {

constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

/// Where a version of control groups keeps its numbers.
struct Group {
  std::string folder;
  const char* limit;
  const char* usage;
  const char* reclaimable;
};

/// The number after a name in lines such as "MemAvailable:   123 kB".
std::optional<std::int64_t> named_number(const std::string& path, const std::string& name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string first;
    std::int64_t number = 0;
    if (words >> first >> number && first == name) {
      return number;
    }
  }
  return std::nullopt;
}

/// The number that a file consists of; none where it is a word such as "max".
std::optional<std::int64_t> only_number(const std::string& path) {
  std::ifstream file(path);
  std::int64_t number = 0;
  if (file >> number) {
    return number;
  }
  return std::nullopt;
}

/// What a group's limit leaves: files in its memory that nobody uses can be dropped for more.
std::int64_t left_in(const Group& group) {
  const auto limit = only_number(group.folder + group.limit);
  const auto usage = only_number(group.folder + group.usage);
  if (!limit || !usage) {
    return kUnlimited;
  }
  const auto files = named_number(group.folder + "memory.stat", group.reclaimable).value_or(0);
  return std::max<std::int64_t>(0, *limit - std::max<std::int64_t>(0, *usage - files));
}

/// What a group and all groups that it is in leave.
std::int64_t left_up_from(const std::string& mount, std::string path, Group group) {
  std::int64_t left = kUnlimited;
  for (;;) {
    group.folder = mount + path + (path.empty() || path.back() != '/' ? "/" : "");
    left = std::min(left, left_in(group));
    const std::size_t parent = path.rfind('/');
    if (parent == std::string::npos) {
      return left;
    }
    path.erase(parent);
  }
}

std::int64_t left_by_groups(const std::string& root) {
  const Group old_kind = {"", "memory.limit_in_bytes", "memory.usage_in_bytes",
                          "total_inactive_file"};
  const Group new_kind = {"", "memory.max", "memory.current", "inactive_file"};
  const std::string mount = root + "/sys/fs/cgroup";
  std::int64_t left = kUnlimited;
  std::ifstream file(root + "/proc/self/cgroup");
  // Lines such as "4:memory:/path" and "0::/path".
  for (std::string line; std::getline(file, line);) {
    const std::size_t kinds = line.find(':');
    const std::size_t path = line.find(':', kinds + 1);
    if (kinds == std::string::npos || path == std::string::npos) {
      continue;
    }
    const std::string controllers = "," + line.substr(kinds + 1, path - kinds - 1) + ",";
    if (controllers == ",,") {
      left = std::min(left, left_up_from(mount, line.substr(path + 1), new_kind));
    } else if (controllers.find(",memory,") != std::string::npos) {
      left = std::min(left, left_up_from(mount + "/memory", line.substr(path + 1), old_kind));
    }
  }
  return left;
}

}  // namespace

std::int64_t available_memory(const std::string& root) {
  const auto kibibytes = named_number(root + "/proc/meminfo", "MemAvailable:");
  const std::int64_t host = kibibytes ? *kibibytes * 1024 : kUnlimited;
  return std::min(host, left_by_groups(root));
}

}  // namespace contend::probe
