'use strict';
// The coding agent's truncation (seed 000), with the names of its source document.
const native = require('./native.js');
const { Store } = require('./store.js');
const { CONTEXT, DECIDE_AND_CUT, Truncator } = require('./truncator.js');
const { reason } = require('./values.js');

const DEFAULT_TRUNCATION_CONFIG = {
  maxLines: 2000,
  maxBytes: 50 * 1024,
  direction: 'head',
  enabled: true,
  retentionDays: 7,
};

const TOOL_TRUNCATION_CONFIGS = {
  bash: { direction: 'tail', maxLines: 500 },
  grep: { maxLines: 3000 },
  read: { enabled: false },
};

/** The base class for custom strategies. */
class BaseTruncationStrategy {
  needsTruncation(content, config) {
    return native.needsTruncation(content, config);
  }

  truncate(content, config) {
    const { content: shown, removedLines, removedBytes } = native.truncate(content, config);
    return { content: shown, removedLines, removedBytes };
  }

  countLines(content) {
    return native.countLines(content);
  }

  countBytes(content) {
    return native.countBytes(content);
  }

  truncateHead(content, maxLines) {
    return native.truncateHead(content, maxLines);
  }

  truncateTail(content, maxLines) {
    return native.truncateTail(content, maxLines);
  }
}

/** Shows whole lines from one end. */
class DefaultTruncationStrategy extends BaseTruncationStrategy {
  name = 'default';
}

/** The engine's names for a call. */
const named = (context) => ({ tool: context?.toolName, session: context?.sessionId, messageId: context?.messageId });

/** Stores complete outputs in a directory; without a directory, in the command line's store. */
class TruncationStorage {
  #store;
  #archive;

  constructor(storageDir) {
    this.#store = new Store(storageDir);
    this.#archive = new native.Archive(this.#store.directory);
  }

  async save(content, context) {
    return this.#archive.save(content, named(context));
  }

  async read(filePath) {
    return (await this.#store.cat(filePath)).toString();
  }

  async cleanup(retentionDays) {
    return this.#store.clean(retentionDays, 'coding-agent');
  }

  getStorageDir() {
    return this.#store.directory;
  }
}

/** What the engine knows of a configuration. */
const rule = ({ maxLines, maxBytes, direction, enabled, skip }) => ({ maxLines, maxBytes, direction, enabled, skip });

/** What a strategy shows of a text; null if it does not cut it. */
async function choose(strategy, content, config) {
  if (!(await strategy.needsTruncation(content, config))) return null;
  const made = await strategy.truncate(content, config);
  if (typeof made?.content !== 'string') throw new TypeError('the strategy returned no content');
  return made;
}

/** Bounds outputs, stores them completely, and reports events. */
class TruncationService {
  #config;
  #tools;
  #parts;
  #truncator;

  constructor(config = {}) {
    const all = { ...DEFAULT_TRUNCATION_CONFIG, ...config.global };
    this.#parts = { ...config, storage: config.storage ?? new TruncationStorage(all.storageDir) };
    this.#open(all, { ...config.tools });
  }

  /** Creates the truncator, which merges the settings of a call, its tool and all tools. A rejected setting changes nothing. */
  #open(all, tools) {
    const { storage, strategy, automaticCleaning } = this.#parts;
    const days = all.retentionDays ?? DEFAULT_TRUNCATION_CONFIG.retentionDays;
    const isDefault = !strategy || strategy.constructor === DefaultTruncationStrategy;
    this.#truncator = new Truncator({
      ...rule(all),
      profile: 'coding-agent',
      tools: Object.fromEntries(Object.entries(tools).map(([tool, config]) => [tool, rule(config ?? {})])),
      retentionDays: Math.min(Math.max(Math.ceil(days), 0), 0xffffffff),
      automaticCleaning,
      // A TruncationStorage is offcut's store itself; any other storage is known only by its methods.
      store: storage.constructor === TruncationStorage ? storage.getStorageDir() : storage,
      [DECIDE_AND_CUT]: isDefault ? undefined : (text, config, call) => this.#choose(text, { ...this.#config, ...config }, call),
      onEvent: ({ event, tool: toolName, original_bytes: originalSize, content_bytes: truncatedSize, path: outputPath, error }) => {
        this.#emit({ type: event === 'passed' ? 'skipped' : event, toolName, originalSize, truncatedSize, outputPath, error });
      },
    });
    this.#config = all;
    this.#tools = tools;
  }

  async output(content, context) {
    const cut = await this.#truncator.cut(content, this.#call(context));
    if (!cut.truncated) return { content, truncated: false };
    const { saved, removed_lines: removedLines, removed_bytes: removedBytes } = cut.report;
    return { content: cut.content, truncated: true, outputPath: saved, removedLines, removedBytes };
  }

  async cleanup() {
    return this.#parts.storage.cleanup(this.#config.retentionDays);
  }

  updateConfig(config) {
    this.#open({ ...this.#config, ...config }, this.#tools);
  }

  setToolConfig(toolName, config) {
    this.#open(this.#config, { ...this.#tools, [toolName]: config });
  }

  #call(context) {
    return { ...rule(context?.options ?? {}), ...named(context), [CONTEXT]: context };
  }

  async #choose(content, config, { tool: toolName }) {
    try {
      return await choose(this.#parts.strategy, content, config);
    } catch (error) {
      // The output is bounded without the failing strategy, and the error is reported.
      const size = native.countBytes(content);
      this.#emit({ type: 'error', toolName, originalSize: size, truncatedSize: size, error: reason(error) });
      return choose(new DefaultTruncationStrategy(), content, config);
    }
  }

  #emit({ outputPath, error, ...event }) {
    if (outputPath !== undefined) event.outputPath = outputPath;
    if (error !== undefined) event.error = error;
    this.#parts.onEvent?.({ ...event, timestamp: Date.now() });
  }
}

/** Returns a function that bounds the output of every tool result. */
function createTruncationMiddleware({ service, skipTools = [], shouldTruncate }) {
  return async (toolName, result, context) => {
    if (!result?.output) return result;
    const isExempt = result.metadata?.truncated !== undefined || skipTools.includes(toolName);
    const decision = !isExempt && (shouldTruncate?.(toolName, result) ?? true);
    const used = { toolName, ...context };
    if (decision === false) used.options = { skip: true };
    else if (typeof decision === 'object') used.options = decision;
    const bounded = await service.output(result.output, used);
    if (decision === false) return result;
    const metadata = { ...result.metadata, truncated: bounded.truncated };
    if (bounded.truncated) {
      metadata.truncationPath = bounded.outputPath;
      metadata.truncationRemovedLines = bounded.removedLines;
      metadata.truncationRemovedBytes = bounded.removedBytes;
    }
    return { ...result, output: bounded.content, metadata };
  };
}

module.exports = {
  BaseTruncationStrategy,
  DEFAULT_TRUNCATION_CONFIG,
  DefaultTruncationStrategy,
  TOOL_TRUNCATION_CONFIGS,
  TruncationService,
  TruncationStorage,
  createTruncationMiddleware,
};
