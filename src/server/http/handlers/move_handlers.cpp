#include "server/http/handlers/batches.h"
#include "server/http/handlers/handlers.h"
#include "wire/move.h"

namespace tarry::http {

Routed import_messages(Asked& asked) {
  auto move = wire::decode_move(std::move(asked.name), asked.body);
  return move ? answer_pushed(std::move(*move)) : problem(move.error());
}

Routed move_away(Asked& asked) {
  return answer_by_key(wire::decode_move_away(std::move(asked.name), asked.body));
}

}  // namespace tarry::http
