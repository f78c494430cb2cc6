"""A separate store for every test."""

import os

import offcut
import pytest


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """Write nothing outside the test's folder."""
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_DATA_HOME", str(data))
    os.chmod(tmp_path, 0o700)
    yield tmp_path
    offcut._truncator._shared.cache_clear()


@pytest.fixture
def log():
    """A text that exceeds the limits."""
    return "".join(f"line {number}\n" for number in range(20_000))
