package io.tarry;

/** Handles messages of a queue. Called by many threads at once. */
@FunctionalInterface
public interface TarryHandler {
  /** Returns how the claim ends; null is an ack. An exception is a retry, its text the reason. */
  Verdict handle(Delivery delivery) throws Exception;
}
