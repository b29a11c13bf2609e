//! Amazon's SDK for Rust, unchanged, as a client of tarry: the endpoint is the first argument. Its
//! HTTP client has no TLS, which takes minutes to compile.

use aws_sdk_sqs::config::{BehaviorVersion, Credentials, Region};
use aws_sdk_sqs::types::{
    DeleteMessageBatchRequestEntry, Message, MessageAttributeValue, QueueAttributeName,
    SendMessageBatchRequestEntry,
};
use aws_sdk_sqs::{Client, Config};
use aws_smithy_http_client::Builder;

type Done<T> = Result<T, Box<dyn std::error::Error>>;

async fn receive(client: &Client, url: &str) -> Done<Vec<Message>> {
    let received = client
        .receive_message()
        .queue_url(url)
        .max_number_of_messages(10)
        .wait_time_seconds(20)
        .message_attribute_names("All")
        .send()
        .await?;
    Ok(received.messages.unwrap_or_default())
}

async fn visible(client: &Client, url: &str, message: &Message, timeout: i32) -> Done<()> {
    client
        .change_message_visibility()
        .queue_url(url)
        .set_receipt_handle(message.receipt_handle.clone())
        .visibility_timeout(timeout)
        .send()
        .await?;
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Done<()> {
    let client = Client::from_conf(
        Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .http_client(Builder::new().build_http())
            .endpoint_url(std::env::args().nth(1).ok_or("no endpoint")?)
            .region(Region::new("us-east-1"))
            .credentials_provider(Credentials::new("anyone", "anything", None, None, "test"))
            .build(),
    );

    let dead = client.create_queue().queue_name("rust-dead").send().await?;
    let dead = dead.queue_url.ok_or("no URL")?;
    let known = client
        .get_queue_attributes()
        .queue_url(&dead)
        .attribute_names(QueueAttributeName::QueueArn)
        .send()
        .await?;
    let arn = &known.attributes.ok_or("no attributes")?[&QueueAttributeName::QueueArn];
    let policy = format!(r#"{{"deadLetterTargetArn":"{arn}","maxReceiveCount":2}}"#);
    let created = client
        .create_queue()
        .queue_name("rust")
        .attributes(QueueAttributeName::RedrivePolicy, policy)
        .send()
        .await?;
    let url = created.queue_url.ok_or("no URL")?;

    let red = MessageAttributeValue::builder()
        .data_type("String")
        .string_value("red")
        .build()?;
    client
        .send_message()
        .queue_url(&url)
        .message_body("later ☃")
        .delay_seconds(1)
        .message_attributes("color", red)
        .send()
        .await?;
    let messages = receive(&client, &url).await?;
    assert_eq!(messages[0].body(), Some("later ☃"));
    let attributes = messages[0].message_attributes().ok_or("no attributes")?;
    assert_eq!(attributes["color"].string_value(), Some("red"));
    visible(&client, &url, &messages[0], 600).await?;
    visible(&client, &url, &messages[0], 0).await?;
    let messages = receive(&client, &url).await?;
    client
        .delete_message()
        .queue_url(&url)
        .set_receipt_handle(messages[0].receipt_handle.clone())
        .send()
        .await?;

    let entries = (0..10)
        .map(|i| {
            SendMessageBatchRequestEntry::builder()
                .id(i.to_string())
                .message_body("x")
                .build()
        })
        .collect::<Result<Vec<_>, _>>()?;
    let sent = client
        .send_message_batch()
        .queue_url(&url)
        .set_entries(Some(entries))
        .send()
        .await?;
    assert_eq!(sent.successful().len(), 10);
    let messages = receive(&client, &url).await?;
    assert_eq!(messages.len(), 10);
    let entries = messages
        .iter()
        .enumerate()
        .map(|(i, message)| {
            DeleteMessageBatchRequestEntry::builder()
                .id(i.to_string())
                .set_receipt_handle(message.receipt_handle.clone())
                .build()
        })
        .collect::<Result<Vec<_>, _>>()?;
    let gone = client
        .delete_message_batch()
        .queue_url(&url)
        .set_entries(Some(entries))
        .send()
        .await?;
    assert_eq!(gone.successful().len(), 10);

    client
        .send_message()
        .queue_url(&url)
        .message_body("poison")
        .send()
        .await?;
    for _ in 0..2 {
        let messages = receive(&client, &url).await?;
        visible(&client, &url, &messages[0], 0).await?;
    }
    assert_eq!(receive(&client, &dead).await?[0].body(), Some("poison"));

    client.delete_queue().queue_url(&url).send().await?;
    let refused = client
        .send_message()
        .queue_url(&url)
        .message_body("x")
        .send()
        .await;
    let refused = refused
        .err()
        .ok_or("the queue is still there")?
        .into_service_error();
    assert!(refused.is_queue_does_not_exist());
    println!("rust: done");
    Ok(())
}
