/** Errors, retries and event streams: what needs no connection. */

const LONGEST_OWN_PAUSE = 8_000;
const LONGEST_PAUSE = 60_000; // the rates of the API are counted by the minute

interface Told {
  status?: number;
  fields?: Record<string, string[]>;
  requestId?: string;
  retryAfter?: number;
}

/**
 * A call that was refused or that reached nobody. `code` is the API's (`invalid`, `not_found`, …),
 * `unreachable` without an answer, `http_502` for an answer that isn't the API's, `failed` or
 * `cancelled` for an operation, and `timeout` for one that takes too long. `field` is the first
 * field that the API names.
 */
export class MemoryCenterError extends Error {
  readonly status: number | undefined;
  readonly fields: Record<string, string[]>;
  readonly field: string | undefined;
  readonly requestId: string;
  /** Seconds. */
  readonly retryAfter: number | undefined;

  constructor(
    readonly code: string,
    message: string,
    told: Told = {},
  ) {
    super(message);
    this.name = "MemoryCenterError";
    this.status = told.status;
    this.fields = told.fields ?? {};
    this.field = Object.keys(this.fields)[0];
    this.requestId = told.requestId ?? "";
    this.retryAfter = told.retryAfter;
  }
}

export function lost(error: unknown): MemoryCenterError {
  return new MemoryCenterError("unreachable", error instanceof Error ? error.message : String(error));
}

export async function refused(response: Response): Promise<MemoryCenterError> {
  const told: Told = {
    status: response.status,
    requestId: response.headers.get("X-Request-ID") ?? "",
  };
  const after = response.headers.get("Retry-After");
  if (after !== null && /^\d+$/.test(after)) told.retryAfter = Number(after);
  try {
    const { error } = (await response.json()) as {
      error: { code: string; message: string; fields?: Record<string, string[]> };
    };
    return new MemoryCenterError(error.code, error.message, { ...told, fields: error.fields ?? {} });
  } catch {
    return new MemoryCenterError(`http_${response.status}`, response.statusText, told);
  }
}

/** Decides whether a failed call is sent again, and after how long. */
export class Retries {
  #failed = 0;
  #wasLost = false;

  constructor(readonly most: number) {}

  succeeded(): void {
    this.#failed = 0;
  }

  /** Waits; throws the error if the call is not worth repeating. */
  async pause(error: MemoryCenterError): Promise<void> {
    this.#failed += 1;
    const own = Math.min(LONGEST_OWN_PAUSE, 250 * 2 ** this.#failed);
    const pause = error.retryAfter ? error.retryAfter * 1000 : own;
    if (this.#failed > this.most || pause > LONGEST_PAUSE || !this.#isPassing(error)) throw error;
    await sleep(pause);
  }

  #isPassing(error: MemoryCenterError): boolean {
    if (error.status === undefined) return (this.#wasLost = true);
    // The first call, whose answer was lost, may still be running.
    const stillRunning = this.#wasLost && error.code === "conflict";
    return error.status === 429 || error.status === 503 || stillRunning;
  }
}

/** Reads the data of server-sent events, however the stream is cut. */
export class EventReader {
  seen = "";
  pause = 1_000;
  #rest = "";
  #decoder = new TextDecoder();

  begin(): Record<string, string> {
    this.#rest = "";
    this.#decoder = new TextDecoder();
    return this.seen ? { "Last-Event-ID": this.seen } : {};
  }

  *read(part: Uint8Array): Generator<unknown> {
    const blocks = (this.#rest + this.#decoder.decode(part, { stream: true })).split("\n\n");
    this.#rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const told = new Map<string, string>();
      for (const line of block.split("\n")) {
        const at = line.indexOf(": ");
        if (at > 0) told.set(line.slice(0, at), line.slice(at + 2));
      }
      this.pause = Number(told.get("retry") ?? this.pause);
      const data = told.get("data");
      if (data === undefined) continue;
      this.seen = told.get("id") ?? this.seen;
      yield JSON.parse(data);
    }
  }
}

export function sleep(milliseconds: number): Promise<void> {
  return new Promise((done) => setTimeout(done, milliseconds));
}
