// Call: one request to SQS, and Step: how it goes on. An operation is a function from a call to its
// first step; a step is the answer, or a request to the engine and the function that gets its
// reply.
//
// Thread safety: the server's thread only.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <boost/json/object.hpp>

#include <tarry/result.h>
#include <tarry/time.h>

#include "base/unique_function.h"
#include "core/engine.h"
#include "core/reply.h"
#include "core/request.h"
#include "server/identity/identity.h"
#include "server/sqs/protocol/fault.h"

namespace tarry::sqs {

class MoveTasks;
class QueueCache;

/// What all calls of a server share.
struct Service {
  core::Capabilities capabilities;
  bool strict = false;             // AWS's limits on delays
  std::function<Time()> now = {};  // the store's clock
  QueueCache* queues = nullptr;    // never null
  MoveTasks* moves = nullptr;      // never null
};

struct Call {
  const Service& service;
  identity::IdentityPtr identity;  // never null
  std::string base_url;            // as the client calls the server: "http://localhost:7734"
  std::string region;              // for names of resources
  boost::json::object params;
};
using CallPtr = std::shared_ptr<Call>;

/// The fields of a successful answer.
using Fields = boost::json::object;

struct Ask;
using Step = std::variant<Fields, Fault, std::unique_ptr<Ask>>;
using Then = base::UniqueFunction<Step(Result<core::Reply>&)>;

struct Ask {
  core::Request request;
  Then then;
};

/// `then` gets the result as it is.
template <typename Next>
[[nodiscard]] Step ask(core::Request request, Next then) {
  return std::make_unique<Ask>(Ask{std::move(request), Then(std::move(then))});
}

/// `then` gets the reply of this kind; any error becomes the answer.
template <typename Reply, typename Next>
[[nodiscard]] Step ask_for(core::Request request, Next then) {
  return ask(std::move(request),
             [then = std::move(then)](Result<core::Reply>& result) mutable -> Step {
               if (!result) return fault_of(result.error());
               auto* reply = std::get_if<Reply>(&*result);
               if (reply == nullptr) {
                 return Fault{Kind::internal, "the engine's answer does not fit the request"};
               }
               return then(*reply);
             });
}

/// The fault of a client without the scope on this queue.
[[nodiscard]] MaybeFault check_scope(const Call& call, identity::Scope scope,
                                     std::string_view queue);

}  // namespace tarry::sqs
