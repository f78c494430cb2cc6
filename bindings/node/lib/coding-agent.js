'use strict';
// The coding agent's truncation (seed 000), with the names of its source document.
const native = require('./native.js');
const { Store } = require('./store.js');
const { CONTEXT, Truncator } = require('./truncator.js');
const { describe, reason } = require('./values.js');

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

/** One engine, which stores nothing, cuts for all strategies. */
let bare;
function engine() {
  bare ??= new native.Engine(JSON.stringify({ profile: 'coding-agent', store: 'none' }));
  return bare;
}

/** The options for one call, from a configuration. */
const options = ({ maxLines, maxBytes, direction }) => ({ options: describe({ maxLines, maxBytes, direction }) });

/** The base class for custom strategies. */
class BaseTruncationStrategy {
  needsTruncation(content, config) {
    return !engine().fits(content, options(config));
  }

  truncate(content, config) {
    const { content: shown, report } = engine().cutBare(content, options(config));
    const { removed_lines: removedLines, removed_bytes: removedBytes } = JSON.parse(report);
    return { content: shown, removedLines, removedBytes };
  }

  countLines(content) {
    return native.countLines(content);
  }

  countBytes(content) {
    return native.countBytes(content);
  }

  truncateHead(content, maxLines) {
    return this.#lines(content, maxLines, 'head');
  }

  truncateTail(content, maxLines) {
    return this.#lines(content, maxLines, 'tail');
  }

  #lines(content, maxLines, direction) {
    return engine().cutBare(content, options({ maxLines, maxBytes: Infinity, direction })).content.split('\n');
  }
}

/** Shows whole lines from one end. */
class DefaultTruncationStrategy extends BaseTruncationStrategy {
  name = 'default';
}

/** Stores complete outputs in a directory; without a directory, in the command line's store. */
class TruncationStorage {
  #store;
  #engine;

  constructor(storageDir) {
    this.#store = new Store(storageDir);
    this.#engine = new native.Engine(JSON.stringify({ profile: 'coding-agent', store: this.#store.directory }));
  }

  async save(content, context) {
    return this.#engine.keep(content, { tool: context?.toolName, session: context?.sessionId });
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

/** Bounds outputs, stores them completely, and reports events. */
class TruncationService {
  #config;
  #tools;
  #storage;
  #strategy;
  #onEvent;
  #truncator;
  #engine;

  constructor(config = {}) {
    this.#config = { ...DEFAULT_TRUNCATION_CONFIG, ...config.global };
    this.#tools = new Map(Object.entries(config.tools ?? {}));
    this.#storage = config.storage ?? new TruncationStorage(this.#config.storageDir);
    const isDefault = !config.strategy || config.strategy.constructor === DefaultTruncationStrategy;
    this.#strategy = isDefault ? undefined : config.strategy;
    this.#onEvent = config.onEvent;
    this.#open();
  }

  /** Creates the engines. They record with each output how long it is kept. */
  #open() {
    // A TruncationStorage is offcut's store itself; any other storage is known only by its methods.
    const isStore = this.#storage.constructor === TruncationStorage;
    const store = isStore ? this.#storage.getStorageDir() : this.#storage;
    const days = this.#config.retentionDays ?? DEFAULT_TRUNCATION_CONFIG.retentionDays;
    const retentionDays = Math.min(Math.max(Math.ceil(days), 0), 0xffffffff);
    const shared = { profile: 'coding-agent', retentionDays };
    this.#truncator = new Truncator({ ...shared, store, onEvent: (event) => this.#translate(event) });
    this.#engine = new native.Engine(JSON.stringify({ ...shared, store: isStore ? store : 'none', events: true }));
  }

  async output(content, context) {
    const config = this.#effective(context);
    if (this.#strategy && config.enabled) {
      try {
        return await this.#byStrategy(content, context, config);
      } catch (error) {
        // The output is bounded without the failing strategy, and the error is reported.
        const originalSize = native.countBytes(content);
        this.#emit({ type: 'error', context, originalSize, truncatedSize: originalSize, error: reason(error) });
      }
    }
    const { maxLines, maxBytes, direction, enabled } = config;
    const named = { tool: context?.toolName, session: context?.sessionId, [CONTEXT]: context };
    const call = { ...named, maxLines, maxBytes, direction, enabled };
    const cut = await this.#truncator.cut(content, call);
    if (!cut.truncated) return { content, truncated: false };
    return truncated(cut.content, cut.report);
  }

  async #byStrategy(content, context, config) {
    if (!(await this.#strategy.needsTruncation(content, config))) {
      const size = native.countBytes(content);
      this.#emit({ type: 'skipped', context, originalSize: size, truncatedSize: size });
      return { content, truncated: false };
    }
    const made = await this.#strategy.truncate(content, config);
    if (typeof made?.content !== 'string') throw new TypeError('the strategy returned no content');
    const saved = await this.#save(content, context);
    const { content: shown, removedLines, removedBytes } = made;
    const shownByStrategy = { content: shown, removedLines, removedBytes, tail: config.direction === 'tail', saved };
    const call = { tool: context?.toolName, session: context?.sessionId };
    const reply = await this.#engine.frame(content, JSON.stringify(shownByStrategy), call);
    const report = JSON.parse(reply.report);
    report.events.forEach((event) => this.#translate({ path: report.saved, ...event }));
    return truncated(reply.content, report);
  }

  /** Saves to a custom storage; returns undefined for offcut's own. */
  async #save(content, context) {
    if (this.#storage.constructor === TruncationStorage) return undefined;
    try {
      return { path: String(await this.#storage.save(content, context)) };
    } catch (error) {
      return { error: reason(error) };
    }
  }

  async cleanup() {
    return this.#storage.cleanup(this.#config.retentionDays);
  }

  updateConfig(config) {
    this.#config = { ...this.#config, ...config };
    if (config?.retentionDays !== undefined) this.#open();
  }

  setToolConfig(toolName, config) {
    this.#tools.set(toolName, config);
  }

  #effective(context) {
    const tool = this.#tools.get(context?.toolName) ?? {};
    const chosen = context?.options ?? {};
    const enabled = chosen.skip !== undefined ? !chosen.skip : (tool.enabled ?? this.#config.enabled);
    return { ...this.#config, ...tool, ...chosen, enabled };
  }

  /** Translates an event of the engine into one of the source document's. */
  #translate({ event, tool, path: outputPath, original_bytes: originalSize, content_bytes: truncatedSize, error }) {
    const type = event === 'passed' ? 'skipped' : event;
    if (!['truncated', 'skipped', 'error'].includes(type)) return;
    this.#emit({ type, context: { toolName: tool }, originalSize, truncatedSize, outputPath, error });
  }

  #emit({ type, context, originalSize, truncatedSize, outputPath, error }) {
    const event = { type, toolName: context?.toolName, originalSize, truncatedSize };
    if (outputPath !== undefined) event.outputPath = outputPath;
    if (error !== undefined) event.error = error;
    this.#onEvent?.({ ...event, timestamp: Date.now() });
  }
}

function truncated(content, { saved, removed_lines: removedLines, removed_bytes: removedBytes }) {
  return { content, truncated: true, outputPath: saved, removedLines, removedBytes };
}

/** Returns a function that bounds the output of every tool result. */
function createTruncationMiddleware({ service, skipTools = [], shouldTruncate }) {
  return async (toolName, result, context) => {
    if (!result?.output || result.metadata?.truncated !== undefined || skipTools.includes(toolName)) return result;
    let used = { toolName, ...context };
    if (shouldTruncate) {
      const decision = shouldTruncate(toolName, result);
      if (decision === false) return result;
      if (typeof decision === 'object' && decision !== null) used = { ...used, options: decision };
    }
    const bounded = await service.output(result.output, used);
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
