#include "wire/forecast.h"

#include <limits>
#include <string_view>

#include "base/text/text.h"
#include "core/figures/rate.h"
#include "core/limits.h"
#include "wire/json/json_reader.h"
#include "wire/json/json_writer.h"

namespace tarry::wire {
namespace {

constexpr Millis kDefaultWidth{60'000};
constexpr std::uint32_t kDefaultBuckets = 60;

void write_in(JsonWriter& out, std::string_view name, std::optional<Millis> span) {
  if (span) out.millis_field(name, span->count());
}

void write_projection(JsonWriter& out, const Projected& projected, Millis width) {
  const auto& [options, projection] = projected;
  const Millis span_width = options.span == Millis(0) ? width : options.span;
  out.name("projection").begin_object();
  out.name("rate").number(options.rate).name("arrivals").number(options.arrivals);
  write_in(out, "drained_in", projection.drained);
  write_in(out, "clear_in", projection.clear);
  out.field("backlog", projection.backlog).millis_field("latest", projection.latest.count());
  out.millis_field("latest_in", projection.latest_at.count());
  out.millis_field("span", span_width.count()).name("spans").begin_array();
  for (const ProjectedSpan& span : projection.spans) {
    out.begin_object().field("due", span.due).field("claimed", span.claimed);
    out.field("backlog", span.backlog).millis_field("late_p50", span.late_p50.count());
    out.millis_field("late_last", span.late_last.count()).end_object();
  }
  out.end_array().end_object();
}

}  // namespace

std::string encode_forecast(const core::ForecastRequest& request) {
  std::string text;
  QueryWriter out(text);
  out.add("width_ms", std::to_string(request.width.count()));
  out.add("buckets", std::to_string(request.buckets));
  if (request.from) {
    out.add("from_ms", std::to_string(request.from->time_since_epoch().count()));
  }
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
  request.from = query.moment("from", "from_ms");
  if (MaybeError error = query.finish()) return *error;
  return request;
}

std::optional<ProjectionOptions> read_projection(Query& query) {
  const auto rate = query.text("rate");
  const auto arrivals = query.text("arrivals");
  if (!rate) {
    if (arrivals) query.fail({ErrorCode::invalid_argument, "arrivals needs a rate beside it"});
    return std::nullopt;
  }
  ProjectionOptions options;
  const auto read = core::parse_rate("rate", *rate);
  const auto come = arrivals ? core::parse_arrivals("arrivals", *arrivals) : Result<double>(0.0);
  if (!read) query.fail(read.error());
  if (!come) query.fail(come.error());
  if (read) options.rate = *read;
  if (come) options.arrivals = *come;
  return options;
}

std::string encode_forecast_reply(const core::ForecastReply& reply, Millis width,
                                  const std::optional<Projected>& projected) {
  std::string text;
  JsonWriter out(text);
  out.begin_object().millis_field("width", width.count()).field("due_now", reply.due_now);
  out.name("buckets").begin_array();
  for (const std::uint64_t count : reply.buckets) out.number(count);
  out.end_array().field("later", reply.later);
  if (projected) write_projection(out, *projected, width);
  out.end_object();
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
