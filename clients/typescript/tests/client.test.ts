import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { MemoryCenter, MemoryCenterError, type Schemas } from "memcenter-client";

const { MEMORY_CENTER_URL: baseUrl = "", MEMORY_CENTER_KEY: key = "" } = process.env;

/** A person that the running product has never heard of. */
function live(): MemoryCenter {
  return new MemoryCenter({ baseUrl, key, userId: `ana-${crypto.randomUUID()}` });
}

/** A client that is given one answer after the other. */
function answered(...answers: (Response | Error)[]) {
  const asked: Request[] = [];
  const fetch = async (request: Request): Promise<Response> => {
    asked.push(request);
    const next = answers.shift();
    if (next instanceof Response) return next;
    throw next ?? new Error("No answer is left.");
  };
  const center = new MemoryCenter({ baseUrl: "http://center/", key: "mc_key", userId: "ana", fetch });
  return { center, asked };
}

/** The milliseconds that the client would have waited. */
function pausesOf(t: TestContext): number[] {
  const pauses: number[] = [];
  t.mock.method(globalThis, "setTimeout", (then: () => void, after: number) => {
    pauses.push(after);
    queueMicrotask(then);
  });
  return pauses;
}

function refusal(status: number, code: string, headers: Record<string, string> = {}): Response {
  const error = { code, message: "No.", fields: { content: ["No."] } };
  return Response.json({ error, detail: "No." }, { status, headers });
}

function event(id: number, status: string): string {
  return `id: ${id}\nevent: operation\ndata: ${JSON.stringify({ op_id: "op_1", status })}\n\n`;
}

async function all<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const row of rows) found.push(row);
  return found;
}

test("a person is learned of, recalled and forgotten", async () => {
  const center = live();
  const turn = await center.recordTurn({
    conversation_id: "c-1",
    user_message: "I am allergic to peanuts.",
    assistant_message: "Noted.",
  });
  for (const id of turn.op_ids) {
    assert.equal((await all(center.events(id))).at(-1)?.status, "succeeded");
  }
  const flushed = await center.flush({ conversation_id: "c-1", stage: "candidates" });
  assert.ok(flushed.candidates?.length);
  assert.match((await center.context({ message: "What could I cook?" })).block, /peanuts/);
  assert.ok((await center.search({ query: "allergy", types: "memory" })).results.length);
  const [memory] = await all(center.memories());
  assert.ok(memory);

  const asked = await center.forget({ scope: "memory", memory_id: memory.id });
  assert.ok(asked.status === "accepted" && asked.op_id);
  await center.wait(asked.op_id);
  assert.ok((await center.receipt(asked.op_id)).erased);
  await assert.rejects(center.getMemory(memory.id), (error: MemoryCenterError) => {
    return error.status === 404 && error.code === "not_found" && error.requestId !== "";
  });
});

test("memories are written, changed, listed and exported", async () => {
  const center = live();
  const ids: string[] = [];
  for (const content of ["Plays chess on Mondays", "Lives in Brno"]) {
    ids.push((await center.addMemory({ content, kind: "fact" })).id);
  }
  const [home, refused] = await center.addMemories([
    { content: "Speaks Czech at home", kind: "fact" },
    { content: "" },
  ]);
  assert.deepEqual([home?.status, refused?.status], ["created", "refused"]);
  assert.ok(refused?.error?.fields.content);
  const [chess = "", brno = "", czech = ""] = [...ids, home?.memory?.id];
  await center.changeMemory(chess, { pinned: true });
  assert.ok((await center.getMemory(chess)).pinned);
  const listed = await all(center.memories({ limit: 1 }));
  assert.deepEqual(listed.map((one: Schemas["Memory"]) => one.id), [czech, brno, chess]);
  await center.recycleMemory(brno);
  const { op_id } = await center.deleteMemory(czech);
  await center.wait(op_id ?? "");
  assert.equal((await all(center.memories())).length, 1);
  assert.match(await (await center.export()).text(), /Plays chess on Mondays/);
});

test("bad input names the field", async () => {
  await assert.rejects(live().addMemory({ content: "" }), { code: "invalid", field: "content" });
  const { data } = await live().api.GET("/api/v1/memory/settings", {
    params: { query: { user_id: "ben" } },
  });
  assert.equal(data?.longterm_enabled, true);
});

test("what passes is tried again when the server says, and done once", async (t) => {
  const pauses = pausesOf(t);
  const { center, asked } = answered(
    refusal(429, "rate_limited", { "Retry-After": "7" }),
    new TypeError("fetch failed"),
    refusal(409, "conflict"),
    Response.json({ id: "mem_1" }),
  );
  assert.equal((await center.addMemory({ content: "Plays chess" })).id, "mem_1");
  assert.deepEqual(pauses, [7_000, 1_000, 2_000]);
  assert.equal(new Set(asked.map((one) => one.headers.get("Idempotency-Key"))).size, 1);
  assert.deepEqual(await asked[3]?.json(), { user_id: "ana", content: "Plays chess" });
});

test("trying again has an end", async (t) => {
  pausesOf(t);
  const gone = answered(...Array.from({ length: 4 }, () => new TypeError("fetch failed")));
  await assert.rejects(gone.center.getMemory("mem_1"), { code: "unreachable" });
  const { center } = answered(new Response("<html>", { status: 502 }));
  await assert.rejects(center.getMemory("mem_1"), { code: "http_502" });
  const long = answered(refusal(429, "rate_limited", { "Retry-After": "86400" }));
  await assert.rejects(long.center.getMemory("mem_1"), { code: "rate_limited" });
});

test("a stream goes on after the last event that was seen", async (t) => {
  const pauses = pausesOf(t);
  const cut = `retry: 500\n\n${event(1, "pending")}${event(2, "running").slice(0, 20)}`;
  const { center, asked } = answered(
    new Response(cut),
    new Response(event(2, "running") + event(3, "succeeded")),
  );
  const told = (await all(center.events("op_1"))).map((one) => one.status);
  assert.deepEqual(told, ["pending", "running", "succeeded"]);
  assert.deepEqual(pauses, [500]);
  assert.deepEqual(asked.map((one) => one.headers.get("Last-Event-ID")), [null, "1"]);
});
