#include "wire/forecast.h"

#include <limits>

#include "base/text.h"
#include "core/limits.h"
#include "wire/json_reader.h"
#include "wire/json_writer.h"

namespace tarry::wire {
namespace {

constexpr Millis kDefaultWidth{60'000};
constexpr std::uint32_t kDefaultBuckets = 60;

}  // namespace

std::string encode_forecast(const core::ForecastRequest& request) {
  std::string text;
  QueryWriter out(text);
  out.add("width_ms", std::to_string(request.width.count()));
  out.add("buckets", std::to_string(request.buckets));
  return text;
}

Result<core::ForecastRequest> decode_forecast(std::string queue, Query& query) {
  core::ForecastRequest request{std::move(queue), kDefaultWidth, kDefaultBuckets};
  const auto width = query.text("width");
  const auto width_ms =
      query.number("width_ms", 0, std::uint64_t{std::numeric_limits<std::int64_t>::max()});
  if (width && width_ms) {
    query.fail({ErrorCode::invalid_argument, "width and width_ms: give one of them"});
  } else if (width_ms) {
    request.width = Millis(static_cast<std::int64_t>(*width_ms));
  } else if (width) {
    if (const auto ms = base::parse_duration_ms(*width)) {
      request.width = Millis(*ms);
    } else {
      query.fail({ErrorCode::invalid_argument, "width: " + ms.error().message});
    }
  }
  request.buckets = query.u32("buckets", 1, core::kMaxForecastBuckets).value_or(request.buckets);
  if (MaybeError error = query.finish()) return *error;
  return request;
}

std::string encode_forecast_reply(const core::ForecastReply& reply, Millis width) {
  std::string text;
  JsonWriter out(text);
  out.begin_object().millis_field("width", width.count()).field("due_now", reply.due_now);
  out.name("buckets").begin_array();
  for (const std::uint64_t count : reply.buckets) out.number(count);
  out.end_array().field("later", reply.later).end_object();
  return text;
}

Result<core::ForecastReply> decode_forecast_reply(std::string_view body) {
  Document document(body.size(), kAnswerLimits);
  if (MaybeError error = document.parse(body)) return *error;
  Fields fields(document.root(), "the answer", Unknown::ignored);
  for (const char* name : {"due_now", "buckets", "later"}) fields.require(name);
  core::ForecastReply reply;
  reply.due_now = fields.u64("due_now").value_or(0);
  reply.later = fields.u64("later").value_or(0);
  const boost::json::array* buckets = fields.array("buckets");
  if (MaybeError error = fields.finish()) return *error;
  for (const boost::json::value& value : *buckets) {
    boost::system::error_code failed;
    reply.buckets.push_back(value.to_number<std::uint64_t>(failed));
    if (failed || value.is_double()) {
      return Unexpected(ErrorCode::invalid_argument,
                        "an item of \"buckets\" is not a whole number from 0 on");
    }
  }
  return reply;
}

}  // namespace tarry::wire
