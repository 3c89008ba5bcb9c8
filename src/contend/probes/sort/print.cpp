#include "sort/print.hpp"

#include <cstdio>

#include "common/check.hpp"
#include "common/exchange.hpp"

namespace contend::probe::sort {

void print_keys(const std::string& title, const Records& records, MPI_Comm comm) {
  std::string row;
  for (std::int64_t record = 0; record < records.count; ++record) {
    char key[32];
    std::snprintf(key, sizeof key, " %.10g", records.key(record));
    row += key;
  }
  std::string page = title + "\n";
  for (const std::string& other : gather_everywhere(row, comm)) {
    page += other + "\n";
  }
  if (rank_in(comm) == 0) {
    std::fwrite(page.data(), 1, page.size(), stdout);
    std::fflush(stdout);
  }
}

}  // namespace contend::probe::sort
