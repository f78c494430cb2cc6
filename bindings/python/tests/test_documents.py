"""The test plans of the source documents (klaude: seed 004, unified: seed 002), through this package."""

import json
import os
import re
import time

import offcut
import pytest
from offcut import klaude

# klaude (seed 004): success metrics.


def test_klaude_saves_output_over_forty_thousand_characters(tmp_path):
    output = "".join(chr(0x4E00 + number % 1000) for number in range(50_000))
    result = offcut.SmartTruncationStrategy(truncation_dir=tmp_path / "klaude").truncate(output, "Bash", "call_1")
    assert result.was_truncated and (result.original_length, result.truncated_length) == (50_000, 30_000)
    with open(result.saved_file_path, encoding="utf-8") as file:
        assert file.read() == output
    assert re.fullmatch(r"Bash-call_1-\d+\.txt", os.path.basename(result.saved_file_path))


def test_klaude_shows_both_ends_and_the_notice(tmp_path):
    output = "a" * 25_000 + "b" * 25_000
    result = offcut.SmartTruncationStrategy(truncation_dir=tmp_path / "klaude").truncate(output)
    assert result.output == (
        f"[Output truncated: 30000 chars hidden, full output saved to {result.saved_file_path}. "
        "Use Read tool or rg to get details. Showing first 10000 and last 10000 chars below.]\n\n"
        f"{'a' * 10_000}\n\n... (30000 characters truncated) ...\n\n[Last 10000 chars below]\n{'b' * 10_000}"
    )
    assert os.path.basename(result.saved_file_path).startswith("unknown-unknown-")


def test_klaude_uses_default_and_given_thresholds():
    assert not offcut.truncate_tool_output("x" * 40_000, "Bash", "1").was_truncated
    assert offcut.truncate_tool_output("x" * 40_001, "Bash", "1").was_truncated
    small = offcut.SmartTruncationStrategy(max_length=100, head_chars=10, tail_chars=20)
    result = small.truncate("h" * 100 + "t" * 100)
    assert "Showing first 10 and last 20 chars" in result.output and result.truncated_length == 170


def test_klaude_shows_the_first_characters_when_saving_fails(tmp_path):
    (tmp_path / "file").write_text("")
    result = offcut.SmartTruncationStrategy(truncation_dir=tmp_path / "file").truncate("x" * 50_000)
    assert result.was_truncated and result.saved_file_path is None
    notice = "... (10000 characters truncated; the full output could not be saved)"
    assert result.output == "x" * 40_000 + "\n" + notice and result.truncated_length == 10_000


def test_klaude_result_has_ui_extra():
    item = {"call_id": "1", "tool_name": "Bash", "status": "success", "output": "x" * 50_000}
    extra = offcut.Truncator("klaude").result(item)["ui_extra"]
    assert extra["type"] == "truncation"
    assert set(extra["truncation"]) == {"saved_file_path", "original_length", "truncated_length"}


def test_klaude_renders_truncation_info(tmp_path):
    strategy = offcut.SmartTruncationStrategy(truncation_dir=tmp_path / "klaude")
    result = strategy.truncate("x" * 50_000, "Bash", "call_1")
    extra = result.ui_extra
    assert extra.type == "truncation"
    assert extra.truncation == offcut.TruncationUIExtra(result.saved_file_path, 50_000, 30_000)
    text = offcut.render_truncation_info(extra.truncation)
    assert all(part in text for part in ("50000 chars", "30000 chars", result.saved_file_path))
    assert strategy.truncate("short").ui_extra is None
    item = {"call_id": "1", "tool_name": "Bash", "status": "success", "output": "x" * 50_000}
    panel = offcut.Truncator("klaude").judge(item).results[0]["panel"]
    assert panel.startswith("╭ Bash (1): output truncated\n")


def test_klaude_strategy_can_be_replaced():
    class Upper(offcut.TruncationStrategy):
        def truncate(self, output, tool_name=None, call_id=None):
            return offcut.TruncationResult(output.upper(), was_truncated=False)

    before = offcut.get_truncation_strategy()
    offcut.set_truncation_strategy(Upper())
    assert offcut.truncate_tool_output("x").output == "X"
    offcut.set_truncation_strategy(before)
    assert isinstance(klaude.get_truncation_strategy(), offcut.SmartTruncationStrategy)


# unified (seed 002): what the document says should be tested.


def test_unified_path_is_relative_to_the_project_root(tmp_path):
    unified = offcut.Truncator("unified", store=tmp_path / "tool-output", project_root=tmp_path)
    envelope = {"status": "success", "data": {"stdout": "x" * 60_000}, "text": ""}
    path = unified.result(envelope, tool="Read")["data"]["truncation"]["full_output_path"]
    assert path.startswith("tool-output/tool_") and (tmp_path / path).exists()


def test_unified_reads_the_variables_of_the_document(tmp_path):
    variables = {"TOOL_OUTPUT_MAX_LINES": "10", "TOOL_OUTPUT_TRUNCATE_DIRECTION": "tail", "TOOL_OUTPUT_DIR": "kept"}
    unified = offcut.unified.from_env(variables, project_root=tmp_path)
    truncation = unified.result(envelope(["x\n" * 50]), "Read")["data"]["truncation"]
    assert (truncation["max_lines"], truncation["max_bytes"], truncation["direction"]) == (10, 51_200, "tail")
    assert truncation["full_output_path"].startswith("kept/tool_")
    sizes = {"TOOL_OUTPUT_MAX_BYTES": "50KiB", "TOOL_OUTPUT_MAX_LINES": ""}
    assert offcut.unified.from_env(sizes, project_root=tmp_path, max_lines=5).cut("x\n" * 9).truncated
    with pytest.raises(ValueError, match="TOOL_OUTPUT_MAX_LINES"):
        offcut.unified.from_env({"TOOL_OUTPUT_MAX_LINES": "many"})


def envelope(rows, **fields):
    return {
        "status": "success",
        "data": {"rows": rows},
        "text": "read",
        "stats": {"ms": 3},
        "context": {"cwd": "/"},
        **fields,
    }


@pytest.fixture
def unified(tmp_path):
    return offcut.Truncator("unified", store=tmp_path / "tool-output")


@pytest.mark.parametrize("rows", [["x\n" * 2500], ["x" * 60_000], ["é" * 100] * 1500])
def test_unified_cuts_too_many_lines_or_bytes(unified, rows):
    value = envelope(rows)
    bounded = unified.result(value, "Read")
    truncation = bounded["data"]["truncation"]
    assert set(bounded["data"]) == {"truncated", "truncation", "preview"} and bounded["status"] == "partial"
    assert truncation["kept_lines"] <= 2000 and truncation["kept_bytes"] <= 51_200 and bounded["data"]["preview"]
    assert truncation["original_lines"] > 2000 or truncation["original_bytes"] > 51_200
    assert (bounded["stats"], bounded["context"]) == (value["stats"], value["context"])
    assert bounded["text"].startswith(f"⚠️ 输出过大已截断，完整内容见 {truncation['full_output_path']}\n")
    # The file is at the given path and contains the JSON as it was.
    assert re.search(r"/tool-output/tool_\d{8}_\d{6}_Read(_\d+)?\.json$", truncation["full_output_path"])
    with open(truncation["full_output_path"], encoding="utf-8") as file:
        assert json.load(file) == value


def test_unified_passes_within_the_limits(unified):
    value = envelope(["x"] * 1000)
    assert unified.result(value, "Read") is value


def test_unified_output_is_json(unified):
    text = unified.result(json.dumps(envelope(['"\\\n\u2028' * 10_000])), "Read")
    assert json.loads(text)["data"]["truncated"] is True


def test_unified_honours_skip_and_keeps_error_status(unified):
    value = envelope(["x" * 60_000], context={"truncation_skip": True})
    assert unified.result(value, "Read") is value
    assert unified.result(envelope(["x" * 60_000], status="error"), "Read")["status"] == "error"


def test_unified_cleaning_removes_old_outputs(unified, tmp_path):
    unified.result(envelope(["x" * 60_000]), "Read")
    store = offcut.Store(tmp_path / "tool-output")
    assert store.clean(7) == 0 and len(store.list()) == 1
    time.sleep(0.01)
    assert store.clean(0) == 1 and store.list() == []
