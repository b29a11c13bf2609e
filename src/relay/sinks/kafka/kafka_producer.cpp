#include "relay/sinks/kafka/kafka_producer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include <librdkafka/rdkafka.h>

#include "base/text/text.h"
#include "relay/sinks/kafka/kafka_conf.h"

namespace tarry::relay {
namespace {

constexpr std::string_view kOurs = "tarry-";
constexpr int kPurgeAll = RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT;

struct HeadersDestroyer {
  void operator()(rd_kafka_headers_t* headers) const noexcept { rd_kafka_headers_destroy(headers); }
};
using HeadersPointer = std::unique_ptr<rd_kafka_headers_t, HeadersDestroyer>;

void add(rd_kafka_headers_t* headers, std::string_view name, std::string_view value) {
  // An empty value must not become a null value.
  const char* bytes = value.empty() ? "" : value.data();
  rd_kafka_header_add(headers, name.data(), static_cast<ssize_t>(name.size()), bytes,
                      static_cast<ssize_t>(value.size()));
}

HeadersPointer headers_of(const Delivery& delivery) {
  const Headers own = delivery.headers();
  HeadersPointer headers(rd_kafka_headers_new(own.size() + 4));
  for (const Header& header : own) {
    if (!header.name.starts_with(kOurs)) add(headers.get(), header.name, header.value);
  }
  add(headers.get(), "tarry-id", std::to_string(delivery.id()));
  add(headers.get(), "tarry-queue", delivery.queue());
  add(headers.get(), "tarry-attempt", std::to_string(delivery.attempt()));
  add(headers.get(), "tarry-due-ms", std::to_string(delivery.due().time_since_epoch().count()));
  return headers;
}

rd_kafka_vu_t field(rd_kafka_vtype_t kind) {
  rd_kafka_vu_t value{};
  value.vtype = kind;
  return value;
}
rd_kafka_vu_t bytes_field(rd_kafka_vtype_t kind, std::string_view bytes) {
  rd_kafka_vu_t value = field(kind);
  // A null value would make the record a tombstone; an empty payload is not one.
  value.u.mem.ptr = bytes.empty() ? const_cast<char*>("") : const_cast<char*>(bytes.data());
  value.u.mem.size = bytes.size();
  return value;
}

/// Errors of the sink as a whole, not of one message.
bool takes_nothing(rd_kafka_resp_err_t error) {
  constexpr std::array kDown{
      RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC,
      RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION,
      RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART,
      RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION,
      RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED,
      RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED,
      RD_KAFKA_RESP_ERR__AUTHENTICATION,
      RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED,
      RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS,
      RD_KAFKA_RESP_ERR__MSG_TIMED_OUT,
      RD_KAFKA_RESP_ERR__PURGE_QUEUE,
      RD_KAFKA_RESP_ERR__FATAL,
      RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN,
  };
  return std::ranges::find(kDown, error) != kDown.end();
}

bool is_too_large(rd_kafka_resp_err_t error) {
  return error == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE ||
         error == RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE;
}

Answer answer_of(rd_kafka_resp_err_t error, bool surely_not_there, std::string reason) {
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return confirmed();
  if (is_too_large(error) || error == RD_KAFKA_RESP_ERR_INVALID_RECORD) {
    return refused(std::move(reason));
  }
  if (!surely_not_there) return unknown(std::move(reason));
  return takes_nothing(error) ? sink_down(std::move(reason)) : try_again(std::move(reason));
}

}  // namespace

class KafkaProducer::Impl {
 public:
  explicit Impl(std::string topic) : topic_(std::move(topic)) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Result<void> open(const KafkaOptions& options, int wake) {
    auto conf = kafka::conf_of(options);
    if (!conf) return conf.error();
    rd_kafka_conf_set_opaque(conf->get(), this);
    rd_kafka_conf_set_dr_msg_cb(conf->get(), &Impl::on_report);
    rd_kafka_conf_set_error_cb(conf->get(), &Impl::on_error);
    std::array<char, 512> error{};
    // `check` (wake < 0) sets no brokers, because it must not connect.
    if (wake >= 0 && rd_kafka_conf_set(conf->get(), "bootstrap.servers", options.brokers.c_str(),
                                       error.data(), error.size()) != RD_KAFKA_CONF_OK) {
      return Error{ErrorCode::invalid_argument, error.data()};
    }
    handle_.reset(rd_kafka_new(RD_KAFKA_PRODUCER, conf->get(), error.data(), error.size()));
    if (!handle_) return Error{ErrorCode::invalid_argument, std::string("kafka: ") + error.data()};
    // From here on the handle owns the configuration.
    static_cast<void>(conf->release());
    if (wake < 0) return {};
    queue_.reset(rd_kafka_queue_get_main(handle_.get()));
    static constexpr std::uint64_t kOne = 1;
    rd_kafka_queue_io_event_enable(queue_.get(), wake, &kOne, sizeof kOne);
    return {};
  }

  Taken produce(std::uint64_t token, const Delivery& delivery) {
    HeadersPointer headers = headers_of(delivery);
    std::array fields{field(RD_KAFKA_VTYPE_TOPIC), bytes_field(RD_KAFKA_VTYPE_KEY, delivery.key()),
                      bytes_field(RD_KAFKA_VTYPE_VALUE, delivery.payload()),
                      field(RD_KAFKA_VTYPE_HEADERS), field(RD_KAFKA_VTYPE_OPAQUE)};
    fields[0].u.cstr = topic_.c_str();
    fields[3].u.headers = headers.get();
    fields[4].u.ptr = std::bit_cast<void*>(token);
    rd_kafka_error_t* error = rd_kafka_produceva(handle_.get(), fields.data(), fields.size());
    if (error == nullptr) {
      static_cast<void>(headers.release());  // librdkafka owns the headers now
      return {};
    }
    const rd_kafka_resp_err_t code = rd_kafka_error_code(error);
    std::string reason = said(code, rd_kafka_error_string(error));
    rd_kafka_error_destroy(error);
    if (code == RD_KAFKA_RESP_ERR__QUEUE_FULL) return {true, std::nullopt};
    return {false, answer_of(code, true, std::move(reason))};
  }

  std::vector<KafkaReport> poll(int patience_ms) {
    if (rd_kafka_poll(handle_.get(), patience_ms) > 0) {
      while (rd_kafka_poll(handle_.get(), 0) > 0) {
      }
    }
    return std::exchange(reports_, {});
  }

  [[nodiscard]] const std::optional<KafkaTrouble>& trouble() const noexcept { return trouble_; }

  void abandon(const std::string& reason) {
    purged_ = reason;
    rd_kafka_purge(handle_.get(), kPurgeAll);
  }

 private:
  [[nodiscard]] std::string fatal() const {
    std::array<char, 512> words{};
    const auto code = rd_kafka_fatal_error(handle_.get(), words.data(), words.size());
    return code == RD_KAFKA_RESP_ERR_NO_ERROR ? std::string()
                                              : std::string("kafka: ") + words.data();
  }

  [[nodiscard]] std::string said(rd_kafka_resp_err_t code, const std::string& words) const {
    switch (code) {
      case RD_KAFKA_RESP_ERR__FATAL:
      case RD_KAFKA_RESP_ERR__PURGE_QUEUE:
      case RD_KAFKA_RESP_ERR__PURGE_INFLIGHT:
        // librdkafka also purges after a fatal error; then `purged_` is empty.
        return purged_.empty() ? fatal() : purged_;
      case RD_KAFKA_RESP_ERR__MSG_TIMED_OUT:
        return "kafka: no broker confirmed it in time" +
               (last_error_.empty() ? "" : "; " + last_error_);
      default: return "kafka: topic " + base::quoted(topic_) + ": " + words;
    }
  }

  static void on_report(rd_kafka_t*, const rd_kafka_message_t* message, void* opaque) {
    Impl& self = *static_cast<Impl*>(opaque);
    const rd_kafka_resp_err_t code = message->err;
    const bool not_there = rd_kafka_message_status(message) == RD_KAFKA_MSG_STATUS_NOT_PERSISTED;
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
      // A confirmation ends the trouble, unless the error is fatal.
      if (self.trouble_ && !self.trouble_->fatal) self.trouble_.reset();
      self.last_error_.clear();
    }
    self.reports_.push_back(
        {std::bit_cast<std::uint64_t>(message->_private),
         answer_of(
             code, not_there,
             code == RD_KAFKA_RESP_ERR_NO_ERROR ? "" : self.said(code, rd_kafka_err2str(code))),
         is_too_large(code)});
  }

  static void on_error(rd_kafka_t*, int code, const char* words, void* opaque) {
    Impl& self = *static_cast<Impl*>(opaque);
    if (code == RD_KAFKA_RESP_ERR__FATAL) {
      self.trouble_ = KafkaTrouble{self.fatal(), true};
    } else if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) {
      if (self.trouble_) return;
      self.trouble_ = KafkaTrouble{
          self.last_error_.empty() ? std::string("kafka: ") + words : self.last_error_, false};
    } else {
      self.last_error_ = std::string("kafka: ") + words;
    }
  }

  const std::string topic_;
  std::string last_error_;  // the last error since the last confirmation
  std::string purged_;      // why the messages were purged
  std::optional<KafkaTrouble> trouble_;
  std::vector<KafkaReport> reports_;
  kafka::Handle handle_;
  kafka::Queue queue_;  // must be destroyed before the handle
};

KafkaProducer::KafkaProducer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
KafkaProducer::~KafkaProducer() = default;

Result<void> KafkaProducer::check(const KafkaOptions& options) {
  return Impl(options.topic).open(options, -1);
}

Result<std::unique_ptr<KafkaProducer>> KafkaProducer::open(const KafkaOptions& options, int wake) {
  auto impl = std::make_unique<Impl>(options.topic);
  if (auto opened = impl->open(options, wake); !opened) return opened.error();
  return std::unique_ptr<KafkaProducer>(new KafkaProducer(std::move(impl)));
}

KafkaProducer::Taken KafkaProducer::produce(std::uint64_t token, const Delivery& delivery) {
  return impl_->produce(token, delivery);
}
std::vector<KafkaReport> KafkaProducer::poll(int patience_ms) { return impl_->poll(patience_ms); }
const std::optional<KafkaTrouble>& KafkaProducer::trouble() const noexcept {
  return impl_->trouble();
}
void KafkaProducer::abandon(const std::string& reason) { impl_->abandon(reason); }

}  // namespace tarry::relay
