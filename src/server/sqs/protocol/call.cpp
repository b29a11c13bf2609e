#include "server/sqs/protocol/call.h"

#include "base/text/text.h"

namespace tarry::sqs {

MaybeFault check_scope(const Call& call, identity::Scope scope, std::string_view queue) {
  if (call.identity->may(scope, queue)) return std::nullopt;
  return Fault{Kind::access_denied, "The token " + base::quoted(call.identity->name) +
                                        " lacks the scope " +
                                        std::string(identity::to_string(scope)) + " on queue " +
                                        base::quoted(queue) + "."};
}

}  // namespace tarry::sqs
