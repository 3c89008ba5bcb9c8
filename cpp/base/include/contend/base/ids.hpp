#pragma once

#include <cstdint>

namespace contend {

using HostId = std::uint32_t;
using SwitchId = std::uint32_t;
using ChannelId = std::uint32_t;
/// A LID, or for fabrics larger than the LID space any number that tables are indexed by.
using Address = std::uint32_t;
using PortNumber = std::uint16_t;

inline constexpr PortNumber kNoPort = 0xFFFF;
inline constexpr SwitchId kNoSwitch = 0xFFFFFFFF;
inline constexpr ChannelId kNoChannel = 0xFFFFFFFF;

}  // namespace contend
