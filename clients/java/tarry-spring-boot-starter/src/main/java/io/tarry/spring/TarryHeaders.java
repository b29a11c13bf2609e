package io.tarry.spring;

/** Headers of the Spring message that a listener gets, beside the headers of the message itself. */
public final class TarryHeaders {
  /** A text. */
  public static final String QUEUE = "tarry_queue";

  /** A text. */
  public static final String KEY = "tarry_key";

  /** A text: the same in each delivery of this message, so drop duplicates by it. */
  public static final String ID = "tarry_id";

  /** An {@code Integer}: 1 for the first. */
  public static final String ATTEMPT = "tarry_attempt";

  /** An {@code Instant}. */
  public static final String DUE = "tarry_due";

  /** The {@link io.tarry.Delivery}. */
  public static final String DELIVERY = "tarry_delivery";

  private TarryHeaders() {}
}
