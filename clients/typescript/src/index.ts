import createClient, { type Client } from "openapi-fetch";

import { EventReader, lost, MemoryCenterError, refused, Retries, sleep } from "./protocol.js";
import type { components, paths } from "./schema.js";

export { MemoryCenterError } from "./protocol.js";
export type { components, paths } from "./schema.js";

export type Schemas = components["schemas"];

export interface Options {
  baseUrl: string;
  key: string;
  /** The id of the person whose memories the calls use. */
  userId?: string;
  retries?: number;
  /** The time limit of one attempt, in milliseconds. */
  timeout?: number;
  fetch?: (request: Request) => Promise<Response>;
}

const OVER = ["succeeded", "failed", "cancelled"];
type Whose = { user_id?: string };

/**
 * A client of Memory Center. With `userId`, its calls are about this person.
 *
 * After 429, 503 or a lost connection a call is repeated up to `retries` times. Writes carry an
 * idempotency key, so they are executed only once. Every method throws `MemoryCenterError` if its
 * call fails.
 */
export class MemoryCenter {
  /** Makes any call of the API by its path, with the same retries and errors. */
  readonly api: Client<paths>;
  readonly #whose: Whose;
  readonly #root: string;

  constructor(private readonly options: Options) {
    this.#root = options.baseUrl.replace(/\/+$/, "").replace(/\/api\/v1$/, "");
    this.#whose = options.userId === undefined ? {} : { user_id: options.userId };
    this.api = createClient<paths>({ baseUrl: this.#root, fetch: (request) => this.#send(request) });
  }

  /** Returns a client for another person. */
  forUser(userId: string): MemoryCenter {
    return new MemoryCenter({ ...this.options, userId });
  }

  /** Records a user message and its answer. `op_ids` are the operations that learn from it. */
  async recordTurn(turn: Schemas["TurnInputRequest"]): Promise<Schemas["Recorded"]> {
    return answer(await this.api.POST("/api/v1/turns", { body: { ...this.#whose, ...turn } }));
  }

  /** Returns the memory block and the window for the next prompt. */
  async context(asked: Schemas["ContextInputRequest"]): Promise<Schemas["Context"]> {
    const body = { ...this.#whose, ...asked };
    return answer(await this.api.POST("/api/v1/memory/context", { body }));
  }

  async search(asked: Schemas["SearchGetQuery"]): Promise<Schemas["SearchAnswer"]> {
    const query = { ...this.#whose, ...asked };
    return answer(await this.api.GET("/api/v1/search", { params: { query } }));
  }

  /** Yields memories, by default the active ones, newest first. `limit` is the page size. */
  async *memories(asked: Schemas["LongTermGetQuery"] = {}): AsyncGenerator<Schemas["Memory"]> {
    let query = { ...this.#whose, limit: 100, ...asked };
    for (;;) {
      const page = answer(await this.api.GET("/api/v1/memory/long_term", { params: { query } }));
      yield* page.results;
      if (page.next === null) return;
      // Only the cursor is used, since the host of the URL may be internal.
      query = { ...query, cursor: new URL(page.next).searchParams.get("cursor") ?? "" };
    }
  }

  /** Writes a memory. `result` says whether it was created, updated or skipped. */
  async addMemory(memory: Schemas["MemoryInputShapeRequest"]): Promise<Schemas["WrittenMemory"]> {
    const body = { ...this.#whose, ...memory };
    return answer(await this.api.POST("/api/v1/memory/long_term", { body }));
  }

  /** Writes up to 100 memories. Returns a result for each, even if it is refused, in order. */
  async addMemories(
    memories: Schemas["MemoryItemRequest"][],
  ): Promise<Schemas["BatchResult"][]> {
    const body = { ...this.#whose, memories };
    return (await answer(await this.api.POST("/api/v1/memory/long_term/batch", { body }))).results;
  }

  async getMemory(id: string): Promise<Schemas["Memory"]> {
    const params = { path: { memory_id: id }, query: this.#whose };
    return answer(await this.api.GET("/api/v1/memory/long_term/{memory_id}", { params }));
  }

  async changeMemory(
    id: string,
    changes: Schemas["PatchedMemoryChangeRequest"],
  ): Promise<Schemas["Memory"]> {
    const [params, body] = [{ path: { memory_id: id } }, { ...this.#whose, ...changes }];
    return answer(await this.api.PATCH("/api/v1/memory/long_term/{memory_id}", { params, body }));
  }

  /** Hides a memory at once, and starts the operation that erases it everywhere. */
  async deleteMemory(id: string): Promise<Schemas["Accepted"]> {
    const params = { path: { memory_id: id }, query: this.#whose };
    const response = await this.api.DELETE("/api/v1/memory/long_term/{memory_id}", { params });
    return answer(response) as Schemas["Accepted"];
  }

  /** Moves a memory to the recycle bin. */
  async recycleMemory(id: string): Promise<Schemas["Memory"]> {
    const params = { path: { memory_id: id }, query: { ...this.#whose, recycle: true } };
    const response = await this.api.DELETE("/api/v1/memory/long_term/{memory_id}", { params });
    return answer(response) as Schemas["Memory"];
  }

  /** Erases the data of a scope. Only the status `accepted` means that data will be erased. */
  async forget(
    what: Schemas["ForgetInputRequest"],
  ): Promise<Schemas["ForgetAnswer"] | Schemas["ForgetQuestion"]> {
    const body = { ...this.#whose, ...what };
    return answer(await this.api.POST("/api/v1/memory/forget", { body }));
  }

  /** Saves memories from messages that are about to leave the context. */
  async flush(what: Schemas["FlushInputRequest"]): Promise<Schemas["Flushed"]> {
    return answer(await this.api.POST("/api/v1/memory/flush", { body: { ...this.#whose, ...what } }));
  }

  /** Exports one conversation, or everything, and returns the file. */
  async export(what: Schemas["ExportInputRequest"] = {}): Promise<Blob> {
    const body = { ...this.#whose, ...what };
    const { op_id } = answer(await this.api.POST("/api/v1/memory/export", { body }));
    await this.wait(op_id);
    const params = { path: { op_id }, query: this.#whose };
    const path = "/api/v1/memory/export/{op_id}/download";
    return answer(await this.api.GET(path, { params, parseAs: "blob" }));
  }

  async operation(opId: string): Promise<Schemas["Operation"]> {
    const params = { path: { op_id: opId }, query: this.#whose };
    return answer(await this.api.GET("/api/v1/memory/ops/{op_id}", { params }));
  }

  /** Returns the receipt of a finished forget. */
  async receipt(opId: string): Promise<Schemas["Receipt"]> {
    const params = { path: { op_id: opId }, query: this.#whose };
    return answer(await this.api.GET("/api/v1/memory/ops/{op_id}/receipt", { params }));
  }

  /** Waits until an operation succeeds, and returns it. Throws if it fails or after `timeout` ms. */
  async wait(opId: string, timeout = 120_000): Promise<Schemas["Operation"]> {
    const until = performance.now() + timeout;
    for (let pause = 200; ; pause = Math.min(2_000, pause * 1.5)) {
      const operation = await this.operation(opId);
      const { status, last_error: reason } = operation;
      if (status === "succeeded") return operation;
      if (OVER.includes(status)) throw new MemoryCenterError(status, reason || opId);
      if (performance.now() + pause > until) {
        throw new MemoryCenterError("timeout", `${opId} is still ${status}.`);
      }
      await sleep(pause);
    }
  }

  /** Yields an operation after each change until it ends. Reconnects if the stream breaks. */
  async *events(opId: string): AsyncGenerator<Schemas["Operation"]> {
    const [reader, retries] = [new EventReader(), new Retries(this.options.retries ?? 3)];
    const address = new URL(`${this.#root}/api/v1/memory/ops/${encodeURIComponent(opId)}/events`);
    if (this.#whose.user_id) address.searchParams.set("user_id", this.#whose.user_id);
    for (;;) {
      const response = await this.#send(new Request(address, { headers: reader.begin() }));
      if (response.status === 204 || response.body === null) return;
      const parts = response.body.getReader();
      try {
        for (;;) {
          const { done, value } = await parts.read().catch(async (error: unknown) => {
            await retries.pause(lost(error));
            return { done: true, value: undefined };
          });
          if (done || value === undefined) break;
          for (const operation of reader.read(value) as Iterable<Schemas["Operation"]>) {
            retries.succeeded();
            yield operation;
            if (OVER.includes(operation.status)) return;
          }
        }
      } finally {
        await parts.cancel().catch(() => undefined);
      }
      await sleep(reader.pause);
    }
  }

  async #send(request: Request): Promise<Response> {
    const retries = new Retries(this.options.retries ?? 3);
    request.headers.set("Authorization", `Bearer ${this.options.key}`);
    if (request.method !== "GET" && !request.headers.has("Idempotency-Key")) {
      request.headers.set("Idempotency-Key", crypto.randomUUID());
    }
    for (;;) {
      let response: Response;
      try {
        response = await this.#once(request);
      } catch (error) {
        if (request.signal.aborted) throw error; // the caller has aborted the request
        await retries.pause(lost(error));
        continue;
      }
      if (response.ok) return response;
      await retries.pause(await refused(response));
    }
  }

  #once(request: Request): Promise<Response> {
    const late = AbortSignal.timeout(this.options.timeout ?? 60_000);
    const signal = AbortSignal.any([request.signal, late]);
    return (this.options.fetch ?? fetch)(new Request(request.clone(), { signal }));
  }
}

/** Returns the data of a response. Any failed call has already thrown an error. */
function answer<T>(response: { data?: T | undefined }): T {
  return response.data as T;
}
