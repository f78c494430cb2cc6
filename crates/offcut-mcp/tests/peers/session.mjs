// One session of the official TypeScript client: everything that a plan names, printed one answer a line.
// Usage: session.mjs PLAN DIR direct|proxied COMMAND ARGS... (or the URL of a server)
import { readFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import * as types from "@modelcontextprotocol/sdk/types.js";

const [planFile, directory, mode, command, ...args] = process.argv.slice(2);
const plan = JSON.parse(readFileSync(planFile, "utf8").replaceAll("DIR", directory));
const proxied = mode === "proxied";
const LIMIT = 9500;

// Times differ from run to run.
const steady = (text) =>
  text
    .replace(/\d+:\d\d:\d\d( [AP]M)?/g, "TIME")
    .replace(/\d{4}-\d\d-\d\dT[\d:.A-Z]+/g, "TIME")
    .replace(/IGNyZWF0ZWQgYXQg[\w+/=]*/g, "TIME") // " created at ", in base64
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "UUID")
    .replace(/(accessed|modified|created): [^\\\n]*/g, "$1: TIME");
const tell = (what, value) => console.log(steady(`${what} ${JSON.stringify(value)}`));

const capabilities = { sampling: {}, elicitation: {}, roots: { listChanged: true } };
const client = new Client({ name: "peers", version: "1" }, { capabilities });
const asked = [];
client.setRequestHandler(types.CreateMessageRequestSchema, async ({ params }) => {
  asked.push(["sampling", params]);
  return { model: "m", role: "assistant", content: { type: "text", text: "said" } };
});
client.setRequestHandler(types.ElicitRequestSchema, async ({ params }) => {
  asked.push(["elicitation", params]);
  return { action: "decline" };
});
client.setRequestHandler(types.ListRootsRequestSchema, async () => ({ roots: [{ uri: "file:///tmp", name: "tmp" }] }));
const notified = new Set();
client.fallbackNotificationHandler = async ({ method }) => void notified.add(method);

const attempt = async (what, action) => {
  try {
    tell(what, await action());
  } catch (error) {
    tell(what, { error: error.code, message: error.message });
  }
};
const texts = (result) => result.content.filter((part) => part.type === "text").map((part) => part.text);

// All of a bounded result, by the tool, page after page, and once more by the resource.
const whole = async (id) => {
  let text = "";
  let next = { id };
  while (next) {
    const page = texts(await client.callTool({ name: "offcut_read", arguments: next }));
    text += page[0];
    const hint = page[1]?.match(/more: offcut_read (\{.*\})\]/);
    next = hint && JSON.parse(hint[1]);
  }
  const resource = await client.readResource({ uri: `offcut://${id}` });
  if (resource.contents[0].text !== text) throw new Error("the tool and the resource differ");
  return text;
};

const answered = async (result) => {
  const cut = result._meta?.["offcut.dev/cut"];
  if (cut) {
    if (Buffer.byteLength(JSON.stringify(result)) > 2.5 * LIMIT) throw new Error("a bounded result is too large");
    return { large: await whole(cut.id), isError: result.isError };
  }
  // Each text is on lines of its own when several are kept together.
  const joined = texts(result).map((text, at, all) => (at < all.length - 1 && text && !text.endsWith("\n") ? text + "\n" : text)).join("");
  return Buffer.byteLength(joined) > LIMIT ? { large: joined, isError: result.isError } : result;
};

const transport = command.startsWith("http://")
  ? new StreamableHTTPClientTransport(new URL(command))
  : new StdioClientTransport({ command, args, stderr: "ignore" });
await client.connect(transport);
const announced = client.getServerCapabilities();
const serverHasResources = Boolean(announced.resources && Object.keys(announced.resources).length);
if (!serverHasResources) delete announced.resources;
tell("capabilities", announced);
tell("server", [client.getServerVersion(), client.getInstructions()]);
const listed = (await client.listTools()).tools;
const tools = listed.filter((tool) => tool.name !== "offcut_read");
if (proxied !== listed.length > tools.length) throw new Error("offcut_read is there without a proxy, or missing with one");
tell("tools", tools);
const unplanned = tools.filter((tool) => !plan.calls.some(([name]) => name === tool.name)).map((tool) => tool.name);
if (unplanned.length) throw new Error(`tools that the plan does not call: ${unplanned}`);
await attempt("ping", () => client.ping());
for (const [name, given] of plan.calls) {
  // The client does not wait for the last one if the answer comes at once.
  const progress = [];
  const onprogress = (step) => progress.push(step);
  await attempt(`call ${name}`, async () => [await answered(await client.callTool({ name, arguments: given }, undefined, { onprogress })), progress.slice(0, 3)]);
}
if (announced.prompts) {
  tell("prompts", (await client.listPrompts()).prompts);
  for (const [name, given] of plan.prompts) await attempt(`prompt ${name}`, () => client.getPrompt({ name, arguments: given }));
}
for (const [name, argument, value] of plan.completions)
  await attempt("complete", () => client.complete({ ref: { type: "ref/prompt", name }, argument: { name: argument, value } }));
if (serverHasResources) {
  const resources = (await client.listResources()).resources;
  tell("resources", resources);
  tell("templates", await client.listResourceTemplates());
  for (const uri of [...resources.map((resource) => resource.uri), ...plan.reads])
    await attempt(`read ${uri}`, () => client.readResource({ uri }));
  for (const uri of plan.subscriptions) {
    await attempt("subscribe", () => client.subscribeResource({ uri }));
    await attempt("unsubscribe", () => client.unsubscribeResource({ uri }));
  }
}
if (announced.logging) await attempt("level", () => client.setLoggingLevel("debug"));
tell("asked", asked);
tell("notified", [...notified].sort());
await client.close();
