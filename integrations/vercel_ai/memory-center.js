/** A Vercel AI SDK middleware that recalls memories before a call and records the turn afterwards. */

/**
 * Return the middleware of one user in one conversation, for `wrapLanguageModel({ model, middleware })`.
 *
 * @param {{ url: string, key: string, userId: string, conversationId: string }} options
 * @returns {import('ai').LanguageModelMiddleware}
 */
export function memoryCenter({ url, key, userId, conversationId }) {
  const who = { user_id: userId, conversation_id: conversationId };
  let recalled = { message: '', block: '' }; // an agent calls the model several times per message

  async function send(path, body) {
    try {
      const answer = await fetch(`${url}/api/v1/${path}`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ ...who, ...body }),
        signal: AbortSignal.timeout(10_000),
      });
      if (!answer.ok) throw new Error(`status ${answer.status}`);
      return await answer.json();
    } catch (error) {
      console.warn(`Memory Center did not take ${path}: ${error.message}`);
      return null; // the chat continues without memory
    }
  }

  async function recall(message) {
    if (message !== recalled.message) {
      const found = await send('memory/context', { message, include_window: false });
      if (found === null) return '';
      recalled = { message, block: found.block };
    }
    return recalled.block;
  }

  async function record(prompt, parts) {
    const said = lastOfUser(prompt);
    const reply = textOf(parts);
    if (!said.trim() || !reply.trim() || parts.some((part) => part.type === 'tool-call')) return;
    await send('turns', { user_message: said, assistant_message: reply });
  }

  return {
    specificationVersion: 'v3',

    async transformParams({ params }) {
      const said = lastOfUser(params.prompt);
      const block = said.trim() ? await recall(said) : '';
      return block ? { ...params, prompt: withBlock(params.prompt, block) } : params;
    },

    async wrapGenerate({ doGenerate, params }) {
      const result = await doGenerate();
      await record(params.prompt, result.content);
      return result;
    },

    async wrapStream({ doStream, params }) {
      const { stream, ...rest } = await doStream();
      const parts = [];
      const listening = new TransformStream({
        transform(part, controller) {
          if (part.type === 'text-delta') parts.push({ type: 'text', text: part.delta });
          if (part.type === 'tool-call') parts.push(part);
          controller.enqueue(part);
        },
        flush: () => record(params.prompt, parts),
      });
      return { stream: stream.pipeThrough(listening), ...rest };
    },
  };
}

function textOf(parts) {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

function lastOfUser(prompt) {
  return textOf(prompt.findLast((message) => message.role === 'user')?.content ?? []);
}

function withBlock(prompt, block) {
  const [first, ...others] = prompt;
  return first?.role === 'system'
    ? [{ ...first, content: `${first.content}\n\n${block}` }, ...others]
    : [{ role: 'system', content: block }, ...prompt];
}
