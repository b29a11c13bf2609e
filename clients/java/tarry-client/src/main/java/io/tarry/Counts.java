package io.tarry;

/** How a worker's deliveries have ended. */
public final class Counts {
  private final long[] ended;
  private final long delivered;
  private final long stale;

  Counts(long delivered, long stale, long[] ended) {
    this.delivered = delivered;
    this.stale = stale;
    this.ended = ended.clone();
  }

  /** Handlers that have begun. */
  public long delivered() {
    return delivered;
  }

  public long acked() {
    return ended[Action.ACK.ordinal()];
  }

  public long retried() {
    return ended[Action.RETRY.ordinal()];
  }

  public long released() {
    return ended[Action.RELEASE.ordinal()];
  }

  public long buried() {
    return ended[Action.BURY.ordinal()];
  }

  /** Claims that had ended before they were settled. */
  public long stale() {
    return stale;
  }

  @Override
  public String toString() {
    return delivered
        + " delivered, "
        + acked()
        + " acked, "
        + retried()
        + " retried, "
        + released()
        + " released, "
        + buried()
        + " buried, "
        + stale
        + " stale";
  }
}
