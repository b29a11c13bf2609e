import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.ClaimsApi;
import org.openapitools.client.api.MessagesApi;
import org.openapitools.client.api.QueuesApi;
import org.openapitools.client.api.ServerApi;
import org.openapitools.client.model.*;

/** The README's round, through the client that openapi-generator makes for Java. */
public final class Round {
  private static void expect(Object wanted, Object got) {
    if (!Objects.equals(wanted, got)) throw new AssertionError("wanted " + wanted + ", got " + got);
  }

  public static void main(String[] arguments) throws Exception {
    ApiClient client = new ApiClient();
    client.updateBaseUri(arguments[0]);
    MessagesApi messages = new MessagesApi(client);
    ClaimsApi claims = new ClaimsApi(client);
    QueuesApi queues = new QueuesApi(client);

    Push lamp = new Push().key("order:42").payload("a lamp").delay("30m").headers(Map.of("shop", "e1"));
    expect(Outcome.PUSHED, messages.pushMessage("orders", lamp).getOutcome());
    try {
      messages.pushMessage("orders", lamp);
      throw new AssertionError("a second push of the same key was accepted");
    } catch (ApiException conflict) {
      expect(409, conflict.getCode());
    }
    PushResults pushed =
        messages.pushMessages(
            "orders",
            new PushBatch()
                .messages(
                    List.of(
                        new Push().key("order:43").dueMs(1_700_000_000_000L),
                        new Push().key("order:44").due(OffsetDateTime.now().plusDays(1)),
                        new Push().key("order:45").delay("no duration"))));
    expect(Outcome.PUSHED, pushed.getResults().get(0).getOutcome());
    expect(Code.INVALID_ARGUMENT, pushed.getResults().get(2).getError().getCode());

    expect("a lamp", messages.getMessage("orders", "order:42", null).getPayload());
    GetResults got = messages.getMessages("orders", new Get().keys(List.of("order:42", "none")));
    expect(Map.of("shop", "e1"), got.getResults().get(0).getHeaders());
    expect(Code.NOT_FOUND, got.getResults().get(1).getError().getCode());

    KeyResults moved =
        messages.rescheduleMessages(
            "orders",
            new Reschedule().addItemsItem(new RescheduleItem().key("order:42").delayMs(0L)));
    expect(Outcome.RESCHEDULED, moved.getResults().get(0).getOutcome());
    Claimed claimed = claims.claimMessages(new Claim().queues(List.of("orders")).max(10).wait("10s"));
    expect(2, claimed.getMessages().size());
    String first = claimed.getMessages().get(0).getReceipt();
    String second = claimed.getMessages().get(1).getReceipt();
    expect(
        Outcome.DONE,
        claims
            .extendLeases(new Extend().addItemsItem(new ExtendItem().receipt(first).lease("1m")))
            .getResults()
            .get(0)
            .getOutcome());
    ReceiptResults settled =
        claims.settleClaims(
            new Settle()
                .items(
                    List.of(
                        new SettleItem().receipt(first).action(SettleAction.ACK),
                        new SettleItem().receipt(second).action(SettleAction.BURY).reason("broken"),
                        new SettleItem().receipt(second).action(SettleAction.ACK))));
    expect(Outcome.DONE, settled.getResults().get(0).getOutcome());
    expect(Outcome.STALE, settled.getResults().get(2).getOutcome());
    expect(1L, queues.reviveMessages("orders", new Revive().all(true)).getCount());
    expect(
        Outcome.CANCELLED,
        messages
            .cancelMessages("orders", new Cancel().keys(List.of("order:44")))
            .getResults()
            .get(0)
            .getOutcome());

    Page page =
        messages.listMessages(
            "orders",
            State.READY,
            null,
            null,
            null,
            null,
            10,
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            null);
    expect(1, page.getMessages().size());
    expect(1L, queues.getQueue("orders").getCounters().getAcked());
    expect(1, new ServerApi(client).getStats(null, null).getQueues().size());
    System.out.println("round done");
  }
}
