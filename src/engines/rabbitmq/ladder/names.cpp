#include "engines/rabbitmq/ladder/names.h"

namespace tarry::rabbitmq {

std::string rung_name(std::int64_t base_ms, int rung) {
  return "tarry.v1." + std::to_string(base_ms) + "ms.rung." + (rung < 10 ? "0" : "") +
         std::to_string(rung);
}
std::string ready_name(std::string_view queue) { return "tarry.v1.queue." + std::string(queue); }
std::string dead_name(std::string_view queue) { return "tarry.v1.dead." + std::string(queue); }

}  // namespace tarry::rabbitmq
