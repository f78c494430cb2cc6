'use strict';
// OpenCode's `Truncate` (seed 001), Takumi's plugin (seed 003) and Klaude's panel (seed 004), with the names of their source
// documents.
const path = require('node:path');
const native = require('./native.js');
const { Store } = require('./store.js');
const { Truncator } = require('./truncator.js');

/** Whether the agent may start a sub-agent, by its permission rules. */
const hasTaskTool = (agent) => native.hasTaskTool(JSON.stringify(agent?.permission ?? null));

/** Returns OpenCode's `Truncate` for a directory; without one, it uses the command line's store. */
function createTruncate({ directory } = {}) {
  let truncator;
  /** The truncator that all calls share. */
  const shared = () => (truncator ??= new Truncator({ profile: 'opencode', store: directory }));
  return {
    MAX_LINES: 2000,
    MAX_BYTES: 50 * 1024,
    RETENTION_MS: 7 * 24 * 60 * 60 * 1000,

    /** The directory with the complete outputs. */
    get DIR() {
      return new Store(directory).directory;
    },

    /** The pattern of their files. */
    get GLOB() {
      return path.join(this.DIR, '*');
    },

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
}

/** Returns Takumi's plugin for a directory; `log` is called when an output cannot be saved. */
function createTruncationPlugin({ directory, log = console.error } = {}) {
  let truncator;
  return {
    name: 'truncation',
    enforce: 'post',

    async toolResult(toolResult, opts) {
      if (this?.config?.truncation === false) return toolResult;
      truncator ??= new Truncator({ profile: 'takumi', store: directory });
      const { name, callId } = opts?.toolUse ?? {};
      const { value, results } = await truncator.judge(toolResult, { tool: name, callId, shape: 'takumi' });
      for (const { error } of results) if (error) log(`offcut: the full output of ${name ?? 'a tool'} was not saved: ${error}`);
      return value;
    },
  };
}

/** Returns a few lines for a terminal about a truncated result of Klaude: the sizes and the file. */
function renderTruncationInfo({ saved_file_path: place, original_length: original, truncated_length: truncated }) {
  return native.truncationPanel(place, original, truncated);
}

module.exports = {
  Truncate: createTruncate(),
  createTruncate,
  createTruncationPlugin,
  renderTruncationInfo,
  truncationPlugin: createTruncationPlugin(),
};
