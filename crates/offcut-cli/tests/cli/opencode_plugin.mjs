// Calls the plugin as opencode 1 and opencode 2 do.
import assert from "node:assert/strict"

const [path, rewrites] = process.argv.slice(2)
const { default: plugin } = await import(path)
const long = Array.from({ length: 20000 }, (_, number) => `line ${number}`).join("\n")
const isShort = (text) => text.length < 10000 && /\[offcut [0-9a-z]{10}: more: /.test(text)
const textOf = (content) => content.map((part) => part.text).join("\n")
const idIn = (text) => /\[offcut ([0-9a-z]{10}): more/.exec(text)[1]
const command = (text) => (rewrites === "true" ? /^\. .*offcut-line\.sh; ls$/.test(text) : text === "ls")
assert.equal(plugin.id, "offcut")

const one = await plugin.server({})
const ran = async (output) => {
  await one["tool.execute.after"]({ tool: "grep", sessionID: "s", callID: "c" }, output)
  return output
}
assert(isShort((await ran({ title: "t", output: long })).output))
assert(isShort(textOf((await ran({ content: [{ type: "text", text: long }] })).content)))
assert.deepEqual(await ran({ title: "t", output: "short" }), { title: "t", output: "short" })
const before = { args: { command: "ls" } }
await one["tool.execute.before"]({ tool: "bash", sessionID: "s", callID: "c" }, before)
assert(command(before.args.command), before.args.command)

const hooks = {}
let added
const tool = {
  hook: async (name, callback) => void (hooks[name] = callback),
  transform: async (callback) => callback({ add: (tool) => void (added = tool) }),
}
// The contexts of versions without these interfaces.
await plugin.setup({})
await plugin.setup({ tool: {} })
await plugin.setup({ tool })
const event = async (result, status = "completed") => {
  const event = { tool: "grep", sessionID: "s", id: "c", input: {}, status, result }
  await hooks["execute.after"](event)
  return event.result
}
const text = await event({ content: long, metadata: { a: 1 } })
assert(isShort(text.content) && text.metadata.a === 1)
assert(isShort(textOf((await event({ content: [{ type: "text", text: long }] })).content)))
assert(isShort((await event({ output: long })).content))
// What cannot be shortened without a loss of structure stays.
const image = { type: "file", uri: "data:,", mime: "image/png" }
for (const result of [{ content: [{ type: "text", text: long }, image] }, { output: { long } }, { content: "short" }, {}]) {
  assert.deepEqual(await event(structuredClone(result)), result)
}
assert.equal(await event(undefined, "error"), undefined)
const line = { tool: "bash", sessionID: "s", id: "c", input: { command: "ls", timeout: 5 } }
await hooks["execute.before"](line)
assert(command(line.input.command) && line.input.timeout === 5, line.input.command)
assert.deepEqual([added.name, added.input.required], ["offcut", ["id", "lines", "pattern"]])
const page = await added.execute({ id: idIn(text.content), lines: "8:9", pattern: "" })
assert.match(page.content, /^line 7\nline 8\n/)
assert.match(await one.tool.offcut.execute({ id: idIn(text.content), lines: "", pattern: "line 777$" }), /778:line 777/)
