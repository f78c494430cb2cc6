"""Cuts 100 MB from Python, compared with the source documents' algorithms in plain Python. Prints rows of a table."""

import sys
import time

import offcut

LINE = "2026-01-01T00:00:{:02d}.000Z INFO  worker-{:d} handled request {:07d} in 12 ms, 200 OK, 5120 bytes sent\n"


def log(size):
    block = "".join(LINE.format(number % 60, number % 8, number) for number in range(100_000))
    return (block * (size // len(block) + 1))[:size]


def unified(text, max_lines=2000, max_bytes=51_200):
    """The algorithm of unified (seed 002): lines and bytes, whole lines from the head."""
    lines = text.splitlines()
    total = len(text.encode("utf-8"))
    if len(lines) <= max_lines and total <= max_bytes:
        return text
    kept, size = [], 0
    for line in lines[:max_lines]:
        cost = len(line.encode("utf-8")) + 1
        if size + cost > max_bytes:
            break
        kept.append(line)
        size += cost
    return "\n".join(kept) + f"\n[{len(lines) - len(kept)} lines, {total - size} bytes truncated]"


def opencode(text, max_lines=2000, max_bytes=51_200):
    """The algorithm of opencode (seed 001): lines by `split`, bytes with the line feeds between."""
    lines = text.split("\n")
    total = len(text.encode("utf-8"))
    if len(lines) <= max_lines and total <= max_bytes:
        return text
    kept, size, hit = [], 0, False
    for number, line in enumerate(lines):
        if number >= max_lines:
            break
        cost = len(line.encode("utf-8")) + (1 if kept else 0)
        if size + cost > max_bytes:
            hit = True
            break
        kept.append(line)
        size += cost
    removed = total - size if hit else len(lines) - len(kept)
    return "\n".join(kept) + f"\n\n...{removed} {'bytes' if hit else 'lines'} truncated..."


def best(do, times):
    def once():
        start = time.perf_counter()
        do()
        return time.perf_counter() - start

    return min(once() for _ in range(times))


def side_by_side(name, plain, ours, least, rows):
    # Alternate, so that both run under the same load.
    rounds = [(best(plain, 1), best(ours, 4)) for _ in range(6)]
    theirs, mine = min(one for one, _ in rounds), min(one for _, one in rounds)
    rows.append(f"| Python | {name} | {theirs * 1e3:.0f} ms | {mine * 1e3:.1f} ms | {theirs / mine:.1f}× | {least}× |")
    return theirs / mine >= least


def small(name, text, empty, rows):
    cut, count = offcut.Truncator(store=None).cut, 20_000

    def each(value):
        def loop():
            for _ in range(count):
                cut(value, "bash")

        return best(loop, 7) / count * 1e6

    call, all_of_it = each(empty), each(text)
    rows.append(f"| Python | {name} | {call:.2f} µs | {all_of_it:.2f} µs | {max(all_of_it - call, 0):.2f} µs | 2 µs |")
    return all_of_it - call < 2


def main():
    text = log(100_000_000)
    data = text.encode()
    fine, rows, small_rows = True, [], []
    large = sys.argv[1:] != ["small"]
    for profile, plain in [("unified", unified), ("opencode", opencode)] if large else []:
        truncator = offcut.Truncator(profile, store=None)
        fine &= side_by_side(f"{profile}, `bytes`", lambda: plain(data.decode()), lambda: truncator.cut(data), 10, rows)
        fine &= side_by_side(f"{profile}, `str`", lambda: plain(text), lambda: truncator.cut(text), 5, rows)
    del text
    fine &= small("4 KB `str`", log(4096), "", small_rows)
    fine &= small("4 KB `bytes`", log(4096).encode(), b"", small_rows)
    print("\n".join(rows if sys.argv[1:] == ["large"] else rows + small_rows))
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
