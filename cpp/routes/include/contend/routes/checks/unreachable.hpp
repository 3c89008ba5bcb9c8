#pragma once

#include <string>

#include "contend/base/error.hpp"
#include "contend/base/ids.hpp"

namespace contend {

/// A host that cannot be reached from some switch by the forwarding tables.
class UnreachableError : public Error {
 public:
  UnreachableError(HostId to, Address address, SwitchId from, SwitchId at, std::string why)
      : Error("host " + std::to_string(to) + " (address " + std::to_string(address) +
              ") cannot be reached from switch " + std::to_string(from) + ": switch " +
              std::to_string(at) + " " + why),
        to_(to),
        address_(address),
        from_(from),
        at_(at),
        why_(std::move(why)) {}

  HostId to() const { return to_; }
  Address address() const { return address_; }
  SwitchId from() const { return from_; }
  SwitchId at() const { return at_; }
  const std::string& why() const { return why_; }

 private:
  HostId to_;
  Address address_;
  SwitchId from_;
  SwitchId at_;
  std::string why_;
};

}  // namespace contend
