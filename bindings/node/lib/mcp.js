'use strict';
// MCP: results of tool calls bounded, on the side of the client or of the server.
const { asTruncator } = require('./truncator.js');

/** The same client, whose tool results are bounded. */
function boundClient(client, truncator) {
  const used = asTruncator(truncator);
  const { callTool } = client;
  client.callTool = async function bounded(parameters, ...rest) {
    const tool = parameters?.name;
    const result = await bound(used, await callTool.call(this, parameters, ...rest), tool);
    // Often a structure says again what the text says; one that is too long is text, in a structure of our own.
    const structure = result?.structuredContent;
    const told = await used.bound(structure, { tool });
    if (told === structure) return result;
    return { ...result, structuredContent: typeof told === 'string' ? { offcut: told } : told };
  };
  return client;
}

/** The same handler for `server.registerTool`, whose texts are bounded; its structure has to match a schema. */
function boundHandler(name, handler, truncator) {
  const used = asTruncator(truncator);
  return async (...inputs) => bound(used, await handler(...inputs), name);
}

/** Answers of other kinds have no content. */
function bound(used, result, tool) {
  return Array.isArray(result?.content) ? used.result(result, { tool, shape: 'mcp' }) : result;
}

module.exports = { boundClient, boundHandler };
