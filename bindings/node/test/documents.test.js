'use strict';
// The examples and test plans of the source documents (coding agent: seed 000, OpenCode: seed 001, Takumi: seed 003, Klaude:
// seed 004).
const { fresh, log } = require('./home.js');
const assert = require('node:assert');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { describe, it } = require('node:test');
const {
  BaseTruncationStrategy, DefaultTruncationStrategy, TruncationService, TruncationStorage, createTruncationMiddleware,
  Store, Truncate, Truncator, createTruncate, createTruncationPlugin, renderTruncationInfo, truncationPlugin, DEFAULT_TRUNCATION_CONFIG, TOOL_TRUNCATION_CONFIGS,
} = require('../index.js');

const lines = (count) => Array.from({ length: count }, (_, number) => `line ${number}`).join('\n');
const longContent = lines(5000);
const contentWith100Lines = lines(100);
const contentWith50Lines = lines(50);

/** Makes every output in a store older: its id contains the time. */
function makeOlder(directory, days) {
  const digits = '0123456789abcdefghjkmnpqrstvwxyz';
  const metadata = path.join(directory, '.offcut');
  for (const name of fs.readdirSync(metadata).filter((name) => name.endsWith('.json'))) {
    const id = path.parse(name).name;
    let time = [...id.slice(0, 8)].reduce((value, digit) => value * 32 + digits.indexOf(digit), 0) - days * 86_400_000;
    let older = '';
    for (; older.length < 8; time = Math.floor(time / 32)) older = digits[time % 32] + older;
    older += id.slice(8);
    const text = fs.readFileSync(path.join(metadata, name), 'utf8').replaceAll(id, older);
    fs.rmSync(path.join(metadata, name));
    fs.writeFileSync(path.join(metadata, `${older}.json`), text);
  }
}

describe('TruncationService', () => {
  describe('output', () => {
    it('should not truncate when disabled', async () => {
      const service = new TruncationService({ global: { enabled: false } });
      const result = await service.output(longContent, { toolName: 'test' });
      assert.strictEqual(result.truncated, false);
    });

    it('should truncate when exceeds maxLines', async () => {
      const service = new TruncationService({ global: { maxLines: 10 } });
      const result = await service.output(contentWith100Lines, { toolName: 'test' });
      assert.strictEqual(result.truncated, true);
    });

    it('should respect tool-specific config', async () => {
      const service = new TruncationService({
        global: { maxLines: 100 },
        tools: { bash: { maxLines: 10 } },
      });
      const result = await service.output(contentWith50Lines, { toolName: 'bash' });
      assert.strictEqual(result.truncated, true);
    });
  });

  it('returns the frame, the path and the counts of the document', async () => {
    const service = new TruncationService({ global: { maxLines: 10, storageDir: fresh() } });
    const result = await service.output(contentWith100Lines, { toolName: 'my tool', sessionId: 's' });
    assert.strictEqual(result.content, `${lines(10)}\n\n...90 lines truncated...\n\n` +
      `The tool call succeeded but the output was truncated. Full output saved to: ${result.outputPath}\n` +
      'Use Grep to search the full content or Read with offset/limit to view specific sections.');
    assert.deepStrictEqual([result.removedLines, result.removedBytes], [90, undefined]);
    assert.match(path.basename(result.outputPath), /^my_tool_\d+_[0-9a-z]{6}\.txt$/);
    assert.strictEqual(fs.readFileSync(result.outputPath, 'utf8'), contentWith100Lines);
    const tail = await service.output('é\n'.repeat(40_000), { toolName: 'x', options: { direction: 'tail', maxLines: 9999999 } });
    assert.ok(tail.content.startsWith(`...${tail.removedBytes} bytes truncated...\n\nThe tool call succeeded`));
    assert.strictEqual(tail.removedLines, undefined);
  });

  it('merges call over tool over global options, which can be changed', async () => {
    const service = new TruncationService({ global: { maxLines: 10 }, tools: { read: { enabled: false } } });
    const isCut = async (context) => (await service.output(contentWith100Lines, context)).truncated;
    assert.strictEqual(await isCut({ toolName: 'read' }), false);
    assert.strictEqual(await isCut({ toolName: 'read', options: { skip: false } }), true);
    assert.strictEqual(await isCut({ toolName: 'x', options: { skip: true } }), false);
    assert.strictEqual(await isCut({ toolName: 'x', options: { maxLines: 100 } }), false);
    service.setToolConfig('x', { maxLines: 200 });
    assert.strictEqual(await isCut({ toolName: 'x' }), false);
    service.updateConfig({ maxLines: 300, enabled: true });
    assert.strictEqual(await isCut({ toolName: 'y' }), false);
    assert.strictEqual(await service.cleanup(), 0);
  });

  it('keeps its configuration when a new one is rejected', async () => {
    const service = new TruncationService({ global: { maxLines: 10, storageDir: fresh() } });
    assert.throws(() => service.setToolConfig('x', { maxLines: -1 }), /a positive whole number/);
    assert.throws(() => service.updateConfig({ maxLines: -1 }), /a positive whole number/);
    service.setToolConfig('y', { maxLines: 200 });
    service.updateConfig({ retentionDays: 3 });
    assert.strictEqual((await service.output(contentWith100Lines, { toolName: 'x' })).truncated, true);
    assert.strictEqual((await service.output(contentWith100Lines, { toolName: 'y' })).truncated, false);
  });

  it('records the id of the message with each output', async () => {
    const storageDir = fresh();
    for (const strategy of [undefined, { name: 'x', needsTruncation: () => true, truncate: () => ({ content: 'mine' }) }]) {
      const service = new TruncationService({ strategy, global: { maxLines: 10, storageDir } });
      const { outputPath } = await service.output(contentWith100Lines, { toolName: 'x', sessionId: 's', messageId: 'm1' });
      const { messageId, session } = await new Store(storageDir).get(outputPath);
      assert.deepStrictEqual([messageId, session], ['m1', 's']);
    }
    const storage = new TruncationStorage(storageDir);
    const file = await storage.save('text', { toolName: 'x', messageId: 'm2' });
    assert.strictEqual((await new Store(storageDir).get(file)).messageId, 'm2');
  });

  it('records the configured retention with each output', async () => {
    const storageDir = fresh();
    const service = new TruncationService({ global: { maxLines: 10, storageDir, retentionDays: 30 } });
    const recorded = async () => {
      const { outputPath } = await service.output(contentWith100Lines, { toolName: 'x' });
      const { id } = await new Store(storageDir).get(outputPath);
      return JSON.parse(fs.readFileSync(path.join(storageDir, '.offcut', `${id}.json`))).retention;
    };
    assert.strictEqual(await recorded(), 30);
    service.updateConfig({ retentionDays: 3 });
    assert.strictEqual(await recorded(), 3);
  });

  it('reports events', async () => {
    const events = [];
    const service = new TruncationService({ global: { maxLines: 10 }, onEvent: (event) => events.push(event) });
    await service.output('a', { toolName: 'one' });
    const { outputPath, content } = await service.output(contentWith100Lines, { toolName: 'two' });
    assert.deepStrictEqual(events.map(({ timestamp, ...event }) => event), [
      { type: 'skipped', toolName: 'one', originalSize: 1, truncatedSize: 1 },
      { type: 'truncated', toolName: 'two', originalSize: contentWith100Lines.length, truncatedSize: content.length, outputPath },
    ]);
    assert.ok(Math.abs(events[0].timestamp - Date.now()) < 60_000);
  });

  it('narrows the type as the document shows', async () => {
    const truncationService = new TruncationService();
    const result = await truncationService.output(longContent, { toolName: 'test' });
    if (result.truncated) {
      assert.ok(`完整内容保存在: ${result.outputPath}`.includes('/') && result.removedLines === 3000);
    } else {
      assert.fail('it is too long');
    }
  });
});

// The parts of the document's registry that concern truncation.
class ToolRegistry {
  constructor(config) { this.config = config; this.tools = new Map(); }
  register(tools) { tools.forEach((tool) => this.tools.set(tool.name, tool)); }
  setTruncationMiddleware(middleware) { this.truncationMiddleware = middleware; }
  async execute(toolCalls, context) {
    return Promise.all(toolCalls.map(async (toolCall) => {
      const { name } = toolCall;
      let result = await this.tools.get(name).execute({}, context);
      if (this.truncationMiddleware && result.output) {
        result = await this.truncationMiddleware(name, result, { toolName: name, sessionId: context?.sessionId });
      }
      return { tool_call_id: toolCall.id, name, result };
    }));
  }
}
const tool = (name, output, metadata) => ({ name, execute: async () => ({ success: true, output, metadata }) });

describe('Truncation Integration', () => {
  it('should truncate tool output via middleware', async () => {
    const registry = new ToolRegistry({});
    registry.register([tool('search', contentWith100Lines)]);
    const service = new TruncationService({ global: { maxLines: 10 } });
    registry.setTruncationMiddleware(createTruncationMiddleware({ service }));
    const results = await registry.execute([{ id: '1', name: 'search' }]);
    assert.ok(results[0].result.output.includes('truncated'));
    assert.strictEqual(results[0].result.metadata?.truncated, true);
    assert.deepStrictEqual(
      [results[0].result.success, results[0].result.metadata.truncationRemovedLines], [true, 90]);
    assert.ok(fs.existsSync(results[0].result.metadata.truncationPath));
  });

  it('works in the setup of the document', async () => {
    const events = [];
    const toolRegistry = new ToolRegistry({});
    const custom = { truncated: true, customTruncation: true };
    toolRegistry.register([tool('bash', longContent), tool('grep', lines(2500)), tool('web_fetch', longContent),
      tool('custom', longContent, custom), tool('empty', ''), tool('small', 'x')]);
    const truncationService = new TruncationService({
      global: { maxLines: 2000, maxBytes: 50 * 1024, direction: 'head' },
      tools: { bash: { direction: 'tail', maxLines: 500 }, grep: { maxLines: 3000 } },
      onEvent: (event) => { events.push(`[Truncation] ${event.type}: ${event.toolName}`); },
    });
    const middleware = createTruncationMiddleware({ service: truncationService, skipTools: ['web_fetch'] });
    toolRegistry.setTruncationMiddleware(middleware);
    const calls = ['bash', 'grep', 'web_fetch', 'custom', 'empty', 'small'].map((name) => ({ id: name, name }));
    const [bash, grep, web, own, empty, small] = (await toolRegistry.execute(calls)).map(({ result }) => result);
    assert.ok(bash.output.startsWith('...4500 lines truncated...') && bash.output.endsWith('line 4999'));
    assert.deepStrictEqual([grep.metadata, small.metadata], [{ truncated: false }, { truncated: false }]);
    assert.deepStrictEqual([web.output, own.metadata, empty], [longContent, custom, { success: true, output: '', metadata: undefined }]);
    assert.deepStrictEqual(events.toSorted(), ['[Truncation] skipped: custom', '[Truncation] skipped: grep',
      '[Truncation] skipped: small', '[Truncation] skipped: web_fetch', '[Truncation] truncated: bash']);
  });

  it('obeys the configuration that a tool declares', async () => {
    const bash = { ...tool('bash', longContent), truncation: { direction: 'tail', maxLines: 500 } };
    const service = new TruncationService();
    const registry = new ToolRegistry({});
    registry.register([bash]);
    registry.tools.forEach(({ name, truncation }) => service.setToolConfig(name, truncation));
    registry.setTruncationMiddleware(createTruncationMiddleware({ service }));
    const [{ result }] = await registry.execute([{ id: '1', name: 'bash' }]);
    assert.ok(result.output.startsWith('...4500 lines truncated...') && result.output.endsWith('line 4999'));
  });

  it('obeys shouldTruncate', async () => {
    const events = [];
    const service = new TruncationService({ onEvent: ({ type, toolName, originalSize }) => events.push([type, toolName, originalSize]) });
    const decisions = { a: false, b: true, c: { maxLines: 5 } };
    const middleware = createTruncationMiddleware({ service, shouldTruncate: (name) => decisions[name] });
    const result = { success: true, output: contentWith50Lines };
    assert.strictEqual(await middleware('a', result, { toolName: 'a' }), result);
    assert.strictEqual((await middleware('b', result, { toolName: 'b' })).metadata.truncated, false);
    assert.strictEqual((await middleware('c', result, { toolName: 'c' })).metadata.truncated, true);
    assert.deepStrictEqual(events, [['skipped', 'a', 389], ['skipped', 'b', 389], ['truncated', 'c', 389]]);
  });

  it('leaves values that JSON does not have in a result', async () => {
    const middleware = createTruncationMiddleware({ service: new TruncationService() });
    const since = new Date();
    const { metadata, big } = await middleware('a', { output: longContent, big: 1n, metadata: { since } }, { toolName: 'a' });
    assert.ok(metadata.since === since && metadata.truncated && big === 1n);
  });
});

describe('extension points', () => {
  // As in the document.
  class JsonAwareStrategy extends BaseTruncationStrategy {
    name = 'json-aware';

    needsTruncation(content, config) {
      try {
        const json = JSON.parse(content);
        if (Array.isArray(json)) {
          return json.length > config.maxLines;
        }
      } catch {}
      return super.needsTruncation(content, config);
    }

    truncate(content, config) {
      try {
        const json = JSON.parse(content);
        if (Array.isArray(json)) {
          const kept = json.slice(0, config.maxLines);
          return {
            content: JSON.stringify(kept, null, 2),
            removedLines: json.length - kept.length,
          };
        }
      } catch {}
      return new DefaultTruncationStrategy().truncate(content, config);
    }
  }

  it('uses a custom strategy', async () => {
    const service = new TruncationService({ strategy: new JsonAwareStrategy(), global: { maxLines: 10 } });
    const array = JSON.stringify(Array.from({ length: 100 }, (_, number) => number));
    const result = await service.output(array, { toolName: 'query' });
    assert.ok(result.content.startsWith(`${JSON.stringify([...Array(10).keys()], null, 2)}\n\n...90 lines truncated...\n\nThe tool`));
    assert.strictEqual(result.removedLines, 90);
    assert.strictEqual(fs.readFileSync(result.outputPath, 'utf8'), array);
    assert.strictEqual((await service.output('[1,\n2,\n3]', { toolName: 'query' })).truncated, false);
    assert.strictEqual((await service.output(contentWith100Lines, { toolName: 'query' })).removedLines, 90);
  });

  it('accepts a strategy that returns promises', async () => {
    const strategy = { name: 'x', needsTruncation: async (content) => content.length > 5, truncate: async () => ({ content: 'mine' }) };
    const service = new TruncationService({ strategy });
    assert.deepStrictEqual(await service.output('short', { toolName: 'x' }), { content: 'short', truncated: false });
    assert.ok((await service.output('longer', { toolName: 'x' })).content.startsWith('mine\n\n...0 lines truncated'));
  });

  it('gives a strategy the effective configuration', async () => {
    const asked = [];
    const strategy = { name: 'x', needsTruncation: (content, config) => asked.push(config) === 0, truncate() {} };
    const service = new TruncationService({ strategy, global: { maxLines: 7, storageDir: fresh() }, tools: { bash: { direction: 'tail' } } });
    await service.output('a', { toolName: 'bash', options: { maxBytes: 9 } });
    service.updateConfig({ maxLines: 8 });
    await service.output('a', { toolName: 'x' });
    const picked = asked.map(({ maxLines, maxBytes, direction, enabled, retentionDays }) => [maxLines, maxBytes, direction, enabled, retentionDays]);
    assert.deepStrictEqual(picked, [[7, 9, 'tail', true, 7], [8, 51_200, 'head', true, 7]]);
  });

  it('reports both counts of a strategy', async () => {
    const strategy = { name: 'x', needsTruncation: () => true, truncate: () => ({ content: 'mine', removedLines: 3, removedBytes: 4 }) };
    const result = await new TruncationService({ strategy }).output('whole', { toolName: 'x' });
    assert.deepStrictEqual([result.removedLines, result.removedBytes], [3, 4]);
    assert.ok(result.content.startsWith('mine\n\n...4 bytes truncated...'));
  });

  it('cleans the directory when the first output is stored, with every strategy', async () => {
    for (const strategy of [undefined, new JsonAwareStrategy()]) {
      for (const automaticCleaning of [undefined, false]) {
        const storageDir = fresh();
        const expired = await new TruncationStorage(storageDir).save('expired', { toolName: 'x' });
        makeOlder(storageDir, 8);
        const service = new TruncationService({ strategy, automaticCleaning, global: { maxLines: 10, storageDir } });
        await service.output(contentWith100Lines, { toolName: 'x' });
        const most = automaticCleaning === false ? 100 : 10_000;
        for (const end = Date.now() + most; fs.existsSync(expired) && Date.now() < end; ) await new Promise((done) => setTimeout(done, 10));
        assert.strictEqual(fs.existsSync(expired), automaticCleaning === false);
      }
    }
  });

  it('cuts without a strategy that throws', async () => {
    const events = [];
    const strategy = { name: 'x', needsTruncation: () => true, truncate() { throw new Error('mine'); } };
    const service = new TruncationService({ strategy, onEvent: (event) => events.push(event.type) });
    const result = await service.output(longContent, { toolName: 'x' });
    assert.ok(result.truncated && result.outputPath);
    assert.deepStrictEqual(events, ['error', 'truncated']);
  });

  it('uses a custom storage', async () => {
    const saved = [];
    class S3Storage {
      async save(content, context) { saved.push([content, context]); return `s3://bucket/${saved.length}`; }
      async read() { return saved[0][0]; }
      async cleanup() { return 7; }
      getStorageDir() { return 's3://bucket'; }
    }
    const context = { toolName: 'x', sessionId: 's', messageId: 'm' };
    const events = [];
    for (const strategy of [undefined, new JsonAwareStrategy()]) {
      const service = new TruncationService({ storage: new S3Storage(), strategy, onEvent: (event) => events.push(event) });
      const result = await service.output(longContent, context);
      assert.strictEqual(result.outputPath, `s3://bucket/${saved.length}`);
      assert.ok(result.content.includes(`Full output saved to: ${result.outputPath}\n`));
      assert.strictEqual(await service.cleanup(), 7);
    }
    assert.deepStrictEqual(saved, [[longContent, context], [longContent, context]]);
    const passing = new TruncationService({ storage: new S3Storage(), strategy: new JsonAwareStrategy() });
    assert.strictEqual((await passing.output('small', context)).truncated, false);
    assert.strictEqual(saved.length, 2);
    assert.deepStrictEqual(events.map((event) => event.outputPath), ['s3://bucket/1', 's3://bucket/2']);
    const broken = new TruncationService({ storage: { save: async () => { throw new Error('denied'); } } });
    const result = await broken.output(longContent, context);
    assert.ok(result.truncated && result.outputPath === undefined && result.content.includes('could not be saved: denied'));
  });

  it('has a storage and helpers for strategies', async () => {
    const storage = new TruncationStorage(fresh());
    const file = await storage.save('text', { toolName: 'a/b' });
    assert.match(path.relative(storage.getStorageDir(), file), /^a_b_\d+_[0-9a-z]{6}\.txt$/);
    assert.strictEqual(await storage.read(file), 'text');
    assert.strictEqual(await storage.cleanup(7), 0);
    assert.strictEqual(await storage.cleanup(0), 1);
    const strategy = new DefaultTruncationStrategy();
    assert.deepStrictEqual([strategy.name, strategy.countLines('a\nb\n'), strategy.countBytes('é😀')], ['default', 3, 6]);
    assert.deepStrictEqual([strategy.truncateHead(lines(9), 2), strategy.truncateTail(lines(9), 2)], [['line 0', 'line 1'], ['line 7', 'line 8']]);
    const config = { ...DEFAULT_TRUNCATION_CONFIG, maxLines: 5 };
    assert.deepStrictEqual([strategy.needsTruncation(lines(5), config), strategy.needsTruncation(lines(6), config)], [false, true]);
    assert.deepStrictEqual(strategy.truncate(lines(6), config), { content: lines(5), removedLines: 1, removedBytes: undefined });
    assert.deepStrictEqual(TOOL_TRUNCATION_CONFIGS.bash, { direction: 'tail', maxLines: 500 });
  });
});

describe('Truncate', () => {
  it('works as in its document', async () => {
    const result = await Truncate.output(longContent);
    assert.ok(result.truncated);
    assert.match(path.basename(result.outputPath), /^tool_\d{8}_/);
    assert.ok(result.content.startsWith(`${lines(2000)}\n\n...3000 lines truncated...\n\nThe tool call succeeded`));
    assert.deepStrictEqual(await Truncate.output('short', null), { content: 'short', truncated: false });
    const tail = await Truncate.output(longContent, { direction: 'tail', maxLines: 500 });
    assert.ok(tail.content.endsWith('line 4999') && tail.content.startsWith('...4500 lines truncated...'));
    const bytes = await Truncate.output(longContent, { maxLines: 5000, maxBytes: 10 * 1024 });
    assert.match(bytes.content, /\.\.\.\d+ bytes truncated\.\.\./);
  });

  it('mentions the Task tool only if the agent may use it', async () => {
    const hint = async (agent) => (await Truncate.output(longContent, {}, agent)).content.includes('Use the Task tool');
    const rule = (action) => ({ permission: [{ permission: 'task', pattern: '*', action }] });
    assert.deepStrictEqual(
      [await hint(), await hint({}), await hint({ permission: {} }), await hint({ permission: { task: 'deny' } }), await hint(rule('deny'))],
      [false, false, false, false, false]);
    assert.deepStrictEqual(
      [await hint({ permission: { task: 'allow' } }), await hint({ permission: { task: { '*': 'ask' } } }), await hint(rule('ask'))],
      [true, true, true]);
    // Wildcards match in both forms, and the last match decides.
    assert.deepStrictEqual(
      [await hint({ permission: { '*': 'allow' } }), await hint({ permission: { '*': 'allow', task: 'deny' } }),
        await hint({ permission: { task: { '*': 'ask', explore: 'deny' } } }), await hint({ permission: { task: 7 } })],
      [true, false, true, false]);
  });

  it('has a directory that can be chosen', async () => {
    const directory = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'offcut-')), 'tool-output');
    const chosen = createTruncate({ directory });
    assert.deepStrictEqual([chosen.DIR, chosen.GLOB], [directory, path.join(directory, '*')]);
    assert.strictEqual(path.dirname((await chosen.output(longContent)).outputPath), directory);
    assert.ok(path.isAbsolute(Truncate.DIR) && Truncate.GLOB === path.join(Truncate.DIR, '*'));
  });

  it('cuts inside Tool.define', async () => {
    const define = (id, info) => ({ id, ...info, execute: async (args, ctx) => {
      const result = await info.execute(args, ctx);
      if (result.metadata.truncated !== undefined) return result;
      const truncated = await Truncate.output(result.output, {}, undefined);
      return { ...result, output: truncated.content, metadata: { ...result.metadata, truncated: truncated.truncated,
        ...(truncated.truncated && { outputPath: truncated.outputPath }) } };
    } });
    const LogTool = define('logs', { async execute(args) {
      const result = await Truncate.output(longContent, { direction: 'tail', maxLines: args.lines ?? 500 });
      return { title: `${args.service} 日志`, output: result.content,
        metadata: { truncated: result.truncated, logPath: result.truncated ? result.outputPath : undefined } };
    } });
    const { metadata } = await LogTool.execute({ service: 'web' });
    assert.ok(metadata.truncated && fs.existsSync(metadata.logPath) && !('outputPath' in metadata));
    const GrepTool = define('grep', { execute: async () => ({ title: 'x', output: longContent, metadata: { matchCount: 3 } }) });
    const result = await GrepTool.execute({});
    assert.deepStrictEqual([result.metadata.matchCount, result.metadata.truncated], [3, true]);
    assert.strictEqual(await Truncate.cleanup(), 0);
  });
});

describe('truncationPlugin', () => {
  const plugin = (config) => (result) => truncationPlugin.toolResult.call({ config }, result, { toolUse: { name: 'bash', callId: 'c' } });
  const run = plugin({});

  it('follows the table of its document', async () => {
    assert.deepStrictEqual([truncationPlugin.name, truncationPlugin.enforce], ['truncation', 'post']);
    const over = { llmContent: longContent };
    assert.strictEqual(await plugin({ truncation: false })(over), over);
    const handled = { llmContent: longContent, truncated: false };
    assert.strictEqual(await run(handled), handled);
    const failed = { llmContent: longContent, isError: true };
    assert.strictEqual(await run(failed), failed);
    assert.strictEqual((await run({ llmContent: lines(2000) })).truncated, false);
    const bounded = await run(over);
    assert.strictEqual(bounded.truncated, true);
    assert.strictEqual(fs.readFileSync(bounded.outputPath, 'utf8'), longContent);
    assert.ok(bounded.llmContent.includes(`Full output saved to: ${bounded.outputPath}`));
  });

  it('keeps images in place', async () => {
    const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' };
    const bounded = await run({ llmContent: [{ type: 'text', text: longContent }, image] });
    assert.deepStrictEqual(bounded.llmContent.find((part) => part.type === 'image'), image);
    assert.ok(bounded.truncated && JSON.stringify(bounded).length < 40_000);
  });

  it('saves to a chosen directory and logs a failed write', async () => {
    const directory = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'offcut-')), 'tool-output');
    const saved = await createTruncationPlugin({ directory }).toolResult({ llmContent: longContent });
    assert.strictEqual(path.dirname(saved.outputPath), directory);
    const file = path.join(directory, 'file');
    fs.writeFileSync(file, '');
    const logged = [];
    const unsaved = await createTruncationPlugin({ directory: file, log: (line) => logged.push(line) }).toolResult({ llmContent: longContent });
    assert.ok(unsaved.truncated && unsaved.outputPath === undefined && unsaved.llmContent.includes('lines truncated'));
    assert.match(logged.join(), /the full output of a tool was not saved: /);
  });

  it('marks images only as whole', async () => {
    const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' };
    assert.deepStrictEqual(await run({ llmContent: [image] }), { llmContent: [image], truncated: false });
  });

  it('works without a configuration', async () => {
    assert.strictEqual((await truncationPlugin.toolResult({ llmContent: log })).truncated, true);
  });
});

describe('renderTruncationInfo', () => {
  it('shows the sizes and the file', async () => {
    const item = { call_id: '1', tool_name: 'Bash', status: 'success', output: 'x'.repeat(50_000) };
    const { value, results } = await new Truncator({ profile: 'klaude' }).judge(item);
    const text = renderTruncationInfo(value.ui_extra.truncation);
    for (const part of ['50000 chars', '30000 chars', value.ui_extra.truncation.saved_file_path]) assert.ok(text.includes(part), text);
    assert.ok(results[0].panel.startsWith('╭ Bash (1): output truncated'));
  });
});
