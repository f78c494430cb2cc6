// The official TypeScript client at version 2026-07-28: what the server answers, one line each. It asks for the
// capabilities in a process of its own. Usage: modern.mjs direct|proxied|serve COMMAND ARGS...
// With `serve` the server is offcut's own, which has one output: the numbers to 20000.
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [mode, command, ...args] = process.argv.slice(2);
const LIMIT = 9500;
const client = new Client({ name: "peers", version: "1" }, { versionNegotiation: { mode: "auto" } });
await client.connect(new StdioClientTransport({ command, args, stderr: "ignore" }));
assert.equal(client.getNegotiatedProtocolVersion(), "2026-07-28");
const call = (name, given = {}) => client.callTool({ name, arguments: given });
const texts = (result) => result.content.filter((part) => part.type === "text").map((part) => part.text);
const listed = (await client.listTools()).tools.map((tool) => tool.name);

// All of a stored output, by the tool, page after page, and once more by the resource.
const whole = async (id) => {
  let [text, next] = ["", { id }];
  while (next) {
    const page = texts(await call("offcut_read", next));
    text += page[0];
    const hint = page[1]?.match(/more: offcut_read (\{.*\})\]/);
    next = hint && JSON.parse(hint[1]);
  }
  const resource = await client.readResource({ uri: `offcut://${id}` });
  assert.equal(resource.contents[0].text, text);
  return text;
};

if (mode === "serve") {
  assert.deepEqual(listed, ["offcut_read", "offcut_search", "offcut_list"]);
  assert.equal(texts(await call("offcut_read", { id: "last", lines: "2:3" }))[0], "2\n3\n");
  assert.equal(texts(await call("offcut_search", { pattern: "^19999$" }))[0], "19999:19999\n");
  const [{ uri }] = (await client.listResources()).resources;
  const numbers = Array.from({ length: 20000 }, (_, at) => `${at + 1}\n`).join("");
  assert.equal((await client.readResource({ uri })).contents[0].text, numbers);
} else {
  assert.equal(listed.includes("offcut_read"), mode === "proxied");
  console.log(listed.filter((name) => name !== "offcut_read"));
  for (const [name, given] of [["echo", { message: "hello é" }], ["large_text"], ["large_error"], ["nothing"]]) {
    const result = await call(name, given);
    const cut = result._meta?.["offcut.dev/cut"];
    assert.ok(!cut || JSON.stringify(result).length < 2.5 * LIMIT, "a bounded result is too large");
    const shown = cut ? await whole(cut.id) : texts(result).join("");
    console.log(name, Boolean(result.isError), shown.length > LIMIT ? '"large"' : "", JSON.stringify(shown));
  }
  const { lines } = (await call("large_structure")).structuredContent;
  assert.ok(mode === "direct" || JSON.stringify(lines).length < 2 * LIMIT, "a bounded structure is too large");
  console.log("large_structure", JSON.stringify(lines.slice(0, 10)));
  console.log("resources", JSON.stringify((await client.listResources()).resources));
  await client.listResourceTemplates();
}
await client.close();
