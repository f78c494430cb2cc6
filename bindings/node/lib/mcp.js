'use strict';
// MCP: bounds the results of tool calls, in a client or in a server.
const { asTruncator } = require('./truncator.js');

/** Bounds the tool results of a client, and returns it. */
function boundClient(client, truncator) {
  const used = asTruncator(truncator);
  const { callTool } = client;
  client.callTool = async function bounded(parameters, ...rest) {
    const tool = parameters?.name;
    const result = await bound(used, await callTool.call(this, parameters, ...rest), tool);
    // Structured content often repeats the text, so it is bounded too; one that became text is wrapped in an object.
    const structure = result?.structuredContent;
    const shown = await used.bound(structure, { tool });
    if (shown === structure) return result;
    return { ...result, structuredContent: typeof shown === 'string' ? { offcut: shown } : shown };
  };
  return client;
}

/**
 * Bounds the results of a handler for `server.registerTool`. Structured content has to match the schema of the tool, so it is
 * bounded only if the JSON schema is given.
 */
function boundHandler(name, handler, truncator, { outputSchema } = {}) {
  const used = asTruncator(truncator);
  return async (...inputs) => {
    const result = await bound(used, await handler(...inputs), name);
    const structure = result?.structuredContent;
    if (outputSchema === undefined || structure === undefined) return result;
    const { value, report } = await used.shortenData(structure, outputSchema, { tool: name });
    if (value === structure) return result;
    const text = notice(Buffer.byteLength(JSON.stringify(structure)), report);
    return { ...result, structuredContent: value, content: [...(result.content ?? []), { type: 'text', text }] };
  };
}

/** Says that structured content is incomplete, in the words of the proxy. */
function notice(bytes, { id, saved }) {
  const access = saved === undefined ? ' and not stored' : `: all of it: ${saved}`;
  return `[offcut${id === undefined ? '' : ` ${id}`}: structuredContent of ${bytes} bytes is shown in part${access}]`;
}

/** Bounds a result with content; other answers have none. */
function bound(used, result, tool) {
  return Array.isArray(result?.content) ? used.result(result, { tool, shape: 'mcp' }) : result;
}

module.exports = { boundClient, boundHandler };
