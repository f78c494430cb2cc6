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

/** Bounds the texts of a handler for `server.registerTool`; structured content stays, because it has to match a schema. */
function boundHandler(name, handler, truncator) {
  const used = asTruncator(truncator);
  return async (...inputs) => bound(used, await handler(...inputs), name);
}

/** Bounds a result with content; other answers have none. */
function bound(used, result, tool) {
  return Array.isArray(result?.content) ? used.result(result, { tool, shape: 'mcp' }) : result;
}

module.exports = { boundClient, boundHandler };
