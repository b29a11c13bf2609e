#include "figures/figures.h"

namespace tarry::bench {

const std::vector<Measurement>& measurements() {
  static const std::vector<Measurement> all{
      {{"F1", "F2"}, measure_against_rocksdb},
      {{"F3", "F3s"}, measure_against_lmdb},
      {{"F4"}, measure_group_commit},
      {{"F5"}, measure_pending},
      {{"F6", "F6k", "F8", "F8c"}, measure_footprint},
      {{"F7", "F7m"}, measure_churn},
      {{"F9"}, measure_lateness},
      {{"F10", "F10c"}, measure_spike},
      {{"F11", "F11m"}, measure_in_redis},
      {{"F11k"}, measure_in_redis_by_key},
      {{"F11e"}, measure_in_redis_with_aof},
      {{"F12"}, measure_against_redisson},
#ifdef TARRY_WITH_RABBITMQ
      {{"F16"}, measure_relay_to_rabbitmq},
#endif
      {{"F17", "F17r", "F17p"}, measure_with_little_ram},
      {{"F13", "F14"}, measure_jobs},
      {{"F18", "F18r"}, measure_sqs},
      {{"F22", "F24", "F24r"}, measure_against_beanstalkd},
      {{"F23"}, measure_against_nats},
      {{"F25", "F25b"}, measure_over_http},
      {{"F26", "F26s"}, measure_tls},
      {{"F21", "F21l"}, measure_schedules},
  };
  return all;
}

}  // namespace tarry::bench
