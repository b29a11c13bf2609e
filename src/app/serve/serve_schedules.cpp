#include "app/serve/serve_schedules.h"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/output/progress.h"
#include "base/text/text.h"

namespace tarry::app {

Result<void> apply_schedules(const Store& store, const schedule::Declared& declared,
                             ServeLog& log) {
  const auto done = schedule::reconcile(store, declared);
  if (!done) return done.error();
  const auto tell = [&log](const std::vector<std::string>& names, std::string_view what) {
    for (const std::string& name : names) {
      log.info("schedule_configured", fmt::format("schedule {}: {}", base::quoted(name), what));
    }
  };
  tell(done->added, "added, as the configuration declares it");
  tell(done->replaced, "replaced by what the configuration declares");
  tell(done->removed, "removed: the configuration does not declare it any more");
  for (const Error& error : done->failed) log.error("schedule_not_configured", error.message);
  if (done->newer) {
    log.warning("schedules_newer",
                fmt::format("schedules.revision is {}, and the store has schedules of revision {}: "
                            "those of this configuration are not applied",
                            declared.revision, *done->newer));
  }
  if (done->kept > 0) {
    log.warning("schedules_kept",
                fmt::format("{} in the store came from a configuration file, and this one has "
                            "none: they stay; set schedules.revision to remove them",
                            counted(done->kept, "schedule")));
  }
  return {};
}

}  // namespace tarry::app
