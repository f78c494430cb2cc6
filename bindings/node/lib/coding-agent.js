'use strict';
// The coding agent's truncation, by the names it has there.
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

/** Everything is cut by one engine that keeps nothing. */
let bare;
function engine() {
  bare ??= new native.Engine(JSON.stringify({ profile: 'coding-agent', store: 'none' }));
  return bare;
}

/** What a configuration says about one call of a strategy. */
const options = ({ maxLines, maxBytes, direction }) => ({ options: describe({ maxLines, maxBytes, direction }) });

/** For strategies of one's own. */
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

/** Whole lines from one end. */
class DefaultTruncationStrategy extends BaseTruncationStrategy {
  name = 'default';
}

/** Keeps whole outputs in a directory; without one, in the command line's own store. */
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

/** Bounds outputs, keeps the whole of them, and tells what happened. */
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
    const isOurs = !config.strategy || config.strategy.constructor === DefaultTruncationStrategy;
    this.#strategy = isOurs ? undefined : config.strategy;
    this.#onEvent = config.onEvent;
    // A storage that is ours is the store itself; of any other only its methods are known.
    const isStore = this.#storage.constructor === TruncationStorage;
    const store = isStore ? this.#storage.getStorageDir() : this.#storage;
    this.#truncator = new Truncator({ profile: 'coding-agent', store, onEvent: (event) => this.#told(event) });
    this.#engine = new native.Engine(
      JSON.stringify({ profile: 'coding-agent', store: isStore ? store : 'none', events: true }),
    );
  }

  async output(content, context) {
    const config = this.#effective(context);
    if (this.#strategy && config.enabled) {
      try {
        return await this.#byStrategy(content, context, config);
      } catch (error) {
        // What a strategy cannot do is done without it: bounded, and told.
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
    const strategist = { content: shown, removedLines, removedBytes, tail: config.direction === 'tail', saved };
    const call = { tool: context?.toolName, session: context?.sessionId };
    const reply = await this.#engine.frame(content, JSON.stringify(strategist), call);
    const report = JSON.parse(reply.report);
    if (report.saved && saved) this.#pending = report.saved;
    report.events.forEach((event) => this.#told(event));
    return truncated(reply.content, report);
  }

  /** What a storage of the caller's own said; nothing if the store is ours. */
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

  /** Where the output is of which the next event tells. */
  #pending;

  /** An event of the engine's, as the document has it. */
  #told({ event, tool, path, original_bytes: originalSize, content_bytes: truncatedSize, error }) {
    const context = { toolName: tool };
    if (event === 'stored') this.#pending = path;
    if (event === 'passed') this.#emit({ type: 'skipped', context, originalSize, truncatedSize });
    if (event === 'error') this.#emit({ type: 'error', context, originalSize, truncatedSize: originalSize, error });
    if (event === 'truncated') {
      const outputPath = this.#pending;
      this.#pending = undefined;
      this.#emit({ type: 'truncated', context, originalSize, truncatedSize, outputPath });
    }
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

/** Bounds the output of every tool result that passes through. */
function createTruncationMiddleware({ service, skipTools = [], shouldTruncate }) {
  return async (toolName, result, context) => {
    if (!result?.output || result.metadata?.truncated !== undefined || skipTools.includes(toolName)) return result;
    let used = { toolName, ...context };
    if (shouldTruncate) {
      const decision = shouldTruncate(toolName, result);
      if (decision === false) return result;
      if (typeof decision === 'object' && decision !== null) used = { ...used, options: decision };
    }
    const told = await service.output(result.output, used);
    const metadata = { ...result.metadata, truncated: told.truncated };
    if (told.truncated) {
      metadata.truncationPath = told.outputPath;
      metadata.truncationRemovedLines = told.removedLines;
      metadata.truncationRemovedBytes = told.removedBytes;
    }
    return { ...result, output: told.content, metadata };
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
