package io.tarry.internal;

import io.tarry.errors.TarryException;
import io.tarry.errors.UnavailableException;
import io.tarry.errors.UnknownOutcomeException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Decides about each answer of a call: it is read, or thrown, or the call is tried again. Thread
 * safety: none; one for each call.
 */
final class Attempts {
  private final boolean repeatable;
  private final long end;
  private final Backoff backoff = new Backoff();

  Attempts(boolean repeatable, Duration patience) {
    this.repeatable = repeatable;
    this.end = System.nanoTime() + patience.toNanos();
  }

  /** What to wait before the next try. Throws the error if there is none. */
  Duration again(TarryException error, Duration after) {
    boolean passing =
        error instanceof UnavailableException
            || (repeatable && error instanceof UnknownOutcomeException);
    Duration pause =
        after == null
            ? backoff.next()
            : after.plusMillis(ThreadLocalRandom.current().nextLong(0, 50));
    if (!passing || System.nanoTime() + pause.toNanos() - end >= 0) {
      throw error;
    }
    return pause;
  }

  Duration notSent(NotSent error) {
    return again(TarryException.of("unavailable", error.getMessage(), 0), null);
  }

  Duration lost(String why) {
    return again(TarryException.of("unknown_outcome", why, 0), null);
  }

  /** What the answer says, in {@code into}, and then null; else what to wait. */
  <T> Duration read(Call<T> call, Answer answer, T[] into) {
    Object said = null;
    try {
      String text = new String(answer.body, StandardCharsets.UTF_8);
      said = text.isEmpty() ? null : Json.parse(text);
      if (answer.status == 200) {
        into[0] = call.reader.apply(said);
        return null;
      }
    } catch (RuntimeException error) {
      if (answer.status == 200) {
        return lost("the server's answer cannot be read: " + error.getMessage());
      }
    }
    String after = answer.headers.getOrDefault("retry-after", "");
    return again(
        TarryException.ofAnswer(answer.status, answer.reason, said),
        after.matches("\\d{1,9}") ? Duration.ofSeconds(Long.parseLong(after)) : null);
  }
}
