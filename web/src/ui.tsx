// Small parts that every screen uses.
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { Failure, type Key } from "./api";
import { visible } from "./format";
import { t } from "./i18n";

type Children = { children?: ComponentChildren };

/** A name, key or header from outside. */
export function Foreign({ text }: { text: string }): JSX.Element {
  return (
    <bdi class="foreign" dir="auto">
      {visible(text)}
    </bdi>
  );
}

export function KeyText({ of }: { of: Key }): JSX.Element {
  return of.key !== undefined ? (
    <Foreign text={of.key} />
  ) : (
    <span class="foreign">base64:{of.key_base64}</span>
  );
}

export function Button(props: {
  onClick: () => void;
  disabled?: boolean | undefined;
  kind?: "main" | "danger";
  label?: string;
  children: ComponentChildren;
}): JSX.Element {
  return (
    <button
      type="button"
      class={props.kind}
      disabled={props.disabled}
      aria-label={props.label}
      onClick={props.onClick}
    >
      {props.children}
    </button>
  );
}

export function Field({
  label,
  help,
  wide,
  children,
}: Children & { label: string; help?: string; wide?: boolean }): JSX.Element {
  return (
    <label class={wide === true ? "field wide" : "field"}>
      <span>{label}</span>
      {children}
      {help !== undefined && <small>{help}</small>}
    </label>
  );
}

/** A field with an input for text; other attributes are the input's. */
export function Input({
  label,
  help,
  onValue,
  ...input
}: Omit<JSX.IntrinsicElements["input"], "onInput" | "label"> & {
  label: string;
  help?: string;
  onValue: (value: string) => void;
}): JSX.Element {
  return (
    <Field label={label} {...(help === undefined ? {} : { help })}>
      <input
        {...input}
        onInput={(event) => {
          onValue(event.currentTarget.value);
        }}
      />
    </Field>
  );
}

/** Names with values; a pair without a value is left out. */
export function Pairs({ of }: { of: [string, ComponentChildren][] }): JSX.Element {
  return (
    <dl class="pairs">
      {of
        .filter(([, value]) => value !== undefined)
        .map(([name, value], at) => (
          <div key={at}>
            <dt>
              <Foreign text={name} />
            </dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

export function Notice({
  kind,
  children,
}: Children & { kind: "good" | "bad" | "note" }): JSX.Element {
  return (
    <p class={`notice ${kind}`} role={kind === "bad" ? "alert" : "status"}>
      {children}
    </p>
  );
}

export function Chip({ kind, children }: Children & { kind: string }): JSX.Element {
  return <span class={`chip ${kind}`}>{children}</span>;
}

/** What a request failed with, in words. */
export function reasonOf(error: unknown): string {
  if (error instanceof Failure) return error.status === 0 ? t("away") : visible(error.message);
  return String(error);
}

/** A question before an act, whose button names it; `typed` must be typed in if it is given. */
export function Confirm(props: {
  title: string;
  text: ComponentChildren;
  yes: string;
  typed?: number | undefined;
  danger?: boolean;
  onYes: () => void;
  onNo: () => void;
}): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const [given, setGiven] = useState("");
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  // As it is shown, "3,000" is right too.
  const ready = props.typed === undefined || given.replace(/[,\s]/g, "") === String(props.typed);
  return (
    <dialog ref={dialog} aria-label={props.title} onCancel={props.onNo}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (ready) props.onYes();
        }}
      >
        <h2>{props.title}</h2>
        <p>{props.text}</p>
        {props.typed !== undefined && (
          <Input
            label={t("bulk_confirm", props.typed)}
            inputMode="numeric"
            value={given}
            onValue={setGiven}
          />
        )}
        <div class="buttons">
          <button class={props.danger === true ? "danger" : "main"} disabled={!ready}>
            {props.yes}
          </button>
          <Button onClick={props.onNo}>{t("back")}</Button>
        </div>
      </form>
    </dialog>
  );
}

export interface Loaded<Value> {
  value?: Value;
  error?: unknown;
  loading: boolean;
  reload: () => void;
}

/** Loads a value, and again when `of` changes, or when the server is back. */
export function useLoaded<Value>(load: () => Promise<Value>, of: unknown[]): Loaded<Value> {
  const [state, setState] = useState<{ value?: Value; error?: unknown; loading: boolean }>({
    loading: true,
  });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    let wanted = true;
    let again: number | undefined;
    setState((old) => ({ ...old, loading: true }));
    load().then(
      (value) => {
        if (wanted) setState({ value, loading: false });
      },
      (error: unknown) => {
        if (!wanted) return;
        setState((old) => ({ ...old, error, loading: false }));
        if (error instanceof Failure && error.status === 0) {
          again = window.setTimeout(() => {
            setTurn((one) => one + 1);
          }, 2000);
        }
      },
    );
    return () => {
      wanted = false;
      window.clearTimeout(again);
    };
  }, [...of, turn]);
  return {
    ...state,
    reload: () => {
      setTurn((one) => one + 1);
    },
  };
}

/** The states of a screen that loads: loading, failed, or its content. */
export function Loading<Value>(props: {
  of: Loaded<Value>;
  children: (value: Value) => ComponentChildren;
}): JSX.Element {
  const { value, error, loading, reload } = props.of;
  return (
    <>
      {error !== undefined && (
        <Notice kind="bad">
          {reasonOf(error)} <Button onClick={reload}>{t("reload")}</Button>
        </Notice>
      )}
      {value !== undefined && props.children(value)}
      {value === undefined && loading && <p aria-busy="true">{t("loading")} …</p>}
    </>
  );
}

export interface Paged<Item> extends Loaded<Item[]> {
  more?: () => void; // loads the next page; undefined after the last one
}

/** The same for a list that comes in pages. `of` must not change. */
export function usePages<Item>(
  page: (after: string) => Promise<{ items: Item[]; next: string }>,
): Paged<Item> {
  const [after, setAfter] = useState("");
  const before = useRef<Item[]>([]);
  const loaded = useLoaded(async () => {
    const { items, next } = await page(after);
    before.current = after === "" ? items : [...before.current, ...items];
    return { items: before.current, next };
  }, [after]);
  const { value, reload, ...rest } = loaded;
  const paged: Paged<Item> = {
    ...rest,
    reload: () => {
      setAfter("");
      reload();
    },
  };
  if (value !== undefined) paged.value = value.items;
  const next = value?.next ?? "";
  if (next !== "") {
    paged.more = () => {
      setAfter(next);
    };
  }
  return paged;
}

interface Done {
  good: boolean;
  text: string;
}

/** Runs acts, and has a notice of how the latest one ended. `then` runs after each. */
export function useActs(then?: () => void): {
  act: (work: () => Promise<string>) => Promise<void>;
  tell: (done: Done | undefined) => void;
  notice: ComponentChildren;
} {
  const [done, setDone] = useState<Done>();
  return {
    act: async (work) => {
      try {
        setDone({ good: true, text: await work() });
      } catch (error) {
        setDone({ good: false, text: reasonOf(error) });
      }
      then?.();
    },
    tell: setDone,
    notice: done !== undefined && (
      <Notice kind={done.good ? "good" : "bad"}>{visible(done.text)}</Notice>
    ),
  };
}
