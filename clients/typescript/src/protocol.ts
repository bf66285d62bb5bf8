/** The code that needs no connection: errors, retries and event streams. */

const LONGEST_OWN_PAUSE = 8_000;
const LONGEST_PAUSE = 60_000; // milliseconds; the API counts its rate limits per minute

interface Details {
  status?: number;
  fields?: Record<string, string[]>;
  requestId?: string;
  retryAfter?: number;
}

/**
 * A refused call, a call without an answer, or an operation that did not succeed. `code` is the
 * error code of the API (`invalid`, `not_found`, …). If there is no answer, `code` is `unreachable`;
 * if the answer isn't from the API, `http_502` or similar; for an operation, `failed`, `cancelled`
 * or `timeout`. `field` is the first field that the API names.
 */
export class MemoryCenterError extends Error {
  readonly status: number | undefined;
  readonly fields: Record<string, string[]>;
  readonly field: string | undefined;
  readonly requestId: string;
  /** The seconds after which the server allows another attempt. */
  readonly retryAfter: number | undefined;

  constructor(
    readonly code: string,
    message: string,
    details: Details = {},
  ) {
    super(message);
    this.name = "MemoryCenterError";
    this.status = details.status;
    this.fields = details.fields ?? {};
    this.field = Object.keys(this.fields)[0];
    this.requestId = details.requestId ?? "";
    this.retryAfter = details.retryAfter;
  }
}

export function lost(error: unknown): MemoryCenterError {
  return new MemoryCenterError("unreachable", error instanceof Error ? error.message : String(error));
}

export async function refused(response: Response): Promise<MemoryCenterError> {
  const details: Details = {
    status: response.status,
    requestId: response.headers.get("X-Request-ID") ?? "",
  };
  const after = response.headers.get("Retry-After");
  if (after !== null && /^\d+$/.test(after)) details.retryAfter = Number(after);
  try {
    const { error } = (await response.json()) as {
      error: { code: string; message: string; fields?: Record<string, string[]> };
    };
    return new MemoryCenterError(error.code, error.message, { ...details, fields: error.fields ?? {} });
  } catch {
    return new MemoryCenterError(`http_${response.status}`, response.statusText, details);
  }
}

/** Decides whether a failed call is repeated, and after how many milliseconds. */
export class Retries {
  #failed = 0;
  #wasLost = false;

  constructor(readonly most: number) {}

  succeeded(): void {
    this.#failed = 0;
  }

  /** Waits before the next attempt. Throws the error if the call must not be repeated. */
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

/** Parses the data of server-sent events, which may arrive in any chunks. */
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
      const fields = new Map<string, string>();
      for (const line of block.split("\n")) {
        const at = line.indexOf(": ");
        if (at > 0) fields.set(line.slice(0, at), line.slice(at + 2));
      }
      this.pause = Number(fields.get("retry") ?? this.pause);
      const data = fields.get("data");
      if (data === undefined) continue;
      this.seen = fields.get("id") ?? this.seen;
      yield JSON.parse(data);
    }
  }
}

export function sleep(milliseconds: number): Promise<void> {
  return new Promise((done) => setTimeout(done, milliseconds));
}
