#include "server/sqs/exchange.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "server/audit/entry.h"
#include "server/http_session/hosts.h"
#include "server/session/server_context.h"
#include "server/sqs/protocol/reader.h"

namespace tarry::sqs {
namespace {

using http_session::Response;

// For the request log and the metrics: a name that lives as long as the program.
constexpr std::string_view kUnknown = "unknown";

Fault fault_of_sender(const http_session::SenderFault& sender) {
  const bool is_malformed = sender.status == 400;
  return {is_malformed ? Kind::malformed : Kind::access_denied, sender.detail};
}

/// A body that is coded, or signed piece by piece (aws-chunked): SQS's clients send neither.
MaybeFault check_coding(const net::HttpMessage& message) {
  if (const std::string* coding = message.find("Content-Encoding");
      coding != nullptr && !base::equals_ignoring_case(*coding, "identity")) {
    return Fault{Kind::malformed, "The Content-Encoding " + base::quoted(*coding) +
                                      " is not supported: send the body as it is."};
  }
  const std::string* hash = message.find("X-Amz-Content-Sha256");
  if (hash == nullptr || !hash->starts_with("STREAMING-")) return std::nullopt;
  return Fault{Kind::incomplete_signature,
               "The way to sign the body, " + base::quoted(*hash) +
                   ", is not supported: SQS signs the SHA-256 of the whole body."};
}

std::string_view target_action(const net::HttpMessage& message) {
  const std::string* target = message.find("X-Amz-Target");
  if (target == nullptr) return {};
  return std::string_view(*target).substr(std::min(target->find('.'), target->size() - 1) + 1);
}

}  // namespace

session::Urgency Exchange::urgency_of(const net::HttpMessage& message) const {
  // A form's action stands in its body, which has not arrived.
  const Operation* named = find_operation(target_action(message));
  const bool settles = named != nullptr && named->leaves_less;
  return settles ? session::Urgency::settles : session::Urgency::ordinary;
}

std::optional<Response> Exchange::check_head(const net::HttpMessage& message) {
  protocol_ = protocol_of(message);
  operation_ = nullptr;
  fault_code_.clear();
  if (const auto fault = http_session::check_sender(
          message, {front_.options().hosts, session().local_host(), session().is_encrypted()})) {
    return answer(fault_of_sender(*fault));
  }
  if (const auto fault = check_coding(message)) return answer(*fault);
  auto read = read_signature(message);
  signature_.reset();
  if (auto* signature = std::get_if<Signature>(&read)) signature_ = std::move(*signature);
  if (!context().options.tokens.required()) {
    session().set_identity(identity::anyone());
    return std::nullopt;
  }
  if (const auto* fault = std::get_if<Fault>(&read)) return not_recognised(*fault);
  if (!signature_) {
    return not_recognised({Kind::missing_token, "Request is missing Authentication Token."});
  }
  const auto& options = context().options;
  const identity::Tokens::Signer* signer = options.tokens.signer(signature_->access_key);
  if (signer == nullptr || signer->identity->has_ended(options.token_clock())) {
    return not_recognised(
        {Kind::invalid_token, "The security token included in the request is invalid."});
  }
  if (const auto fault = check_time(*signature_, options.token_clock())) {
    return not_recognised(*fault);
  }
  // The signature covers the body. Until that has arrived, nobody is known.
  session().set_identity(identity::nobody());
  return std::nullopt;
}

Response Exchange::not_recognised(const Fault& fault) {
  session().set_identity(nullptr);
  if (context().token_failures.too_many(session().peer(), Clock::now())) {
    return answer({Kind::throttled, "Too many requests of this address had no valid signature."});
  }
  return answer(fault);
}

std::optional<Response> Exchange::recognise() {
  const auto& tokens = context().options.tokens;
  if (!tokens.required()) return std::nullopt;
  const identity::Tokens::Signer* signer =
      signature_ ? tokens.signer(signature_->access_key) : nullptr;
  if (signer == nullptr) {  // the tokens have changed since the head arrived
    return not_recognised(
        {Kind::invalid_token, "The security token included in the request is invalid."});
  }
  const auto hash = body_hash(message());
  if (const auto* fault = std::get_if<Fault>(&hash)) return not_recognised(*fault);
  if (!is_signed_with(message(), *signature_, signer->secret, std::get<std::string>(hash))) {
    return not_recognised(
        {Kind::signature_wrong,
         "The request signature we calculated does not match the signature you provided. Check "
         "your AWS Secret Access Key and signing method."});
  }
  if (const auto refusal = session().recognise(signer->identity, urgency_of(message()))) {
    return response_of(*refusal);
  }
  return std::nullopt;
}

void Exchange::dispatch() {
  context().meter.held(context().held.requests(), context().held.answers());
  if (auto refused = recognise()) return respond(*std::move(refused));
  set_route(kUnknown);
  auto decoded = decode_request(message(), protocol_);
  if (const auto* fault = std::get_if<Fault>(&decoded)) return refuse(*fault);
  auto& [action, params] = std::get<Decoded>(decoded);
  operation_ = find_operation(action);
  if (operation_ == nullptr) {
    return refuse({Kind::invalid_action,
                   "The action " + base::quoted(action) + " is not valid for this endpoint."});
  }
  set_route(operation_->name);
  const std::string scheme = session().is_encrypted() ? "https://" : "http://";
  auto call = std::make_shared<Call>(
      Call{front_.service(), session().identity(),
           scheme + std::string(http_session::named_host(message())),
           signature_ ? signature_->region : std::string("us-east-1"), std::move(params)});
  queue_ = operation_->act && session().is_audited()
               ? std::string(name_in_url(Reader(call->params).text("QueueUrl").value_or("")))
               : std::string();
  message().body = {};
  go(operation_->run(call), true);
}

void Exchange::go(Step step, bool is_first) {
  if (const auto* fault = std::get_if<Fault>(&step)) return refuse(*fault);
  if (const auto* fields = std::get_if<Fields>(&step)) {
    respond(encode_answer(protocol_, operation_->name, *fields, request_id()));
    return;
  }
  auto& asked = std::get<std::unique_ptr<Ask>>(step);
  then_ = std::move(asked->then);
  // A claim is refused where too many wait, also if it is not the first request.
  const bool admit = is_first || std::holds_alternative<core::ClaimRequest>(asked->request);
  if (admit) {
    ask(std::move(asked->request));
  } else {
    ask_more(std::move(asked->request));
  }
}

void Exchange::on_reply(session::HeldReply& reply) {
  Then then = std::move(then_);
  go(then(reply.result()), false);
}

void Exchange::refuse(const Fault& fault) {
  const bool is_act = operation_ != nullptr && operation_->act && session().is_audited();
  if (is_act && session().audited() == nullptr) {
    session().audit(std::make_unique<audit::Entry>(*operation_->act, queue_));
  }
  respond(answer(fault));
}

Response Exchange::answer(const Fault& fault) {
  if (protocol_ == Protocol::json) fault_code_ = fault.query_code();
  return encode_fault(protocol_, fault, request_id());
}

Response Exchange::response_of(const session::Refusal& refusal) {
  using Why = session::Refusal::Why;
  switch (refusal.why) {
    case Why::too_many_connections:
      return answer(
          {Kind::unavailable, "There are " + std::to_string(context().options.max_connections) +
                                  " connections already, which is the limit; try again."});
    case Why::token_not_valid: {
      Response response =
          answer({Kind::invalid_token, "The security token included in the request is invalid."});
      response.close = true;
      return response;
    }
    case Why::over_limit: {
      Fault fault{Kind::throttled, text_of(refusal.reached) + "; try again."};
      fault.retry_after = static_cast<std::uint32_t>(refusal.reached.retry_after.count());
      return answer(fault);
    }
    case Why::too_much_held:
      return answer({Kind::throttled, "The sum of all " + refusal.over.what +
                                          " that are held is over the limit of " +
                                          std::to_string(refusal.over.limit) + " bytes."});
    case Why::late: {
      Response response = answer({Kind::malformed, "The request did not arrive in time."});
      response.status = 408;
      return response;
    }
    case Why::closing: {
      Response response = answer({Kind::unavailable, "The server is being stopped; try again."});
      response.close = true;
      response.reason.clear();  // not logged here, because the stop itself was logged
      return response;
    }
    case Why::no_memory: break;
  }
  return answer({Kind::unavailable, "The server has not the memory for this request just now."});
}

Response Exchange::response_of(net::HttpFault fault, std::string_view text) {
  const Kind kind = fault == net::HttpFault::body_too_large ? Kind::too_large : Kind::malformed;
  Response response = answer({kind, std::string(text)});
  if (fault == net::HttpFault::head_too_large) response.status = 431;
  if (fault == net::HttpFault::unsupported_coding) response.status = 501;
  return response;
}

std::string Exchange::head_of(const Response& response, bool keep_alive) {
  std::string head;
  head.reserve(256);
  head += "HTTP/1.1 ";
  head += std::to_string(response.status);
  head += response.status < 400 ? " OK" : " Error";
  head += "\r\nContent-Type: ";
  head += response.content_type;
  head += "\r\nx-amzn-RequestId: ";
  head += request_id();
  head += "\r\n";
  // SDKs that began with the query protocol know the errors by these codes.
  if (response.status >= 400 && !fault_code_.empty()) {
    head += "x-amzn-query-error: ";
    head += fault_code_;
    head += response.status < 500 ? ";Sender\r\n" : ";Receiver\r\n";
  }
  http_session::end_head(head, response, keep_alive);
  return head;
}

}  // namespace tarry::sqs
