// AWS's Signature Version 4: reads it from a request, in the Authorization field or in the query of
// a presigned URL, and checks it. SHA-256 and HMAC are OpenSSL's (net/sha256.h, net/hmac.h).
//
// A signature covers the method, path, query, the signed fields, and the hash of the body. So it
// can be checked only when the body has arrived.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <tarry/time.h>

#include "net/http/http_message.h"
#include "server/sqs/protocol/fault.h"

namespace tarry::sqs {

struct Signature {
  std::string access_key;
  std::string date;  // 20260131
  std::string region;
  std::string service;
  std::string time;                         // 20260131T235959Z
  std::vector<std::string> signed_headers;  // in lower case, sorted
  std::string digits;                       // the signature
  std::optional<std::int64_t> expires_s;    // presigned: how long it holds
};

/// Nothing: the request is not signed. A fault: it is, but not well-formed.
[[nodiscard]] std::variant<std::monostate, Signature, Fault> read_signature(
    const net::HttpMessage& message);

/// A signature holds within 15 minutes of its time; a presigned one until it expires.
[[nodiscard]] MaybeFault check_time(const Signature& signature, Time now);

/// The SHA-256 of the request's body, in hex, as it is signed; a fault if the request announces
/// another one, or a way to sign that is not SQS's.
[[nodiscard]] std::variant<std::string, Fault> body_hash(const net::HttpMessage& message);

/// What is signed, as AWS's documents call it. Exposed for tests.
[[nodiscard]] std::string canonical_request(const net::HttpMessage& message,
                                            const Signature& signature,
                                            std::string_view body_sha256);
[[nodiscard]] std::string string_to_sign(const Signature& signature,
                                         std::string_view canonical_request);

/// Takes the same time wherever the signatures differ.
[[nodiscard]] bool is_signed_with(const net::HttpMessage& message, const Signature& signature,
                                  std::string_view secret, std::string_view body_sha256);

}  // namespace tarry::sqs
