// LocalTimes: the moments at which the local clock of a zone shows the times of a cron expression.
// recurrence.h has the rule for local times that are skipped or come twice.
//
// Immutable: thread safe.
#pragma once

#include <optional>
#include <utility>

#include "schedule/calendar/cron.h"
#include "schedule/calendar/zone.h"

namespace tarry::schedule {

class LocalTimes {
 public:
  LocalTimes(Cron cron, Zone zone) noexcept : cron_(cron), zone_(std::move(zone)) {}

  [[nodiscard]] const Zone& zone() const noexcept { return zone_; }

  /// The first such moment from `from` (included) to `until` (not included).
  [[nodiscard]] std::optional<UtcSeconds> first_from(UtcSeconds from, UtcSeconds until) const;

 private:
  [[nodiscard]] LocalSeconds shown_until(const Period& period) const;

  Cron cron_;
  Zone zone_;
};

}  // namespace tarry::schedule
