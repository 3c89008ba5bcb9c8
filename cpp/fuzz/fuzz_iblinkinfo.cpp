#include "contend/fabric/iblinkinfo.hpp"
#include "fuzz_subnet.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return contend::fuzz::run<contend::IblinkinfoParser>(data, size, contend::fuzz::check_subnet);
}
