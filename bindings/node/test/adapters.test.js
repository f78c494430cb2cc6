'use strict';
// The adapters with the real packages, which are installed next to the tests or in OFFCUT_TEST_MODULES.
const { fresh, log } = require('./home.js');
const assert = require('node:assert');
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const { createRequire } = require('node:module');
const path = require('node:path');
const test = require('node:test');
const { pathToFileURL } = require('node:url');
const { Store, Truncator } = require('../index.js');
const { boundTools } = require('../lib/ai.js');
const { boundClient, boundHandler } = require('../lib/mcp.js');

const beside = createRequire(path.join(process.env.OFFCUT_TEST_MODULES ?? __dirname, 'x.js'));
const load = (name) => import(pathToFileURL(beside.resolve(name)).href);

test('the example in the README runs', () => {
  const readme = fs.readFileSync(path.join(__dirname, '..', 'README.md'), 'utf8');
  const [, code] = readme.match(/```js\n([^]*?)```/);
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', code], { cwd: path.dirname(beside.resolve('offcut/package.json')), encoding: 'utf8' });
  const [first, saved] = printed.split('\n');
  const [truncated, length] = first.split(' ');
  assert.ok(truncated === 'true' && Number(length) <= 9500 && fs.existsSync(saved));
  assert.ok(printed.endsWith('a line of output\n'.repeat(3) + '\n'));
});

test('boundTools bounds the tools of the AI SDK', async () => {
  const { generateText, tool, stepCountIs } = await load('ai');
  const { MockLanguageModelV3 } = await load('ai/test');
  const { z } = await load('zod');
  const directory = fresh();
  const tools = boundTools({
    search: tool({ inputSchema: z.object({}), execute: async () => log }),
    rows: tool({ inputSchema: z.object({}), execute: async () => ({ rows: log.split('\n') }) }),
    small: tool({ inputSchema: z.object({}), execute: async () => ({ n: 1 }) }),
    steps: tool({ inputSchema: z.object({}), async *execute() { yield 'begun'; yield log; } }),
    client: tool({ inputSchema: z.object({}) }),
  }, { store: directory });
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const calls = ['search', 'rows', 'small', 'steps'].map((toolName) => (
    { type: 'tool-call', toolCallId: `call_${toolName}`, toolName, input: '{}' }));
  const prompts = [];
  const model = new MockLanguageModelV3({
    doGenerate: async ({ prompt }) => {
      prompts.push(prompt);
      return prompts.length === 1
        ? { content: calls, finishReason: { unified: 'tool-calls', raw: undefined }, usage, warnings: [] }
        : { content: [{ type: 'text', text: 'done' }], finishReason: { unified: 'stop', raw: undefined }, usage, warnings: [] };
    },
  });
  await generateText({ model, prompt: 'go', tools, stopWhen: stepCountIs(3) });
  const results = prompts[1].at(-1).content.map(({ toolName, output }) => [toolName, JSON.stringify(output.value)]);
  for (const [name, value] of results) assert.ok(value.length < 12_000, `${name} ${value.length}`);
  assert.strictEqual(Object.fromEntries(results).small, '{"n":1}');
  const entries = await new Store(directory).list();
  assert.deepStrictEqual(entries.map((entry) => [entry.tool, entry.callId]).sort(),
    [['rows', 'call_rows'], ['search', 'call_search'], ['steps', 'call_steps']]);
  assert.strictEqual(tools.client.execute, undefined);
});

test('boundTools bounds what the model receives and leaves the output of typed tools', async () => {
  const { generateText, tool, stepCountIs, convertToModelMessages } = await load('ai');
  const { MockLanguageModelV3 } = await load('ai/test');
  const { z } = await load('zod');
  const inputSchema = z.object({});
  const store = new Store(fresh());
  const rows = log.split('\n');
  const image = { type: 'file-data', data: 'AAAA', mediaType: 'image/png' };
  class Broken extends Error { code = 7; }
  const broken = new Broken(log, { cause: 'a cause' });
  const tools = boundTools({
    text: tool({ inputSchema, execute: async () => ({ rows }), toModelOutput: ({ output }) => ({ type: 'text', value: output.rows.join('\n') }) }),
    json: tool({ inputSchema, execute: async () => ({ rows }), toModelOutput: ({ output }) => ({ type: 'json', value: output.rows }) }),
    parts: tool({ inputSchema, execute: async () => ({ rows }), toModelOutput: ({ output }) => ({ type: 'content', value: [{ type: 'text', text: output.rows.join('\n') }, image] }) }),
    typed: tool({ inputSchema, outputSchema: z.object({ rows: z.array(z.string()) }), execute: async () => ({ rows }) }),
    data: tool({ inputSchema, execute: () => ({ rows }) }),
    none: tool({ inputSchema, execute: async () => undefined }),
    failing: tool({ inputSchema, execute: async () => { throw broken; } }),
    sudden: tool({ inputSchema, execute: () => { throw log; } }),
    late: tool({ inputSchema, async *execute() { yield 'begun'; throw new TypeError(log); } }),
  }, { store });
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const content = Object.keys(tools).map((toolName) => ({ type: 'tool-call', toolCallId: `call_${toolName}`, toolName, input: '{}' }));
  const prompts = [];
  const model = new MockLanguageModelV3({
    doGenerate: async ({ prompt }) => {
      prompts.push(prompt);
      return prompts.length === 1
        ? { content, finishReason: { unified: 'tool-calls', raw: undefined }, usage, warnings: [] }
        : { content: [{ type: 'text', text: 'done' }], finishReason: { unified: 'stop', raw: undefined }, usage, warnings: [] };
    },
  });
  const { steps } = await generateText({ model, prompt: 'go', tools, stopWhen: stepCountIs(3) });
  const outputs = Object.fromEntries(steps[0].toolResults.map(({ toolName, output }) => [toolName, output]));
  for (const name of ['text', 'json', 'parts', 'typed', 'data']) assert.deepStrictEqual(outputs[name], { rows }, name);
  const shown = Object.fromEntries(prompts[1].at(-1).content.map(({ toolName, output }) => [toolName, output]));
  for (const [name, output] of Object.entries(shown)) assert.ok(JSON.stringify(output).length < 12_000, `${name} ${JSON.stringify(output).length}`);
  assert.deepStrictEqual(Object.entries(shown).map(([name, { type }]) => `${name} ${type}`).sort(),
    ['data text', 'failing error-text', 'json text', 'late error-text', 'none json', 'parts content', 'sudden error-text', 'text text', 'typed text']);
  assert.deepStrictEqual(shown.parts.value.find(({ type }) => type !== 'text'), image);
  assert.ok(shown.failing.value.includes('line 19999'));
  // One entry for each call, also when the conversation is converted again.
  assert.strictEqual((await store.list()).length, 8);
  const part = { type: 'tool-data', toolCallId: 'call_data', state: 'output-available', input: {}, output: { rows } };
  const [, { content: [again] }] = await convertToModelMessages([{ role: 'assistant', parts: [part] }], { tools });
  assert.deepStrictEqual(again.output, shown.data);
  assert.strictEqual((await store.list()).length, 8);
  // Version 5 of the SDK passes the output alone, and does not wait.
  const before = boundTools({
    text: { execute() {}, toModelOutput: (output) => ({ type: 'text', value: output.rows.join() }) },
    parts: { execute() {}, toModelOutput: (output) => ({ type: 'content', value: [{ type: 'text', text: output.rows.join() }, image] }) },
    data: { execute() {} },
  }, { store: null });
  for (const [name, type] of [['text', 'text'], ['parts', 'content'], ['data', 'text']]) {
    const output = before[name].toModelOutput({ rows });
    assert.ok(output.type === type && JSON.stringify(output).length < 12_000, name);
  }
  assert.deepStrictEqual(before.data.toModelOutput({ n: 1 }), { type: 'json', value: { n: 1 } });
  // The error keeps its type, its cause and its other properties.
  const thrown = await tools.failing.execute({}, { toolCallId: 'x' }).catch((error) => error);
  assert.ok(thrown instanceof Broken && thrown.code === 7 && thrown.cause === 'a cause' && thrown.message.length <= 9500);
  assert.strictEqual(broken.message, log);
  const short = new Error('short');
  await assert.rejects(new Truncator().tool(() => { throw short; })(), short);
  await assert.rejects(new Truncator({ store }).tool(() => { throw broken; })(), (error) => error instanceof Broken && error.message.length <= 9500);
});

test('boundClient and boundHandler bound results of the MCP SDK', async () => {
  const { McpServer } = await load('@modelcontextprotocol/sdk/server/mcp.js');
  const { Client } = await load('@modelcontextprotocol/sdk/client/index.js');
  const { InMemoryTransport } = await load('@modelcontextprotocol/sdk/inMemory.js');
  const store = new Store(fresh());
  const truncator = new Truncator({ store });
  const server = new McpServer({ name: 'test', version: '1' });
  const answer = async () => ({ content: [{ type: 'text', text: log }] });
  server.registerTool('search', { description: 'searches' }, answer);
  server.registerTool('bounded', { description: 'searches' }, boundHandler('bounded', answer, truncator));
  const [one, other] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: 'test', version: '1' });
  await Promise.all([server.connect(one), client.connect(other)]);
  const size = async (name) => JSON.stringify(await client.callTool({ name })).length;
  assert.ok((await size('search')) > 200_000);
  assert.ok((await size('bounded')) < 12_000);
  boundClient(client, truncator);
  assert.ok((await size('search')) < 12_000);
  assert.deepStrictEqual((await store.list()).map((entry) => entry.tool), ['search', 'bounded']);
  assert.strictEqual((await store.cat()).toString(), log);
  // Other answers of a tool.
  for (const [other, most] of [
    [{ ...(await answer()), structuredContent: { rows: log.split('\n') } }, 25_000],
    [{ content: [], structuredContent: { text: 'small' } }, 100],
    [{ content: [{ type: 'text', text: 'small' }] }, 100],
    [{ toolResult: 5 }, 100],
    [undefined, 0],
  ]) {
    const bounded = await boundClient({ callTool: async () => other }, truncator).callTool({ name: 'x' });
    assert.ok((JSON.stringify(bounded) ?? '').length <= most);
    if (most <= 100) assert.strictEqual(bounded, other);
    assert.deepStrictEqual((await boundHandler('x', () => other, truncator)())?.structuredContent, other?.structuredContent);
  }
  // Structured content by its schema, which allows no other members.
  const row = { type: 'object', properties: { name: { type: 'string' } }, additionalProperties: false };
  const outputSchema = { type: 'object', properties: { rows: { type: 'array', items: row } }, additionalProperties: false };
  const rows = Array.from({ length: 5000 }, (_, number) => ({ name: `row ${number}` }));
  const data = { content: [{ type: 'text', text: '5000 rows' }], structuredContent: { rows } };
  const shown = await boundHandler('rows', () => data, truncator, { outputSchema })();
  assert.ok(JSON.stringify(shown.structuredContent).length <= 9500);
  assert.deepStrictEqual(Object.keys(shown.structuredContent), ['rows']);
  const shownRows = shown.structuredContent.rows;
  const first = rows.findIndex((row, number) => row.name !== shownRows[number].name);
  assert.ok(first > 0 && first < shownRows.length);
  assert.deepStrictEqual(shownRows, [...rows.slice(0, first), ...rows.slice(first - shownRows.length)]);
  assert.strictEqual(shown.content[0], data.content[0]);
  assert.match(shown.content[1].text, /^\[offcut \w+: structuredContent of \d+ bytes is shown in part: all of it: .+\]$/);
  assert.deepStrictEqual(JSON.parse((await store.cat()).toString()), { rows });
  const small = { content: [], structuredContent: { rows: rows.slice(0, 3) } };
  assert.strictEqual(await boundHandler('rows', () => small, truncator, { outputSchema })(), small);
  await client.close();
});
