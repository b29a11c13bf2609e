#include "server/beanstalk/step.h"

namespace tarry::beanstalk {

std::string_view word_of(const Error& error) noexcept {
  switch (error.code) {
    case ErrorCode::no_space: return kOutOfMemory;
    case ErrorCode::too_large: return "JOB_TOO_BIG\r\n";
    default: return kInternalError;
  }
}

Next fail(const Error& error, std::size_t times) {
  Next next;
  for (std::size_t i = 0; i < times; ++i) next.reply += word_of(error);
  next.error = error;
  next.status = error.code == ErrorCode::no_space ? 507 : 500;
  return next;
}

}  // namespace tarry::beanstalk
