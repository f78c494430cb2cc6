// Written by `offcut init opencode`; remove it with `offcut init opencode --uninstall`.
// Shortens long tool results and stores the full text; the tool `offcut` reads any part of it back.
// On any error the result stays unchanged; without the program, the plugin does nothing.
import { execFile } from "node:child_process"
import { existsSync } from "node:fs"

const program = "{program}"
const rewrites = "{rewrites}"

const run = (args, input) =>
  new Promise((resolve) => {
    const child = execFile(program, args, { maxBuffer: 1 << 28, timeout: 10000 }, (error, stdout, stderr) =>
      resolve({ error, stdout, stderr }),
    )
    child.stdin?.on("error", () => {})
    child.stdin?.end(input)
  })

// The answer of the hook; an empty object if it fails.
const hook = async (event, call) => {
  try {
    const { error, stdout } = await run(["hook", "opencode", event], JSON.stringify(call))
    return error ? {} : JSON.parse(stdout)
  } catch {
    return {}
  }
}

// The command line to run instead, if it is to be rewritten.
const rewritten = async (call) => {
  if (!rewrites || !/^(bash|shell)$/.test(call.tool)) return
  const { args } = await hook("before", { ...call, tool: "bash" })
  if (typeof args?.command === "string") return args.command
}

// The shortened `content` or `output` of a result, if it is long.
const shortened = async (call) =>
  JSON.stringify(call.content ?? call.output ?? "").length < 4000 ? {} : hook("after", call)

const tool = {
  description:
    "Read part of a stored tool output. A result with a notice [offcut ID: ...] was shortened; give its ID and " +
    "either lines (FIRST:LAST, counted from 1) or a pattern (a regular expression) to search for.",
  args: {
    id: { type: "string", description: "ID from the notice, or `last`" },
    lines: { type: "string", description: "FIRST:LAST, for example 100:200, or empty" },
    pattern: { type: "string", description: "Regular expression, or empty" },
  },
  async execute({ id, lines, pattern }) {
    const args = pattern
      ? ["grep", "-C", "2", "--", pattern, id || "last"]
      : ["read", ...(lines ? ["--lines", lines] : []), "--", id || "last"]
    const { stdout, stderr } = await run(args, "")
    return stdout || stderr || "no output"
  },
}

// The interface of opencode 1.
const server = async () => {
  if (!existsSync(program)) return {}
  // The arguments of calls of offcut's own tools, by which their pages are recognised.
  const calls = new Map()
  return {
    "tool.execute.before": async ({ tool, sessionID, callID }, output) => {
      if (/offcut_(read|search|list)/.test(tool)) calls.set(callID, output.args)
      const command = await rewritten({ tool, sessionID, callID, args: output.args })
      if (command !== undefined) output.args.command = command
    },
    "tool.execute.after": async ({ tool, sessionID, callID }, output) => {
      const args = calls.get(callID)
      calls.delete(callID)
      const { content, output: text } = output
      const answer = await shortened({ tool, sessionID, callID, args, content, output: text })
      if (Array.isArray(answer.content)) output.content = answer.content
      else if (typeof answer.output === "string") output.output = answer.output
    },
    tool: { offcut: tool },
  }
}

// The interface of opencode 2. opencode 1 calls it too, with a context that has no tools.
const setup = async ({ tool: tools }) => {
  if (!existsSync(program)) return
  await tools?.hook?.("execute.before", async (event) => {
    const { tool, sessionID, id, input } = event
    const command = await rewritten({ tool, sessionID, callID: id, args: input })
    if (command !== undefined) event.input = { ...input, command }
  })
  await tools?.hook?.("execute.after", async (event) => {
    const { tool, sessionID, id, input, status, result } = event
    if (status !== "completed" || !result) return
    const text = result.content ?? result.output
    const call = { tool, sessionID, callID: id, args: input }
    if (typeof text === "string") {
      const { output } = await shortened({ ...call, output: text })
      if (typeof output === "string") event.result = { ...result, content: output }
    } else if (Array.isArray(text) && text.every((part) => part?.type === "text")) {
      const { content } = await shortened({ ...call, content: text })
      if (Array.isArray(content)) event.result = { ...result, content }
    }
  })
  await tools?.transform?.((editor) =>
    editor.add({
      name: "offcut",
      description: tool.description,
      input: { type: "object", properties: tool.args, required: Object.keys(tool.args) },
      options: { codemode: false },
      execute: async (input) => ({ content: await tool.execute(input) }),
    }),
  )
}

export default { id: "offcut", server, setup }
