"""The table's own loudspeaker: sentences read aloud by piper or espeak-ng, where there is one."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import threading

PIPER_RATE = 22050  # piper's sample rate, Hz


class NoVoice(RuntimeError):
    """No speech program is installed; the message says what to install."""


class Voice:
    """Says one sentence at a time: a new one interrupts the old one."""

    def __init__(self, *commands: list[str]) -> None:
        """commands: a pipeline of programs; the first one reads the text."""
        self._commands = commands
        self._running: list[subprocess.Popen[bytes]] = []
        self._lock = threading.Lock()

    @classmethod
    def find(cls, language: str, piper: str = "") -> Voice:
        """language: two letters; piper: a voice file for piper (.onnx). Raises NoVoice."""
        if piper:
            if shutil.which("piper") is None or shutil.which("aplay") is None:
                raise NoVoice("piper or aplay is not installed: pipx install piper-tts")
            return cls(
                ["piper", "--quiet", "--model", piper, "--output-raw"],
                ["aplay", "-q", "-r", str(PIPER_RATE), "-f", "S16_LE", "-t", "raw", "-"],
            )
        if shutil.which("espeak-ng") is None:
            raise NoVoice("espeak-ng is not installed: sudo apt install espeak-ng")
        return cls(["espeak-ng", "-v", language, "--stdin"])

    def say(self, text: str) -> None:
        """Starts reading it aloud. Raises NoVoice if the program cannot be started."""
        self.stop()
        with self._lock:
            before: subprocess.Popen[bytes] | None = None
            for n, command in enumerate(self._commands):
                try:
                    one = subprocess.Popen(
                        command,
                        stdin=subprocess.PIPE if before is None else before.stdout,
                        stdout=subprocess.PIPE
                        if n + 1 < len(self._commands)
                        else subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL,
                    )
                except OSError as e:
                    raise NoVoice(f"{command[0]}: {e.strerror}") from None
                self._running.append(one)
                before = one
            first = self._running[0]
            assert first.stdin is not None
            with contextlib.suppress(OSError):  # it ended before it got the text
                first.stdin.write(text.encode() + b"\n")
                first.stdin.close()

    def stop(self) -> None:
        """Falls silent."""
        with self._lock:
            for one in self._running:
                one.kill()
                for pipe in (one.stdin, one.stdout):
                    if pipe is not None:
                        with contextlib.suppress(OSError):
                            pipe.close()
                one.wait()
            self._running.clear()
