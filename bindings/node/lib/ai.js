'use strict';
// Vercel's AI SDK: bounds what models receive from tools.
const { createHash } = require('node:crypto');
const { boundError } = require('./errors.js');
const { asTruncator } = require('./truncator.js');

/** The most previews that a tool keeps for the next time that the same conversation is sent. */
const MOST = 100;

/**
 * Returns a copy of the tool whose output is bounded for the model. The application gets the output as it is, except for a
 * text of a tool without `toModelOutput` and `outputSchema`: that is bounded for both.
 */
function boundTool(tool, { name, truncator } = {}) {
  if (typeof tool?.execute !== 'function') return tool;
  const used = asTruncator(truncator);
  const { execute } = tool;
  const isTyped = tool.toModelOutput !== undefined || tool.outputSchema !== undefined;
  const call = (options) => ({ tool: name, callId: options?.toolCallId });
  const bound = (output, options) => (isTyped || typeof output !== 'string' ? output : used.bound(output, call(options)));

  async function* each(outputs, options) {
    try {
      // A tool may yield progress; every text is bounded.
      for await (const output of outputs) yield await bound(output, options);
    } catch (error) {
      throw await boundError(used, error, call(options));
    }
  }
  async function one(output, options) {
    try {
      return await bound(await output, options);
    } catch (error) {
      throw await boundError(used, error, call(options));
    }
  }
  const previews = new Map();
  async function convert(given) {
    const shown = tool.toModelOutput ? await tool.toModelOutput(given) : modelOutput(given.output);
    // The same output has the same preview each time.
    const digest = createHash('sha256').update(JSON.stringify([given.toolCallId, shown])).digest('base64');
    const preview = previews.get(digest) ?? (await boundModelOutput(used, shown, call(given)));
    if (preview !== shown) previews.set(digest, preview);
    if (previews.size > MOST) previews.delete(previews.keys().next().value);
    return preview;
  }
  const bounded = {
    execute(input, options) {
      let output;
      try {
        output = execute.call(tool, input, options);
      } catch (error) {
        output = Promise.reject(error);
      }
      return typeof output?.[Symbol.asyncIterator] === 'function' ? each(output, options) : one(output, options);
    },

    /** Called whenever the conversation is converted. */
    toModelOutput(given) {
      const isCall = given?.toolCallId !== undefined && 'output' in given;
      // Version 5 of the SDK passes the output alone, and does not wait.
      return isCall ? convert(given) : boundNow(used, tool.toModelOutput?.(given) ?? modelOutput(given), { tool: name });
    },
  };
  return { ...tool, ...bounded };
}

/** The SDK's conversion of an output for which a tool has none. */
function modelOutput(output) {
  return typeof output === 'string' ? { type: 'text', value: output } : { type: 'json', value: output ?? null };
}

/** Bounds what a model receives: text, data, or parts. */
async function boundModelOutput(used, shown, call) {
  if (shown?.type === 'content') {
    const given = { content: shown.value };
    const { content } = await used.result(given, { ...call, shape: 'mcp' });
    return content === given.content ? shown : { ...shown, value: content };
  }
  const value = await used.bound(shown?.value, call);
  if (value === shown?.value) return shown;
  // Data that became text.
  const type = typeof value === 'string' ? shown.type.replace('json', 'text') : shown.type;
  return { ...shown, type, value };
}

/** The same for a caller that does not wait. */
function boundNow(used, shown, call) {
  if (shown?.type === 'content') {
    return { ...shown, value: used.resultSync({ content: shown.value }, { ...call, shape: 'mcp' }).content };
  }
  const isText = typeof shown?.value === 'string';
  const { content, truncated } = used.cutSync(isText ? shown.value : (JSON.stringify(shown?.value) ?? ''), call);
  return truncated ? { ...shown, type: shown.type.replace('json', 'text'), value: content } : shown;
}

/** The same for an object of tools. */
function boundTools(tools, truncator) {
  const used = asTruncator(truncator);
  return Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, boundTool(tool, { name, truncator: used })]));
}

module.exports = { boundTool, boundTools };
