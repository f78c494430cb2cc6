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
  await client.close();
});
