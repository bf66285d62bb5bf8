/** Tests of the integration with the Vercel AI SDK. `make integrations` runs them with a live product. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, stepCountIs, streamText, tool, wrapLanguageModel } from 'ai';
import { z } from 'zod';

import { memoryCenter } from './memory-center.js';

const url = process.env.MEMORY_CENTER_URL;
const key = process.env.MEMORY_CENTER_KEY;
const TOLD = 'My name is Ada and I am allergic to nuts.';
const NOTED = { role: 'assistant', content: 'Noted.' };
const PATIENCE = 240_000; // milliseconds, for a busy machine

/** A fake OpenAI server that records its requests. */
const asked = [];
let answers = [];
const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  asked.push(JSON.parse(body));
  const message = answers.shift() ?? NOTED;
  const finish_reason = message.tool_calls ? 'tool_calls' : 'stop';
  const whole = { id: 'c', created: 1, model: 'm' };
  if (asked.at(-1).stream) {
    const choices = [{ index: 0, delta: message, finish_reason }];
    response.setHeader('Content-Type', 'text/event-stream');
    response.end(`data: ${JSON.stringify({ ...whole, choices })}\n\ndata: [DONE]\n\n`);
  } else {
    const choices = [{ index: 0, message, finish_reason }];
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify({ ...whole, choices }));
  }
});

before(() => new Promise((done) => server.listen(0, '127.0.0.1', done)));
after(() => server.close());

const prompt = () => JSON.stringify(asked.at(-1).messages);

function cook(userId, conversationId, address = url) {
  const baseURL = `http://127.0.0.1:${server.address().port}/v1`;
  return wrapLanguageModel({
    model: createOpenAICompatible({ name: 'fake', baseURL })('m'),
    middleware: memoryCenter({ url: address, key, userId, conversationId }),
  });
}

async function get(path, userId) {
  const answer = await fetch(`${url}/api/v1${path}?user_id=${userId}`, {
    headers: { Authorization: `Bearer ${key}` },
  });
  return (await answer.json()).results;
}

async function untilKnown(userId, word) {
  const deadline = Date.now() + PATIENCE;
  for (;;) {
    const rows = await get('/memory/long_term', userId);
    if (rows.some((row) => row.content.includes(word))) return;
    assert.ok(Date.now() < deadline, `${word} was not learned`);
    await pause(200);
  }
}

test('a text recalls in another conversation what was said', async () => {
  const user = `ada-${randomUUID()}`;
  const told = await generateText({ model: cook(user, 'monday'), prompt: TOLD });
  assert.equal(told.text, 'Noted.');
  await untilKnown(user, 'nuts');
  await generateText({
    model: cook(user, 'friday'),
    system: 'Be kind.',
    prompt: 'What could I cook for dinner?',
  });
  assert.match(prompt(), /Be kind\..*allergic to nuts/);
  assert.equal(asked.at(-1).messages.length, 2);
  assert.ok(!prompt().includes(TOLD));
});

test('a streamed answer is recorded and recalled', async () => {
  const user = `ada-${randomUUID()}`;
  const result = streamText({ model: cook(user, 'monday'), prompt: TOLD });
  assert.equal(await result.text, 'Noted.');
  await untilKnown(user, 'nuts');
  await streamText({ model: cook(user, 'friday'), prompt: 'What could I cook?' }).text;
  assert.match(prompt(), /allergic to nuts/);
});

test('a turn with a tool is recorded once', async () => {
  const user = `ada-${randomUUID()}`;
  const call = { id: 'call-1', type: 'function', function: { name: 'time', arguments: '{}' } };
  answers = [{ role: 'assistant', content: 'Let me see.', tool_calls: [call] }, NOTED];
  const time = tool({ description: 'Now', inputSchema: z.object({}), execute: () => 'noon' });
  const options = { prompt: TOLD, tools: { time }, stopWhen: stepCountIs(3) };
  assert.equal((await generateText({ model: cook(user, 'monday'), ...options })).text, 'Noted.');
  const rows = await get('/conversations/monday/messages', user);
  assert.deepEqual(rows.map((row) => row.content), [TOLD, 'Noted.']);
});

test('a chat goes on without its memory', async (context) => {
  context.mock.method(console, 'warn', () => {});
  const model = cook('ada', 'monday', 'http://127.0.0.1:9');
  assert.equal((await generateText({ model, prompt: TOLD })).text, 'Noted.');
  assert.equal(console.warn.mock.callCount(), 2);
});

test('a changed URL is enough', async () => {
  const user = `ada-${randomUUID()}`;
  const say = async (prompt, conversation) => {
    const headers = { 'X-Memcenter-User': user, 'X-Memcenter-Conversation': conversation };
    const center = createOpenAICompatible({ name: 'ours', baseURL: `${url}/v1`, apiKey: key, headers });
    return (await generateText({ model: center('memcenter-demo'), prompt })).text;
  };
  await say(TOLD, 'monday');
  await untilKnown(user, 'nuts');
  assert.match(await say('What am I allergic to?', 'friday'), /nuts/);
});
