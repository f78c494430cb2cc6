'use strict';
// Vercel's AI SDK: tools whose output is bounded.
const { asTruncator } = require('./truncator.js');

/** The same tool with its output bounded. */
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
      // A tool may report its progress; every report is bounded.
      if (typeof output?.[Symbol.asyncIterator] === 'function') return each(output, options);
      return Promise.resolve(output).then((output) => used.bound(output, call(options)));
    },
  };
  return { ...tool, ...bounded };
}

/** The same tools, by their names. */
function boundTools(tools, truncator) {
  const used = asTruncator(truncator);
  return Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, boundTool(tool, { name, truncator: used })]));
}

module.exports = { boundTool, boundTools };
