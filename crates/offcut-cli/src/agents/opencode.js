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

// The arguments of calls of offcut's own tools, by which their pages are recognised.
const calls = new Map()

const hooks = {
  "tool.execute.before": async (input, output) => {
    try {
      if (/offcut_(read|search|list)/.test(input.tool)) calls.set(input.callID, output.args)
      if (!rewrites || input.tool !== "bash") return
      const { tool, sessionID, callID } = input
      const { error, stdout } = await run(
        ["hook", "opencode", "before"],
        JSON.stringify({ tool, sessionID, callID, args: output.args }),
      )
      if (error) return
      const { args } = JSON.parse(stdout)
      if (typeof args?.command === "string") output.args.command = args.command
    } catch {}
  },
  "tool.execute.after": async (input, output) => {
    try {
      const { tool, sessionID, callID } = input
      const args = calls.get(callID)
      calls.delete(callID)
      const { content, output: text } = output
      if (JSON.stringify(content ?? text ?? "").length < 4000) return
      const { error, stdout } = await run(
        ["hook", "opencode", "after"],
        JSON.stringify({ tool, sessionID, callID, args, content, output: text }),
      )
      if (error) return
      const answer = JSON.parse(stdout)
      if (Array.isArray(answer.content)) output.content = answer.content
      else if (typeof answer.output === "string") output.output = answer.output
    } catch {}
  },
  tool: {
    offcut: {
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
    },
  },
}

export const Offcut = async () => (existsSync(program) ? hooks : {})
