package io.tarry;

import io.tarry.errors.TarryException;
import java.util.Optional;

/** An item of a batch: what happened, or the error of this item alone. */
public final class Result<T> {
  private final T value;
  private final TarryException error;

  private Result(T value, TarryException error) {
    this.value = value;
    this.error = error;
  }

  /** Of an item that was carried out. */
  public static <T> Result<T> of(T value) {
    return new Result<>(value, null);
  }

  /** Of an item that failed. */
  public static <T> Result<T> failed(TarryException error) {
    return new Result<>(null, error);
  }

  /** What happened; throws the item's error. */
  public T value() {
    if (error != null) {
      throw error;
    }
    return value;
  }

  /** The item's error, if it failed. */
  public Optional<TarryException> error() {
    return Optional.ofNullable(error);
  }

  @Override
  public String toString() {
    return error == null ? String.valueOf(value) : error.toString();
  }
}
