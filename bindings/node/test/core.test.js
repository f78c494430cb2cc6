'use strict';
const { fresh, log } = require('./home.js');
const assert = require('node:assert');
const fs = require('node:fs');
const path = require('node:path');
const { spawn } = require('node:child_process');
const { once } = require('node:events');
const { Readable } = require('node:stream');
const { pipeline } = require('node:stream/promises');
const test = require('node:test');
const offcut = require('../index.js');

test('an output that fits is the same value', async () => {
  for (const output of ['', 'hello', Buffer.from('hello'), 'ä\n', '\ud800']) {
    for (const cut of [await offcut.cut(output), offcut.cutSync(output, { tool: 'bash' })]) {
      assert.strictEqual(cut.content, output);
      assert.deepStrictEqual([cut.truncated, cut.saved, cut.gaps, cut.original], [false, undefined, [], undefined]);
    }
  }
});

for (const [name, output] of [['string', log], ['Buffer', Buffer.from(log)], ['Uint8Array', new TextEncoder().encode(log)]]) {
  test(`an output that does not fit is cut and stored: ${name}`, async () => {
    for (const cut of [await offcut.cut(output, { tool: 'bash' }), offcut.cutSync(output, { tool: 'bash' })]) {
      assert.ok(cut.truncated && cut.content.length <= 9500);
      assert.strictEqual(typeof cut.content === 'string', typeof output === 'string');
      assert.strictEqual(fs.readFileSync(cut.saved, 'utf8'), log);
      assert.strictEqual(fs.statSync(cut.saved).mode & 0o777, 0o600);
      assert.deepStrictEqual(cut.original, { bytes: log.length, lines: 20_000 });
      assert.strictEqual(cut.original.bytes, cut.shown.bytes + cut.removed.bytes);
      assert.strictEqual(cut.gaps.reduce((sum, gap) => sum + gap.end - gap.start, 0), cut.removed.bytes);
      assert.strictEqual(cut.limitedBy, 'bytes');
      assert.ok(String(cut).includes(cut.id) && JSON.parse(JSON.stringify(cut)).truncated);
    }
  });
}

test('strings of every kind are stored as Node would encode them', async () => {
  const smile = '😀';
  // Every position at which a slice could end inside a character.
  const slice = 256 * 1024;
  const texts = [smile.repeat(slice), `a${smile.repeat(slice)}`, '漢字\n'.repeat(slice), 'é'.repeat(slice + 1), 'é'.repeat(50_000),
    `${'x'.repeat(slice - 1)}\ud800${'y'.repeat(slice)}\udc00${'z'.repeat(40_000)}\ud800`, `${'q'.repeat(slice)}\ud83d`,
    `${'q'.repeat(slice - 1)}${smile}${'q'.repeat(slice)}`];
  for (const text of texts) {
    const expected = Buffer.from(text);
    for (const cut of [await offcut.cut(text), offcut.cutSync(text)]) {
      assert.ok(fs.readFileSync(cut.saved).equals(expected));
    }
  }
});

test('call options override tool options override defaults', () => {
  const text = 'x\n'.repeat(50);
  const truncator = new offcut.Truncator({ profile: 'opencode', store: null, maxLines: 100, tools: { grep: { maxLines: 20 } } });
  const isCut = (call) => truncator.cutSync(text, call).truncated;
  assert.deepStrictEqual(
    [isCut(), isCut({ tool: 'grep' }), isCut({ tool: 'grep', maxLines: 60 }), isCut({ tool: 'grep', enabled: false })],
    [false, true, false, false],
  );
});

const shapes = {
  mcp: (text) => ({ content: [{ type: 'text', text }] }),
  anthropic: (text) => ({ type: 'tool_result', tool_use_id: 'x', content: text }),
  'openai-chat': (text) => ({ role: 'tool', tool_call_id: 'x', content: text }),
  'openai-responses': (text) => ({ type: 'function_call_output', call_id: 'x', output: text }),
  gemini: (text) => ({ functionResponse: { name: 'x', response: { output: text } } }),
  bedrock: (text) => ({ toolResult: { toolUseId: 'x', status: 'success', content: [{ text }] } }),
  takumi: (text) => ({ llmContent: text }),
  unified: (text) => ({ status: 'success', data: { rows: text }, text: 'ok', stats: {} }),
  klaude: (text) => ({ output: text, call_id: 'x', status: 'success' }),
  'coding-agent': (text) => ({ success: true, output: text }),
  opencode: (text) => ({ title: 'x', output: text }),
};
for (const [shape, make] of Object.entries(shapes)) {
  test(`a result of this shape is bounded: ${shape}`, async () => {
    const truncator = new offcut.Truncator();
    const judged = await truncator.judge({ ...make(log), extra: 'é' });
    assert.deepStrictEqual(judged.results.map((one) => [one.shape, one.verdict]), [[shape, 'cut']]);
    assert.ok(JSON.stringify(judged.value).length < 15_000);
    const small = make('small');
    assert.strictEqual(await truncator.result(small), small);
    assert.strictEqual(truncator.resultSync(small), small);
  });
}

test('JSON text keeps every digit', async () => {
  const json = `{"content":[{"type":"text","text":${JSON.stringify(log)}}],"big":123456789012345678901234567890}`;
  assert.match(await offcut.result(json), /"big":123456789012345678901234567890/);
});

test('a stream is bounded and stored', async () => {
  const truncator = new offcut.Truncator();
  const transform = truncator.transform({ tool: 'bash', callId: 'c1', messageId: 'm1' });
  const command = spawn('seq', ['1', '100000']);
  command.on('exit', (code) => { transform.exitCode = code; });
  const shown = [];
  transform.on('data', (chunk) => shown.push(chunk));
  await pipeline(command.stdout, transform);
  assert.deepStrictEqual(transform.cut.original, { bytes: 588_895, lines: 100_000 });
  assert.strictEqual(Buffer.concat(shown).toString(), String(transform.cut));
  const entry = await new offcut.Store().get(transform.cut.id);
  assert.deepStrictEqual([entry.tool, entry.callId, entry.messageId, entry.lines], ['bash', 'c1', 'm1', 100_000]);

  const killed = truncator.transform();
  Object.assign(killed, { exitCode: null, remark: 'killed by SIGKILL' });
  killed.resume().end(log);
  await once(killed, 'end');
  assert.ok(String(killed.cut).includes('killed by SIGKILL'));
  assert.strictEqual((await new offcut.Store().get(killed.cut.id)).exitCode, undefined);

  const small = new offcut.OffcutTransform({ store: null });
  Readable.from(['a', 'b', 'ä']).pipe(small);
  const [chunk] = await once(small, 'data');
  assert.strictEqual(chunk.toString(), 'abä');
});

test('a store reads, searches, lists, pins and cleans', async () => {
  const store = new offcut.Store(fresh());
  const cut = await new offcut.Truncator({ store }).cut(log, { tool: 'bash' });
  const page = await store.read(cut.id, { lines: '10:12' });
  assert.deepStrictEqual([page.content, page.firstLine, page.complete], ['line 9\nline 10\nline 11\n', 10, true]);
  assert.strictEqual((await store.read(cut.saved, { bytes: '0:4' })).content, 'line');
  for (const found of [await store.grep('LINE 1999.$', 'last', { ignoreCase: true }), await store.grep(/LINE 1999.$/i)]) {
    assert.deepStrictEqual([found.matches, found.hits[0].text, found.hits[0].line], [10, 'line 19990', 19991]);
  }
  assert.strictEqual((await store.cat()).toString(), log);
  assert.deepStrictEqual((await store.list()).map((entry) => entry.id), [cut.id]);
  await store.pin(cut.id);
  assert.strictEqual(await store.clean(0), 0);
  await store.unpin(cut.id);
  assert.strictEqual(await store.clean(0), 1);
});

test('an output records how long it is kept, and cleanup counts what it removes', async () => {
  const store = fresh();
  const truncator = new offcut.Truncator({ store, retentionDays: 30, automaticCleaning: false });
  const { id } = await truncator.cut(log);
  assert.strictEqual(JSON.parse(fs.readFileSync(path.join(store, '.offcut', `${id}.json`))).retention, 30);
  assert.strictEqual(await truncator.cleanup(), 0);
  assert.strictEqual(await new offcut.Truncator({ store: null }).cleanup(), 0);
});

test('a custom store and a custom strategy are used', async () => {
  const kept = new Map();
  const store = {
    async save(content, context) {
      const name = `memory://${kept.size}`;
      kept.set(name, [content, context]);
      return name;
    },
  };
  const truncator = new offcut.Truncator({ store });
  const cut = await truncator.cut(log, { tool: 'bash' });
  assert.deepStrictEqual(kept.get(cut.saved), [log, { tool: 'bash', callId: undefined, session: undefined, messageId: undefined }]);
  assert.ok(cut.content.includes('memory://0'));
  assert.ok(JSON.stringify(await truncator.result({ content: [{ type: 'text', text: log }] })).includes('memory://1'));
  const transform = truncator.transform();
  transform.resume().end(log);
  await once(transform, 'end');
  assert.strictEqual(kept.get(transform.cut.saved)[0].toString(), log);
  assert.match(truncator.cutSync(log).error, /asynchronous/);

  const own = new offcut.Truncator({ strategy: (text, limits) => `${text.length} within ${limits.bytes}` });
  const shown = await own.cut(log);
  assert.ok(shown.content.includes(`${log.length} within `));
  assert.deepStrictEqual(shown.gaps.map((gap) => gap.why), ['opaque']);
  assert.strictEqual(fs.readFileSync(shown.saved, 'utf8'), log);
  const later = new offcut.Truncator({ store: null, strategy: async (text) => text });
  assert.ok((await later.cut(log)).content.length <= 9500);
});

test('decide is obeyed and events are reported', async () => {
  const events = [];
  const decide = (tool) => ({ a: false, b: true, c: { maxLines: 5 } })[tool];
  const truncator = new offcut.Truncator({ profile: 'coding-agent', decide, onEvent: (event) => events.push(event) });
  const value = { success: true, output: 'x\n'.repeat(50) };
  assert.strictEqual(await truncator.result(value, { tool: 'a' }), value);
  assert.strictEqual((await truncator.result(value, { tool: 'b' })).metadata.truncated, false);
  assert.strictEqual((await truncator.result(value, { tool: 'c' })).metadata.truncated, true);
  assert.deepStrictEqual(events.map((event) => event.event), ['skipped', 'passed', 'truncated']);
  // One event for each output and result that is skipped.
  const skipping = new offcut.Truncator({ skipTools: ['web'], onEvent: (event) => events.push(event) });
  events.length = 0;
  await skipping.cut(log, { tool: 'web' });
  await skipping.result({ content: [{ type: 'text', text: log }] }, { tool: 'web' });
  assert.deepStrictEqual(events.map(({ event, tool, original_bytes: bytes }) => [event, tool, bytes]),
    [['skipped', 'web', log.length], ['skipped', 'web', log.length]]);
  // Called once for each value, whatever its type.
  const asked = [];
  await new offcut.Truncator({ store: null, decide: (tool) => asked.push(tool) }).bound({ rows: log }, { tool: 'd' });
  assert.deepStrictEqual(asked, ['d']);
});

test('a tool function is bounded whatever it returns', async () => {
  const truncator = new offcut.Truncator();
  const search = truncator.tool(async function search() { return log; });
  assert.ok((await search()).length <= 9500);
  assert.strictEqual((await new offcut.Store().get()).tool, 'search');
  assert.strictEqual(typeof (await truncator.bound({ rows: log.split('\n') })), 'string');
  const circle = {};
  circle.circle = circle;
  // A value that fits, or that JSON cannot represent, is returned unchanged.
  for (const value of [{ rows: 1 }, [1], 5, null, undefined, new Map(), circle, { big: 1n }, { toJSON() {} }]) {
    assert.strictEqual(await truncator.bound(value), value);
  }
});

test('import and require give the same names', async () => {
  const parts = { '../index.js': offcut, '../lib/ai.js': require('../lib/ai.js'), '../lib/mcp.js': require('../lib/mcp.js') };
  for (const [file, names] of Object.entries(parts)) {
    const { default: all, 'module.exports': _, ...esm } = await import(file);
    assert.strictEqual(all, names);
    assert.deepStrictEqual(esm, { ...names });
  }
  assert.strictEqual(offcut.version, require('../package.json').version);
});
