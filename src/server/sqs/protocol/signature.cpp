#include "server/sqs/protocol/signature.h"

#include <algorithm>
#include <utility>

#include "base/secrets/token.h"
#include "base/text/ascii.h"
#include "base/text/text.h"
#include "base/text/url_parts.h"
#include "net/hmac.h"
#include "net/sha256.h"
#include "server/http_session/hosts.h"
#include "server/sqs/protocol/reader.h"

namespace tarry::sqs {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";
constexpr std::string_view kEnd = "aws4_request";
constexpr std::string_view kSignatureParameter = "X-Amz-Signature";
constexpr std::int64_t kSkewMs = 15ll * 60 * 1000;
constexpr std::int64_t kLongestPresigned = 604'800;

Fault incomplete(std::string message) { return {Kind::incomplete_signature, std::move(message)}; }

std::string lower(std::string_view text) {
  std::string small(text);
  for (char& c : small) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return small;
}

std::vector<std::string> split_at(std::string_view text, char mark) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = std::min(text.find(mark), text.size());
    parts.emplace_back(text.substr(0, end));
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

void append_encoded(std::string& out, std::string_view text, bool keep_slash) {
  constexpr std::string_view kMarks = "-._~";
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  for (const char c : text) {
    const bool plain = base::is_letter(c) || base::is_digit(c) ||
                       kMarks.find(c) != std::string_view::npos || (keep_slash && c == '/');
    if (plain) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += kDigits[byte >> 4];
    out += kDigits[byte & 0xfu];
  }
}

std::string_view path_of(const net::HttpMessage& message) {
  const std::string_view target = http_session::origin_form(message.target);
  return target.substr(0, target.find('?'));
}

Pairs query_of(const net::HttpMessage& message) {
  const std::string_view target = http_session::origin_form(message.target);
  const std::size_t mark = target.find('?');
  Pairs pairs;
  if (mark == std::string_view::npos) return pairs;
  for (const std::string& field : split_at(target.substr(mark + 1), '&')) {
    if (field.empty()) continue;
    const std::size_t equals = std::min(field.find('='), field.size());
    const auto name = base::percent_decoded("a name", field.substr(0, equals));
    const auto value =
        base::percent_decoded("a value", field.substr(std::min(equals + 1, field.size())));
    // What cannot be decoded cannot be signed: it stands for itself, and the signature is wrong.
    pairs.emplace_back(name ? *name : field, value ? *value : std::string());
  }
  return pairs;
}

/// AWS's documents: the path is normalised, and encoded once more than it was sent.
std::string canonical_path(std::string_view path) {
  std::vector<std::string> kept;
  for (std::string& part : split_at(path, '/')) {
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      if (!kept.empty()) kept.pop_back();
    } else {
      kept.push_back(std::move(part));
    }
  }
  std::string out;
  for (const std::string& part : kept) {
    out += '/';
    append_encoded(out, part, false);
  }
  if (out.empty() || path.ends_with('/')) out += '/';
  return out;
}

std::string canonical_query(Pairs pairs) {
  std::vector<std::string> fields;
  for (const auto& [name, value] : pairs) {
    if (name == kSignatureParameter) continue;
    std::string& field = fields.emplace_back();
    append_encoded(field, name, false);
    field += '=';
    append_encoded(field, value, false);
  }
  std::ranges::sort(fields);
  std::string out;
  for (const std::string& field : fields) {
    if (!out.empty()) out += '&';
    out += field;
  }
  return out;
}

/// A field's values, each without blanks at its ends and with one for several within.
std::string canonical_value(const net::HttpMessage& message, std::string_view name) {
  std::string out;
  bool is_first = true;
  for (const net::HttpField& field : message.fields) {
    if (!base::equals_ignoring_case(field.name, name)) continue;
    if (!std::exchange(is_first, false)) out += ',';
    bool blank = false;
    bool begun = false;
    for (const char c : field.value) {
      if (c == ' ' || c == '\t') {
        blank = begun;
        continue;
      }
      if (std::exchange(blank, false)) out += ' ';
      begun = true;
      out += c;
    }
  }
  return out;
}

MaybeFault take_credential(std::string_view text, Signature& into) {
  auto parts = split_at(text, '/');
  if (parts.size() != 5 || parts[4] != kEnd) {
    return incomplete("The credential is not KEY/DATE/REGION/SERVICE/aws4_request.");
  }
  into.access_key = std::move(parts[0]);
  into.date = std::move(parts[1]);
  into.region = std::move(parts[2]);
  into.service = std::move(parts[3]);
  if (into.service != "sqs") return incomplete("The credential is not for the service sqs.");
  constexpr std::size_t kDate = 8;
  if (into.date.size() != kDate || !into.time.starts_with(into.date)) {
    return incomplete("The date of the credential is not that of the request.");
  }
  return std::nullopt;
}

/// Whether everything is signed that decides what the request does.
MaybeFault check_signed_headers(const net::HttpMessage& message, const Signature& signature) {
  if (!std::ranges::is_sorted(signature.signed_headers)) {
    return incomplete("The signed headers are not sorted.");
  }
  for (const std::string_view name : {"host", "x-amz-target", "x-amz-date"}) {
    const bool is_needed = name == "host" || message.find(name) != nullptr;
    const bool is_signed =
        std::ranges::find(signature.signed_headers, name) != signature.signed_headers.end();
    if (is_needed && !is_signed) {
      return incomplete("The field " + std::string(name) + " must be signed.");
    }
    if (message.count(name) > 1) {
      return incomplete("The field " + std::string(name) + " occurs twice.");
    }
  }
  return std::nullopt;
}

std::variant<std::monostate, Signature, Fault> checked(const net::HttpMessage& message,
                                                       Signature signature,
                                                       std::string_view credential) {
  if (auto fault = take_credential(credential, signature)) return *std::move(fault);
  if (signature.digits.size() != net::kSha256Digits) {
    return incomplete("The signature is not 64 hex digits.");
  }
  if (auto fault = check_signed_headers(message, signature)) return *std::move(fault);
  return signature;
}

std::variant<std::monostate, Signature, Fault> read_field(const net::HttpMessage& message,
                                                          std::string_view field) {
  if (message.count("Authorization") > 1) return incomplete("Authorization occurs twice.");
  const std::string* time = message.find("X-Amz-Date");
  if (time == nullptr) return incomplete("Authorization header requires existence of X-Amz-Date.");
  Signature signature;
  signature.time = *time;
  std::string credential;
  for (const std::string& part : split_at(field.substr(kAlgorithm.size()), ',')) {
    const std::size_t begin = std::min(part.find_first_not_of(' '), part.size());
    const std::string_view word = std::string_view(part).substr(begin);
    const std::string_view name = word.substr(0, word.find('='));
    const std::string_view value = word.substr(std::min(name.size() + 1, word.size()));
    if (name == "Credential") credential = value;
    if (name == "SignedHeaders") signature.signed_headers = split_at(lower(value), ';');
    if (name == "Signature") signature.digits = value;
  }
  return checked(message, std::move(signature), credential);
}

std::variant<std::monostate, Signature, Fault> read_presigned(const net::HttpMessage& message,
                                                              const Pairs& query) {
  Signature signature;
  std::string credential;
  for (const auto& [name, value] : query) {
    if (name == "X-Amz-Algorithm" && value != kAlgorithm) {
      return incomplete("X-Amz-Algorithm is not AWS4-HMAC-SHA256.");
    }
    if (name == "X-Amz-Date") signature.time = value;
    if (name == "X-Amz-Credential") credential = value;
    if (name == "X-Amz-SignedHeaders") signature.signed_headers = split_at(lower(value), ';');
    if (name == kSignatureParameter) signature.digits = value;
    if (name == "X-Amz-Expires") signature.expires_s = parse_whole(value);
  }
  if (!signature.expires_s || *signature.expires_s < 1 ||
      *signature.expires_s > kLongestPresigned) {
    return incomplete("X-Amz-Expires is not 1 to 604800 seconds.");
  }
  return checked(message, std::move(signature), credential);
}

/// Epoch milliseconds of 20260131T235959Z.
std::optional<std::int64_t> parse_amz_time(std::string_view text) {
  if (text.size() != 16 || text[8] != 'T' || text[15] != 'Z') return std::nullopt;
  std::string rfc(text.substr(0, 4));
  rfc.append("-").append(text.substr(4, 2)).append("-").append(text.substr(6, 2));
  rfc.append("T").append(text.substr(9, 2)).append(":").append(text.substr(11, 2));
  rfc.append(":").append(text.substr(13, 2)).append("Z");
  const auto parsed = base::parse_time_ms(rfc);
  if (!parsed) return std::nullopt;
  return *parsed;
}

std::string scope_of(const Signature& signature) {
  return signature.date + "/" + signature.region + "/" + signature.service + "/" +
         std::string(kEnd);
}

}  // namespace

std::variant<std::monostate, Signature, Fault> read_signature(const net::HttpMessage& message) {
  if (const std::string* field = message.find("Authorization")) {
    if (field->starts_with(kAlgorithm)) return read_field(message, *field);
    return incomplete("The Authorization field is not of AWS4-HMAC-SHA256.");
  }
  const Pairs query = query_of(message);
  const bool is_presigned = std::ranges::any_of(
      query, [](const auto& pair) { return pair.first == kSignatureParameter; });
  if (!is_presigned) return std::monostate();
  return read_presigned(message, query);
}

MaybeFault check_time(const Signature& signature, Time now) {
  const auto time = parse_amz_time(signature.time);
  if (!time) return incomplete("The date of the request is not of the form 20260131T235959Z.");
  const std::int64_t now_ms = now.time_since_epoch().count();
  const std::int64_t until =
      signature.expires_s ? *time + 1000 * *signature.expires_s : *time + kSkewMs;
  if (now_ms <= until && now_ms >= *time - kSkewMs) return std::nullopt;
  return Fault{Kind::signature_wrong, "Signature expired or not yet current: its time is " +
                                          base::format_time_ms(*time) + ", and the server's is " +
                                          base::format_time_ms(now_ms) + "."};
}

std::variant<std::string, Fault> body_hash(const net::HttpMessage& message) {
  const std::string hash = net::sha256_hex(message.body);
  const std::string* given = message.find("X-Amz-Content-Sha256");
  if (given == nullptr || base::equals_ignoring_case(*given, hash)) return hash;
  if (given->size() != net::kSha256Digits) {
    return incomplete("The way to sign the body, " + base::quoted(*given) +
                      ", is not supported: SQS signs the SHA-256 of the whole body.");
  }
  return Fault{Kind::signature_wrong,
               "The provided 'x-amz-content-sha256' header does not match what was computed."};
}

std::string canonical_request(const net::HttpMessage& message, const Signature& signature,
                              std::string_view body_sha256) {
  std::string out = message.method + "\n";
  out += canonical_path(path_of(message)) + "\n";
  out += canonical_query(query_of(message)) + "\n";
  std::string names;
  for (const std::string& name : signature.signed_headers) {
    out += name + ":" + canonical_value(message, name) + "\n";
    if (!names.empty()) names += ';';
    names += name;
  }
  out += "\n" + names + "\n";
  out += body_sha256;
  return out;
}

std::string string_to_sign(const Signature& signature, std::string_view canonical) {
  return std::string(kAlgorithm) + "\n" + signature.time + "\n" + scope_of(signature) + "\n" +
         net::sha256_hex(canonical);
}

bool is_signed_with(const net::HttpMessage& message, const Signature& signature,
                    std::string_view secret, std::string_view body_sha256) {
  std::string key = net::hmac_sha256("AWS4" + std::string(secret), signature.date);
  for (const std::string_view part :
       {std::string_view(signature.region), std::string_view(signature.service), kEnd}) {
    key = net::hmac_sha256(key, part);
  }
  const std::string text =
      string_to_sign(signature, canonical_request(message, signature, body_sha256));
  return base::is_same_secret(lower(signature.digits), net::hmac_sha256_hex(key, text));
}

}  // namespace tarry::sqs
