"""Uses of the public types, checked by mypy."""

import subprocess

import offcut
from offcut.klaude import SmartTruncationStrategy


@offcut.tool
def search(query: str) -> str:
    return query


@offcut.Truncator(store=None).tool(name="fetch", max_lines=50)
async def fetch(url: str) -> dict[str, int]:
    return {url: 1}


def strategy(text: str, limits: offcut.Limits) -> str:
    return text[: limits.bytes]


async def use(data: bytes) -> None:
    cut = offcut.cut("text", tool="bash", max_bytes="50KiB")
    text: str = cut.content
    place: str | None = cut.saved
    gaps: list[offcut.Gap] = cut.gaps
    truncator = offcut.Truncator("opencode", store=offcut.Store(), strategy=strategy, tools={"bash": {"max_lines": 5}})
    shown: bytes = (await truncator.acut(data)).content
    result: dict[str, str] = truncator.result({"output": text})
    with truncator.spool("bash") as spool:
        subprocess.run(["true"], stdout=spool, check=True)
    exit_code: int | None = truncator.spool().finish(exit_code=1, timeout=5.0).original is None and 1 or None
    found: list[offcut.Hit] = offcut.Store().grep("x", "all").hits
    query: str = search("x") + str((await fetch("x")).get("x"))
    path: str | None = SmartTruncationStrategy(truncation_dir="x").truncate("x", "Bash", "1").saved_file_path
    print(place, gaps, shown, result, exit_code, found, query, path)
    offcut.cut(5)  # type: ignore[type-var]
    search(5)  # type: ignore[arg-type]
