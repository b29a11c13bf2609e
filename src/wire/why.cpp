#include "wire/why.h"

#include "wire/message.h"
#include "wire/stats.h"

namespace tarry::wire {

void write_why(JsonWriter& out, const Why& why) {
  out.field("cause", to_string(why.cause)).text_field("text", why.text);
  out.name("message").begin_object();
  write_message_info(out, why.message, Payload::left_out);
  out.end_object();
  out.name("queue");
  write_queue_stats(out, why.queue);
}

std::string encode_why(const Why& why) {
  std::string body;
  JsonWriter out(body);
  out.begin_object();
  write_why(out, why);
  out.end_object();
  return body;
}

}  // namespace tarry::wire
