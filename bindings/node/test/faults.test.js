'use strict';
const { fresh, log } = require('./home.js');
const assert = require('node:assert');
const fs = require('node:fs');
const { once } = require('node:events');
const test = require('node:test');
const { Worker } = require('node:worker_threads');
const offcut = require('../index.js');

const value = { content: [{ type: 'text', text: log }] };
const wrong = () => { throw new Error('mine'); };

for (const [name, call, words] of [
  ['a number', () => offcut.cut(5), /a string or a Buffer, not number/],
  ['null', () => offcut.cut(null), /not null/],
  ['a tool name that is a number', () => offcut.cut('x', { tool: 5 }), /^TypeError: tool must be a string, not number/],
  ['options that are not an object', () => new offcut.Truncator('opencode'), /^TypeError: options are an object, not string/],
  ['a limit that is not a number', () => offcut.cut('x', { maxLines: NaN }), /expected a positive size/],
  ['a directory that is a number', () => new offcut.Store(5), /^TypeError: directory must be a string, not number/],
  ['a missing reference', () => new offcut.Store().pin(), /^TypeError: a reference to an output is required/],
  ['a reference that is a number', () => new offcut.Store().cat(5), /^TypeError: the reference must be a string, not number/],
  ['a negative limit', () => offcut.cut('x', { maxLines: -1 }), /a positive whole number/],
  ['a limit of zero', () => offcut.cut('x', { maxLines: 0 }), /at least 1/],
  ['a small limit', () => offcut.cut('x', { maxBytes: 10 }), /too small/],
  ['a big integer', () => offcut.cut('x', { maxLines: 10n ** 30n }), /BigInt/],
  ['an unknown option', () => offcut.cut('x', { maxLine: 1 }), /unknown field `maxLine`/],
  ['an unknown profile', () => offcut.cut('x', { profile: 'nope' }), /available: native, opencode/],
  ['a store that is a number', () => offcut.cut('x', { store: 5 }), /a store is/],
  ['an empty store name', () => offcut.cut('x', { store: '' }), /name of the store is empty/],
  ['a result that is undefined', () => offcut.result(undefined), /a result is/],
  ['a result with a BigInt', () => offcut.result({ a: 1n }), /BigInt/],
  ['a result that is not JSON', () => offcut.result('{'), /not JSON/],
  ['a cyclic result', () => { const a = {}; a.a = a; return offcut.result(a); }, /circular/],
  ['an unknown shape', () => offcut.result({}, { shape: 'nope' }), /no shape/],
  ['an empty store', () => new offcut.Store(fresh()).read(), /no stored output/],
  ['an invalid range', () => offcut.cut(log).then(() => new offcut.Store().read('last', { lines: 'x' })), /not a range/],
  ['an invalid pattern', () => new offcut.Store().grep('('), /regular expression/],
  ['a strategy that throws', () => new offcut.Truncator({ strategy: wrong }).cut(log), /mine/],
  ['a strategy that returns a number', () => new offcut.Truncator({ strategy: () => 5 }).cut(log), /must return a string/],
  ['an event that throws', () => new offcut.Truncator({ onEvent: wrong }).cut(log), /mine/],
  ['a decision that throws', () => new offcut.Truncator({ decide: wrong }).result(value), /mine/],
]) {
  test(`throws on ${name}`, async () => {
    await assert.rejects(async () => call(), words);
  });
}

test('limits beyond every output are accepted', () => {
  for (const huge of [{ maxLines: Number.MAX_SAFE_INTEGER, maxBytes: 1e300 }, { maxLines: Infinity, maxBytes: Infinity }]) {
    assert.strictEqual(offcut.cutSync(log, { store: null, ...huge }).truncated, false);
    assert.strictEqual(new offcut.Truncator({ store: null, ...huge }).cutSync(log).truncated, false);
  }
});

test('a result with lone surrogates is bounded', async () => {
  const bounded = await offcut.result({ content: [{ type: 'text', text: `\udcff${log}` }] });
  assert.ok(JSON.stringify(bounded).length < 15_000);
});

test('a failing store is reported in the preview', async () => {
  const events = [];
  const store = { save() { throw new Error('no room'); } };
  const truncator = new offcut.Truncator({ store, onEvent: (event) => events.push(event.event) });
  const cut = await truncator.cut(log);
  assert.deepStrictEqual([cut.truncated, cut.saved, cut.error], [true, undefined, 'no room']);
  assert.ok(cut.content.includes('no room'));
  assert.strictEqual(events[0], 'error');
  for (const thrown of [undefined, 'no room', Object.create(null)]) {
    const results = await new offcut.Truncator({ store: { save() { throw thrown; } } }).cut(log);
    assert.ok(results.truncated && results.error);
  }
  const file = fresh();
  fs.writeFileSync(file, '');
  const beside = await offcut.cut(log, { store: file });
  assert.ok(beside.truncated && beside.error && !beside.saved);
});

test('a stream is stored when the strategy fails', async () => {
  const directory = fresh();
  const transform = new offcut.Truncator({ store: directory, strategy: wrong }).transform();
  transform.resume().end(log);
  const [error] = await once(transform, 'error');
  assert.match(error.message, /mine/);
  assert.strictEqual((await new offcut.Store(directory).cat()).toString(), log);
});

test('a closed stream rejects writes', async () => {
  const transform = new offcut.OffcutTransform({ store: null });
  transform.resume().end('a');
  await once(transform, 'end');
  transform.on('error', () => {});
  const error = await new Promise((resolve) => transform.write('b', resolve));
  assert.match(error.code, /^ERR_STREAM/);
  assert.strictEqual(transform.cut.content.toString(), 'a');
});

test('a destroyed stream stores what came until then', async () => {
  const store = new offcut.Store(fresh());
  const saved = [];
  for (const kept of [store, { save: (content) => saved.push(content) }]) {
    const destroyed = new offcut.OffcutTransform({ store: kept });
    destroyed.write(log);
    destroyed.destroy();
    await once(destroyed, 'close');
    assert.ok(destroyed.cut.truncated);
  }
  assert.strictEqual((await store.get()).status, 'complete');
  assert.strictEqual((await store.cat()).toString(), log);
  assert.strictEqual(saved[0].toString(), log);
  const empty = new offcut.OffcutTransform({ store: null });
  empty.destroy();
  await once(empty, 'close');
  assert.strictEqual(empty.cut.truncated, false);
});

test('an exception in a listener is an error of the stream', async () => {
  const transform = new offcut.OffcutTransform({ store: null });
  transform.on('cut', wrong);
  transform.resume().end(log);
  const [error] = await once(transform, 'error');
  assert.match(error.message, /mine/);
  assert.ok(transform.cut.truncated);
});

test('resizable and shared memory is copied before it is read', async () => {
  const truncator = new offcut.Truncator({ store: null });
  for (let round = 0; round < 20; round += 1) {
    const bytes = new Uint8Array(new ArrayBuffer(2_000_000, { maxByteLength: 2_000_001 })).fill(97);
    const cut = truncator.cut(bytes);
    bytes.buffer.resize(0);
    assert.strictEqual((await cut).original.bytes, 2_000_000);
  }
  const shared = new Uint8Array(new SharedArrayBuffer(20_000)).fill(97);
  assert.ok((await truncator.cut(shared)).truncated);
});

test('deep JSON without an end is cut on small stacks', async () => {
  const worker = new Worker(`
    const { parentPort, workerData } = require('node:worker_threads');
    const offcut = require(workerData);
    (async () => {
      const shown = [];
      for (const depth of [20_000, 50_000]) {
        for (const text of ['['.repeat(depth), '{"a":'.repeat(depth), '[{"a":'.repeat(depth), '['.repeat(depth) + ']'.repeat(depth)]) {
          for (const options of [{}, { strategy: 'json' }, { strategy: 'smart' }]) {
            shown.push((await offcut.cut(text, { store: null, ...options })).content, offcut.cutSync(text, { store: null, ...options }).content);
          }
          const value = { content: [{ type: 'text', text }] };
          shown.push(JSON.stringify(await offcut.result(value, { store: null })));
          const refuse = () => 'refused';
          shown.push((await offcut.result(text, { store: null }).catch(refuse)).slice(0, 9));
        }
      }
      parentPort.postMessage(Math.max(...shown.map((text) => text.length)));
    })();
  `, { eval: true, workerData: require.resolve('../index.js'), resourceLimits: { stackSizeMb: 1 } });
  const [most] = await once(worker, 'message');
  assert.ok(most < 15_000, String(most));
});

test('fifty workers store at once', async () => {
  const directory = fresh();
  const workers = Array.from({ length: 50 }, (_, number) => new Worker(`
    const { parentPort, workerData } = require('node:worker_threads');
    const offcut = require(workerData.module);
    new offcut.Truncator({ store: workerData.directory })
      .cut(workerData.number + '\\n' + workerData.log, { tool: 'tool' + workerData.number })
      .then((cut) => parentPort.postMessage([cut.id, cut.saved]));
  `, { eval: true, workerData: { module: require.resolve('../index.js'), directory, number, log } }));
  const results = await Promise.all(workers.map(async (worker) => (await once(worker, 'message'))[0]));
  assert.strictEqual(new Set(results.map(([id]) => id)).size, 50);
  results.forEach(([, saved], number) => assert.strictEqual(fs.readFileSync(saved, 'utf8'), `${number}\n${log}`));
  await Promise.all(workers.map((worker) => worker.terminate()));
  assert.strictEqual((await new offcut.Store(directory).list()).length, 50);
});

test('many promises at once get their own entries', async () => {
  const truncator = new offcut.Truncator({ store: fresh() });
  const cuts = await Promise.all(Array.from({ length: 50 }, () => truncator.cut(log)));
  assert.strictEqual(new Set(cuts.map((cut) => cut.id)).size, 50);
});
