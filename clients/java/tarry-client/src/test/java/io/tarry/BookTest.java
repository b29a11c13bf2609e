package io.tarry;

import io.tarry.errors.TarryException;
import io.tarry.internal.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The lease protocol, without a clock and without a server. Run it with {@code -ea}. */
final class BookTest {
  private static final Result<Settled> DONE = settled("done");
  private static final Result<Settled> STALE = settled("stale");
  private static final Result<Settled> AWAY =
      Result.failed(TarryException.of("unavailable", "away", 503));
  private static final Result<Settled> LOST =
      Result.failed(TarryException.of("unknown_outcome", "lost", 0));
  private static final Result<Settled> REFUSED =
      Result.failed(TarryException.of("invalid_argument", "bad", 200));

  private final Book book = new Book();
  private final List<TarryException> refusals = new ArrayList<>();

  public static void main(String[] arguments) {
    new BookTest().extendsAfterAThird();
    new BookTest().triesAgainSoonWhenTheServerIsAway();
    new BookTest().tellsTheEndOfALeaseOnce();
    new BookTest().settlesAgainWhileTheLeaseHolds();
    new BookTest().doesNotSettleAfterTheLease();
    new BookTest().doesNotSettleWhatIsLost();
    new BookTest().keepsTheOrderOfWhatIsSettledAgain();
    new BookTest().repeatsNoRefusal();
    System.out.println("book done");
  }

  private static Result<Settled> settled(String outcome) {
    return Result.of(new Settled(Json.object(Json.parse("{\"outcome\":\"" + outcome + "\"}"))));
  }

  private Book.Held hold(String receipt, long begun) {
    String said =
        "{\"queue\":\"q\",\"key\":\"k\",\"receipt\":\""
            + receipt
            + "\",\"lease_ms\":3000,\"due_ms\":0}";
    return book.hold(new Claimed(Json.object(Json.parse(said))), begun);
  }

  private static long at(long millis) {
    // Far beyond the sign's change: times of nanoTime may overflow.
    return Long.MAX_VALUE - TimeUnit.SECONDS.toNanos(1) + TimeUnit.MILLISECONDS.toNanos(millis);
  }

  private static void same(Object expected, Object actual) {
    if (!expected.equals(actual)) {
      throw new AssertionError(actual + " instead of " + expected);
    }
  }

  private void extendsAfterAThird() {
    Book.Held held = hold("a", at(0));
    same(0, book.extensions(at(999)).size());
    same(TimeUnit.MILLISECONDS.toNanos(1), book.next(at(999)));
    same(1, book.extensions(at(1000)).size());
    same(0, book.extensions(at(1000)).size());
    same(0, book.extended(List.of(held), List.of(DONE), at(1000), at(1100)).size());
    same(true, held.holds(at(3999)));
    same(false, held.holds(at(4000)));
  }

  private void triesAgainSoonWhenTheServerIsAway() {
    Book.Held held = hold("a", at(0));
    book.extensions(at(1000));
    book.extended(List.of(held), List.of(AWAY), at(1000), at(1000));
    same(0, book.extensions(at(1299)).size());
    same(1, book.extensions(at(1300)).size());
    book.extended(List.of(held), List.of(STALE), at(1300), at(1300));
    same(false, held.holds(at(1300)));
    same(Long.MAX_VALUE, book.next(at(1300)));
  }

  private void tellsTheEndOfALeaseOnce() {
    Book.Held held = hold("a", at(0));
    book.begin(held);
    same(0, book.overdue(at(2999)).size());
    same(1, book.overdue(at(3000)).size());
    same(0, book.overdue(at(3001)).size());
  }

  private boolean settle(long millis, Result<Settled> result) {
    List<Book.Ending> batch = book.settlements();
    same(1, batch.size());
    same(false, book.hasSettlements());
    return book.settled(batch, List.of(result), at(millis), refusals);
  }

  private void settlesAgainWhileTheLeaseHolds() {
    book.end(hold("a", at(0)), Verdict.ack());
    same(false, settle(100, AWAY));
    same(false, settle(200, LOST));
    same(true, settle(300, DONE));
    same(1L, book.counts().acked());
    same(false, book.isSettling());
  }

  private void doesNotSettleAfterTheLease() {
    book.end(hold("a", at(0)), Verdict.retry());
    settle(3000, LOST);
    same(1L, book.counts().stale());
    same(false, book.isSettling());
  }

  private void doesNotSettleWhatIsLost() {
    Book.Held held = hold("a", at(0));
    book.begin(held);
    book.overdue(at(3000));
    book.end(held, Verdict.ack());
    same(false, book.hasSettlements());
    same(1L, book.counts().stale());
  }

  private void keepsTheOrderOfWhatIsSettledAgain() {
    book.end(hold("a", at(0)), Verdict.ack());
    book.end(hold("b", at(0)), Verdict.ack());
    book.settled(book.settlements(), List.of(LOST, LOST), at(1), refusals);
    List<Book.Ending> again = book.settlements();
    same("a", again.get(0).held.message.receipt());
    same("b", again.get(1).held.message.receipt());
  }

  private void repeatsNoRefusal() {
    book.end(hold("a", at(0)), Verdict.bury("x"));
    same(true, settle(1, REFUSED));
    same(1, refusals.size());
    same(false, book.isSettling());
  }
}
