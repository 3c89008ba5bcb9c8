#include "contend/routes/engines/engines.hpp"

#include <string>

#include "contend/base/error.hpp"

namespace contend {

void check_targets(const Fabric& fabric, const Targets& targets) {
  if (targets.hosts.first.size() != fabric.hosts() || targets.hosts.lmc.size() != fabric.hosts()) {
    throw Error("hosts' addresses do not belong to the fabric");
  }
  if (targets.switches.size() != fabric.switches() ||
      targets.switch_guid.size() != fabric.switches() ||
      targets.switch_system.size() != fabric.switches()) {
    throw Error("switches' addresses or GUIDs do not belong to the fabric");
  }
  if (targets.other_switch.size() != targets.others.size() ||
      targets.other_port.size() != targets.others.size()) {
    throw Error("places of other addresses do not belong to them");
  }
  for (const SwitchId at : targets.other_switch) {
    if (at >= fabric.switches()) throw Error("switch " + std::to_string(at) + " does not exist");
  }
  std::vector<bool> taken(targets.addresses, false);
  const auto take = [&](std::uint64_t address) {
    if (address >= targets.addresses) {
      throw Error("address " + std::to_string(address) + " of " +
                  std::to_string(targets.addresses));
    }
    if (taken[address]) throw Error("address " + std::to_string(address) + " is used twice");
    taken[address] = true;
  };
  for (HostId host = 0; host < fabric.hosts(); ++host) {
    const std::uint64_t first = targets.hosts.first[host];
    if (targets.hosts.lmc[host] > 7) throw Error("more than 128 addresses of one host");
    if (first == 0) continue;
    for (std::uint64_t k = 0; k < std::uint64_t{1} << targets.hosts.lmc[host]; ++k) take(first + k);
  }
  for (const Address address : targets.switches) {
    if (address != 0) take(address);
  }
  for (const Address address : targets.others) take(address);
}

}  // namespace contend
