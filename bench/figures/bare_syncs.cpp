#include "figures/bare_syncs.h"

#include "designs/limits/log_file.h"
#include "harness/scratch.h"
#include "harness/wall.h"

namespace tarry::bench {

base::Histogram bare_syncs(const std::string& directory, double seconds) {
  const Scratch scratch(directory);
  LogFile log(scratch.path(), Sync::always);
  const std::string page(4'096, 'x');
  base::Histogram us;
  for (const Stopwatch all; all.seconds() < seconds;) {
    const Stopwatch one;
    log.append(page);
    us.record(static_cast<std::int64_t>(one.seconds() * 1e6));
  }
  return us;
}

}  // namespace tarry::bench
