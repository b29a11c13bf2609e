// Both protocols: requests read to the same objects, answers written from them, and MD5s as SDKs
// compute them.
#include "server/sqs/protocol/protocol.h"

#include <string>
#include <utility>
#include <variant>

#include <gtest/gtest.h>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "server/sqs/protocol/query_form.h"
#include "server/sqs/queues/message_attributes.h"
#include "server/sqs/queues/message_text.h"
#include "server/sqs/queues/queue_info.h"
#include "server/sqs/queues/queue_record.h"

namespace tarry::sqs {
namespace {

namespace json = boost::json;

std::string params_of(std::string body, std::string target = "/") {
  net::HttpMessage message;
  message.method = "POST";
  message.target = std::move(target);
  message.body = std::move(body);
  const auto decoded = decode_query(message);
  if (const auto* fault = std::get_if<Fault>(&decoded)) return fault->message;
  const auto& [action, params] = std::get<Decoded>(decoded);
  return action + " " + json::serialize(params);
}

net::HttpMessage head_of(std::string method, std::string target, std::string field = "",
                         std::string value = "") {
  net::HttpMessage head;
  head.method = std::move(method);
  head.target = std::move(target);
  if (!field.empty()) head.fields.push_back({std::move(field), std::move(value)});
  return head;
}

TEST(IsForSqs, knows_requests_at_an_address_of_several_protocols) {
  const std::string form = "application/x-www-form-urlencoded; charset=utf-8";
  EXPECT_TRUE(is_for_sqs(head_of("POST", "/", "X-Amz-Target", "AmazonSQS.SendMessage")));
  EXPECT_TRUE(is_for_sqs(head_of("POST", "/", "Content-Type", form)));
  EXPECT_TRUE(is_for_sqs(head_of("POST", "/000000000000/orders", "Content-Type", form)));
  EXPECT_TRUE(is_for_sqs(head_of("GET", "/?Action=ListQueues")));
  EXPECT_TRUE(is_for_sqs(head_of("GET", "/1/q?Version=2012-11-05&Action=ReceiveMessage")));
  EXPECT_FALSE(is_for_sqs(head_of("GET", "/")));
  EXPECT_FALSE(is_for_sqs(head_of("POST", "/", "X-Amz-Target", "DynamoDB_20120810.GetItem")));
  EXPECT_FALSE(is_for_sqs(head_of("POST", "/", "Content-Type", "application/json")));
  EXPECT_FALSE(is_for_sqs(head_of("POST", "/v1/claim", "Content-Type", form)));
  EXPECT_FALSE(is_for_sqs(head_of("GET", "/v1/queues?Action=ListQueues")));
  EXPECT_FALSE(is_for_sqs(head_of("GET", "/1?Action=ListQueues")));
  EXPECT_FALSE(is_for_sqs(head_of("GET", "//q?Action=ListQueues")));
}

TEST(QueryForm, becomes_the_json_protocols_objects) {
  EXPECT_EQ(params_of("Action=SendMessage&MessageBody=a+b%26c&Version=2012-11-05"),
            R"(SendMessage {"MessageBody":"a b&c","Version":"2012-11-05"})");
  EXPECT_EQ(params_of("Action=SetQueueAttributes&Attribute.1.Name=DelaySeconds&"
                      "Attribute.1.Value=5&QueueUrl=u"),
            R"(SetQueueAttributes {"QueueUrl":"u","Attributes":{"DelaySeconds":"5"}})");
  EXPECT_EQ(params_of("Action=X&AttributeName.2=B&AttributeName.1=A&QueueUrl=u"),
            R"(X {"QueueUrl":"u","AttributeNames":["A","B"]})");
  EXPECT_EQ(params_of("Action=X&QueueUrl=u&SendMessageBatchRequestEntry.1.Id=a&"
                      "SendMessageBatchRequestEntry.1.MessageAttribute.1.Name=n&"
                      "SendMessageBatchRequestEntry.1.MessageAttribute.1.Value.DataType=String&"
                      "SendMessageBatchRequestEntry.1.MessageAttribute.1.Value.StringValue=v"),
            R"(X {"QueueUrl":"u","Entries":[{"Id":"a","MessageAttributes":{"n":)"
            R"({"DataType":"String","StringValue":"v"}}}]})");
  EXPECT_EQ(params_of("Action=PurgeQueue", "/000000000000/q"),
            R"(PurgeQueue {"QueueUrl":"/000000000000/q"})");
}

TEST(QueryForm, is_refused_where_it_is_not_one) {
  EXPECT_EQ(params_of("MessageBody=x"), "The request must contain the parameter Action.");
  EXPECT_EQ(params_of("Action=%zz"), "A field is not percent-encoded.");
  std::string many = "Action=X";
  for (int i = 0; i < 2'000; ++i) many += "&a" + std::to_string(i) + "=";
  EXPECT_NE(params_of(many).find("2000"), std::string::npos);
}

TEST(Answers, are_written_as_xml) {
  const auto fields = json::parse(R"({"Messages":[{"MessageId":"1","Body":"<a&\"\r\n>",
      "Attributes":{"SenderId":"s"},"MessageAttributes":{"n":{"StringValue":"v",
      "DataType":"String"}}}]})")
                          .get_object();
  EXPECT_EQ(encode_answer(Protocol::query, "ReceiveMessage", fields, "id-1").body,
            "<?xml version=\"1.0\"?><ReceiveMessageResponse "
            "xmlns=\"http://queue.amazonaws.com/doc/2012-11-05/\"><ReceiveMessageResult><Message>"
            "<MessageId>1</MessageId><Body>&lt;a&amp;&quot;&#xD;\n&gt;</Body><Attribute><Name>"
            "SenderId</Name><Value>s</Value></Attribute><MessageAttribute><Name>n</Name><Value>"
            "<StringValue>v</StringValue><DataType>String</DataType></Value></MessageAttribute>"
            "</Message></ReceiveMessageResult><ResponseMetadata><RequestId>id-1</RequestId>"
            "</ResponseMetadata></ReceiveMessageResponse>");
}

TEST(Answers, tell_a_fault_in_either_protocol) {
  const auto as_json = encode_fault(Protocol::json, no_such_queue(), "id-1");
  EXPECT_EQ(as_json.status, 400u);
  EXPECT_EQ(as_json.body, R"({"__type":"com.amazonaws.sqs#QueueDoesNotExist",)"
                          R"("message":"The specified queue does not exist."})");
  const auto as_xml = encode_fault(Protocol::query, no_such_queue(), "id-1");
  EXPECT_NE(as_xml.body.find("<Code>AWS.SimpleQueueService.NonExistentQueue</Code>"),
            std::string::npos);
  EXPECT_TRUE(encode_fault(Protocol::json, {Kind::missing_token, ""}, "").token_refused);
}

// AWS's own example: the documentation of the Java SDK has the algorithm, moto the sum.
TEST(Md5OfAttributes, is_that_of_the_sdks) {
  MessageAttributes attributes;
  const auto from = json::parse(R"({"timestamp":{"DataType":"Number",
      "StringValue":"1493147359900"}})")
                        .get_object();
  ASSERT_FALSE(read_message_attributes(from, attributes));
  EXPECT_EQ(md5_of(attributes), "235c5c510d26fb653d073faed50ae77c");
}

TEST(MessageText, has_only_characters_of_xml) {
  for (const char* good : {"", "a\t\r\n", "\xc3\xa9", "\xf0\x9f\x98\x80", "\xef\xbf\xbd"}) {
    EXPECT_TRUE(is_message_text(good)) << good;
  }
  for (const char* bad :
       {"\x01", "a\x1f", "\xff", "\xef\xbf\xbe", "\xef\xbf\xbf", "\xed\xa0\x80"}) {
    EXPECT_FALSE(is_message_text(bad)) << bad;
  }
}

TEST(Names, of_queues_urls_and_arns) {
  EXPECT_TRUE(is_queue_name("a-B_9.fifo"));
  for (const char* bad : {"", "a.b", "-a", ".fifo", "a:b", "a b"}) EXPECT_FALSE(is_queue_name(bad));
  EXPECT_FALSE(is_queue_name(std::string(81, 'a')));
  EXPECT_EQ(name_in_url("http://localhost:9324/000000000000/q"), "q");
  EXPECT_EQ(name_in_url("http://sqs.eu-west-1.amazonaws.com/1/q/"), "q");
  EXPECT_EQ(name_in_arn("arn:aws:sqs:eu-west-1:1:q"), "q");
  EXPECT_EQ(name_in_arn("arn:aws:sns:eu-west-1:1:q"), "");
  EXPECT_EQ(message_id(0x0123456789abcdef), "01234567-89ab-8000-8000-00000000cdef");
  EXPECT_EQ(key_in("key:a:b"), "a:b");
  EXPECT_FALSE(key_in("AAAA"));
}

TEST(Records, come_back_as_they_were) {
  QueueRecord record;
  record.attributes = {{"DelaySeconds", "5"}};
  record.tags = {{"team", "\xc3\xa9"}};
  record.created_s = 5;
  record.sources = {"a", "b"};
  const auto back = decode_record(encode(record));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->attributes, record.attributes);
  EXPECT_EQ(back->tags, record.tags);
  EXPECT_EQ(back->created_s, 5);
  EXPECT_EQ(back->sources, record.sources);
  for (const char* bad : {"", "[]", "{}", R"({"attributes":{"a":1},"tags":{}})"}) {
    EXPECT_FALSE(decode_record(bad)) << bad;
  }
}

}  // namespace
}  // namespace tarry::sqs
