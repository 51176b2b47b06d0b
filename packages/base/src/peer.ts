/** Passes values between two processes. A function runs in the process that made it, and returns a promise. */
import { type ErrorCode, SheafError } from "./errors.ts";

/** The functions of one side that the other one may call, and its calls. */
export interface Peer {
  /** Calls the function that the other side serves. */
  readonly call: (...args: readonly unknown[]) => Promise<unknown>;
  /** Receives a message of the other side. */
  receive(message: unknown): void;
  /** Makes all open and later calls fail with the error. */
  close(error: unknown): void;
}

type Callable = (...args: never[]) => unknown;

type Message =
  | { readonly call: number; readonly of: number; readonly args: readonly unknown[] }
  | { readonly answer: number; readonly isError: boolean; readonly value: unknown }
  | { readonly abort: number; readonly reason: unknown }
  | { readonly forget: number };

type Fields = { readonly name: string; readonly code: ErrorCode; readonly message: string };

type Coded = { readonly $: string; readonly id: number; readonly value?: unknown; readonly isAborted?: boolean };

/** Levels of a value that travel unchanged. The system's clone may write more levels than it can read. */
const MAX_LEVELS = 200;

/** The types of an error's fields that reach the other side. */
const simple = new Set(["string", "number", "boolean"]);

/** `send` must deliver messages in order. Other values must suit the system's structured clone. */
export function createPeer(send: (message: unknown) => void, serve: Callable = () => undefined): Peer {
  const made = new Map<number, Callable>([[0, serve]]);
  const numbers = new WeakMap<AbortSignal, number>();
  const foreign = new WeakMap<Callable, number>();
  const signals = new Map<number, AbortController>();
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  const unused = new FinalizationRegistry<number>((id) => post({ forget: id }));
  let last = 0;
  let closed: { readonly error: unknown } | undefined;

  const encode = (value: unknown, level = 0): unknown => {
    if (typeof value === "function") {
      const own = foreign.get(value as Callable);
      if (own !== undefined) return { $: "own", id: own };
      made.set((last += 1), value as Callable);
      return { $: "function", id: last };
    }
    if (typeof value !== "object" || value === null) return value;
    // Such deep values may be made by a model or a tool server.
    if (level > MAX_LEVELS) return { $: "json", id: 0, value: JSON.stringify(value) };
    const inner = level + 1;
    if (Array.isArray(value)) return value.map((item) => encode(item, inner));
    if (value instanceof AbortSignal) {
      const id = numbers.get(value) ?? (last += 1);
      if (!numbers.has(value))
        value.addEventListener("abort", () => post({ abort: id, reason: encode(value.reason, inner) }));
      numbers.set(value, id);
      return { $: "signal", id, isAborted: value.aborted, value: encode(value.reason, inner) };
    }
    if (value instanceof Error) {
      const { name, message, stack } = value;
      // Some fields of other libraries' errors can't be cloned.
      const fields = Object.entries({ name, message, stack }).concat(Object.entries(value));
      const sent = fields.filter(([, field]) => simple.has(typeof field));
      return { $: "error", id: 0, value: Object.fromEntries(sent) };
    }
    if (Symbol.asyncIterator in value) {
      const items = (value as AsyncIterable<unknown>)[Symbol.asyncIterator]();
      return {
        $: "items",
        id: 0,
        value: encodeFields({ next: () => items.next(), return: () => items.return?.() }, inner),
      };
    }
    const parent: unknown = Object.getPrototypeOf(value);
    if (parent !== Object.prototype && parent !== null) return value;
    const fields = encodeFields(value, inner);
    // A model may write an object with this key.
    return "$" in fields ? { $: "fields", id: 0, value: fields } : fields;
  };
  const encodeFields = (value: object, level: number): object => mapFields(value, (field) => encode(field, level));

  const decode = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(decode);
    if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
    return "$" in value ? decodeCoded(value as Coded) : mapFields(value, decode);
  };
  const decodeCoded = ({ $, id, value, isAborted }: Coded): unknown => {
    if ($ === "json") return JSON.parse(value as string);
    if ($ === "own") return made.get(id);
    if ($ === "function") {
      const peer = (...args: unknown[]): Promise<unknown> => callNumber(id, args);
      foreign.set(peer, id);
      unused.register(peer, id);
      return peer;
    }
    if ($ === "signal") {
      const controller = signals.get(id) ?? new AbortController();
      signals.set(id, controller);
      if (isAborted) controller.abort(decode(value));
      return controller.signal;
    }
    const fields = mapFields(value as object, decode) as Fields;
    if ($ === "error") return toError(fields);
    return $ === "items" ? { [Symbol.asyncIterator]: () => fields } : fields;
  };

  const post = (message: Message): void => {
    if (!closed) send(message);
  };
  const callNumber = (of: number, args: readonly unknown[]): Promise<unknown> => {
    const number = (last += 1);
    const result = Promise.withResolvers<unknown>();
    // Some callers do not wait for the result.
    result.promise.catch(() => undefined);
    if (closed) result.reject(closed.error);
    else waiting.set(number, result);
    try {
      post({ call: number, of, args: args.map((arg) => encode(arg)) });
    } catch (error) {
      waiting.delete(number);
      result.reject(error);
    }
    return Object.assign(result.promise, {
      async *[Symbol.asyncIterator]() {
        yield* (await result.promise) as AsyncIterable<unknown>;
      },
    });
  };
  const answer = async ({ call, of, args }: Extract<Message, { call: number }>): Promise<void> => {
    try {
      post({ answer: call, isError: false, value: encode(await made.get(of)!(...(args.map(decode) as never[]))) });
    } catch (error) {
      post({ answer: call, isError: true, value: encode(error) });
    }
  };

  return {
    call: (...args) => callNumber(0, args),
    receive(sent) {
      const message = sent as Message;
      if ("call" in message) void answer(message);
      else if ("forget" in message) made.delete(message.forget);
      else if ("abort" in message) signals.get(message.abort)?.abort(decode(message.reason));
      else {
        const { resolve, reject } = waiting.get(message.answer) ?? Promise.withResolvers<unknown>();
        waiting.delete(message.answer);
        (message.isError ? reject : resolve)(decode(message.value));
      }
    },
    close(error) {
      closed ??= { error };
      for (const { reject } of waiting.values()) reject(error);
    },
  };
}

function mapFields(value: object, map: (field: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, map(field)]));
}

function toError({ name, code, message, ...others }: Fields): Error {
  const error = name === "SheafError" ? new SheafError(code, message, others) : new Error(message);
  return Object.assign(error, { name, code, ...others });
}
