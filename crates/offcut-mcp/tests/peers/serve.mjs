// The official TypeScript client with our own server, which has one output: the numbers to 20000. Usage: serve.mjs COMMAND ARGS...
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [command, ...args] = process.argv.slice(2);
const client = new Client({ name: "peers", version: "1" });
await client.connect(new StdioClientTransport({ command, args }));
const { tools } = await client.listTools();
assert.deepEqual(tools.map((tool) => tool.name), ["offcut_read", "offcut_search", "offcut_list"]);
const call = async (name, given) => (await client.callTool({ name, arguments: given })).content[0].text;
assert.equal(await call("offcut_read", { id: "last", lines: "2:3" }), "2\n3\n");
assert.equal(await call("offcut_search", { pattern: "^19999$" }), "19999:19999\n");
const { resources } = await client.listResources();
assert.match(await call("offcut_list", {}), new RegExp(resources[0].uri.replace("offcut://", "")));
const whole = await client.readResource({ uri: resources[0].uri });
assert.equal(whole.contents[0].text, Array.from({ length: 20000 }, (_, at) => `${at + 1}\n`).join(""));
assert.equal((await client.listResourceTemplates()).resourceTemplates.length, 1);
await client.ping();
await client.close();
