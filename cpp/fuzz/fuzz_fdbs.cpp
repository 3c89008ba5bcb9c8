#include "contend/routes/dumps/dumps.hpp"
#include "fuzz_tables.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return contend::fuzz::run<contend::FdbsParser>(data, size, contend::fuzz::check_tables);
}
