'use strict';
// Vercel's AI SDK: bounds the output of tools.
const { asTruncator } = require('./truncator.js');

/** Returns a copy of the tool whose output is bounded. */
function boundTool(tool, { name, truncator } = {}) {
  if (typeof tool?.execute !== 'function') return tool;
  const used = asTruncator(truncator);
  const { execute } = tool;
  const call = (options) => ({ tool: name, callId: options?.toolCallId });

  async function* each(outputs, options) {
    for await (const output of outputs) yield await used.bound(output, call(options));
  }
  const bounded = {
    execute(input, options) {
      const output = execute.call(tool, input, options);
      // A tool may yield progress; every value is bounded.
      if (typeof output?.[Symbol.asyncIterator] === 'function') return each(output, options);
      return Promise.resolve(output).then((output) => used.bound(output, call(options)));
    },
  };
  return { ...tool, ...bounded };
}

/** The same for an object of tools. */
function boundTools(tools, truncator) {
  const used = asTruncator(truncator);
  return Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, boundTool(tool, { name, truncator: used })]));
}

module.exports = { boundTool, boundTools };
