'use strict';
// MCP: results of tool calls bounded, on the side of the client or of the server.
const { asTruncator } = require('./truncator.js');

/** The same client, whose tool results are bounded. */
function boundClient(client, truncator) {
  const used = asTruncator(truncator);
  const { callTool } = client;
  client.callTool = async function bounded(parameters, ...rest) {
    const result = await callTool.call(this, parameters, ...rest);
    return used.result(result, { tool: parameters?.name, shape: 'mcp' });
  };
  return client;
}

/** The same handler for `server.registerTool`, whose result is bounded. */
function boundHandler(name, handler, truncator) {
  const used = asTruncator(truncator);
  return async (...inputs) => used.result(await handler(...inputs), { tool: name, shape: 'mcp' });
}

module.exports = { boundClient, boundHandler };
