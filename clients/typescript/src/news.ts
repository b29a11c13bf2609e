// News: how the parts of a worker wait for each other, in one event loop.

/** Resolves after this turn of the event loop, so that what ends in it goes together. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export class News {
  readonly #waiting = new Set<() => void>();

  /** Resolves when something has changed. */
  next(): Promise<void> {
    return new Promise((resolve) => this.#waiting.add(resolve));
  }

  /** Something has changed. */
  tell(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const resolve of waiting) resolve();
  }

  /** Waits so long, or until it is so. */
  async sleep(pause: number, until: () => boolean): Promise<void> {
    let over = false;
    const timer =
      pause === Infinity
        ? undefined
        : setTimeout(() => {
            over = true;
            this.tell();
          }, pause);
    while (!over && !until()) await this.next();
    clearTimeout(timer);
  }
}
