// Planted bugs: mistakes that other systems have made, or that we nearly made. Each has a switch,
// so that the simulator can show that it would find the mistake. They exist only if TARRY_PLANTED
// is defined, for tests/simulation alone. In every other build TARRY_PLANTED_BUG is the constant
// false, and the mistakes are not compiled in.
//
// Thread safety: the simulator's program sets the switch before it starts anything.
#pragma once

#ifdef TARRY_PLANTED

namespace tarry::base {

#define TARRY_EACH_PLANTED_BUG(X) \
  X(skip_data_sync)               \
  X(skip_directory_sync)          \
  X(answer_before_write)          \
  X(retry_failed_sync)            \
  X(forget_failure)               \
  X(early_by_a_tick)              \
  X(cancel_not_logged)            \
  X(attempts_reset_by_replay)     \
  X(due_moved_by_replay)          \
  X(stale_receipt_accepted)       \
  X(cancel_stops_nothing)         \
  X(remove_before_sync)           \
  X(copy_forgets_the_past)        \
  X(copy_has_the_old_due)         \
  X(low_water_not_raised)         \
  X(checksum_not_checked)         \
  X(damage_taken_for_a_torn_tail) \
  X(unproven_not_rewritten)       \
  X(skipped_ids_not_synced)       \
  X(step_back_ignored)            \
  X(delay_not_held)               \
  X(waiter_not_woken)             \
  X(nothing_kept_back)            \
  X(opening_without_counters)     \
  X(purge_takes_leased)           \
  X(durable_overstated)           \
  X(seal_overstated)              \
  X(lease_begins_too_early)       \
  X(key_not_looked_up)            \
  X(renewed_lease_not_logged)     \
  X(removal_not_decided)          \
  X(removal_looks_at_no_lease)    \
  X(late_lease_not_put_back)      \
  X(late_left_from_before)        \
  X(uncommitted_lease_runs_out)   \
  X(cancel_not_remembered)        \
  X(acked_again_by_any_receipt)   \
  X(expired_delivered)            \
  X(copy_never_expires)           \
  X(limit_passed_by_one)          \
  X(group_starved)                \
  X(group_limit_passed_by_one)    \
  X(copy_forgets_events)          \
  X(group_overtaken)              \
  X(group_leased_twice)

enum class Bug {
  none,
#define TARRY_NAME(name) name,
  TARRY_EACH_PLANTED_BUG(TARRY_NAME)
#undef TARRY_NAME
};

struct PlantedBug {
  Bug bug;
  const char* name;
};
inline constexpr PlantedBug kPlantedBugs[] = {
#define TARRY_NAME(name) {Bug::name, #name},
    TARRY_EACH_PLANTED_BUG(TARRY_NAME)
#undef TARRY_NAME
};

inline Bug planted_bug = Bug::none;

}  // namespace tarry::base

#define TARRY_PLANTED_BUG(name) (::tarry::base::planted_bug == ::tarry::base::Bug::name)

#else

#define TARRY_PLANTED_BUG(name) false

#endif
