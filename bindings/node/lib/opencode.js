'use strict';
// OpenCode's `Truncate` (seed 001) and Takumi's plugin (seed 003), with the names of their source documents.
const native = require('./native.js');
const { Truncator } = require('./truncator.js');

let opencode;
let takumi;

/** The truncator that all calls share. */
function shared() {
  opencode ??= new Truncator({ profile: 'opencode' });
  return opencode;
}

/** Whether the agent may start a sub-agent, by its permission rules. */
const hasTaskTool = (agent) => native.hasTaskTool(JSON.stringify(agent?.permission ?? null));

const Truncate = {
  MAX_LINES: 2000,
  MAX_BYTES: 50 * 1024,
  RETENTION_MS: 7 * 24 * 60 * 60 * 1000,

  /** Bounds an output; the hint depends on what the agent may do. */
  async output(text, options, agent) {
    const { maxLines, maxBytes, direction } = options ?? {};
    const cut = await shared().cut(text, { maxLines, maxBytes, direction, task: hasTaskTool(agent) });
    if (!cut.truncated) return { content: text, truncated: false };
    return { content: cut.content, truncated: true, outputPath: cut.saved };
  },

  /** Removes expired outputs. The first output that is stored starts this too, on another thread. */
  async cleanup() {
    return shared().cleanup();
  },
};

const truncationPlugin = {
  name: 'truncation',
  enforce: 'post',

  async toolResult(toolResult, opts) {
    if (this?.config?.truncation === false) return toolResult;
    takumi ??= new Truncator({ profile: 'takumi' });
    const { name, callId } = opts?.toolUse ?? {};
    return takumi.result(toolResult, { tool: name, callId, shape: 'takumi' });
  },
};

module.exports = { Truncate, truncationPlugin };
