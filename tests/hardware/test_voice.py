"""The table's own loudspeaker, before a made-up espeak-ng."""

import os
import time

import pytest

from hardware.voice import NoVoice, Voice


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """program(name, lines): a shell script that is found by that name"""

    def program(name, lines):
        path = tmp_path / name
        path.write_text("#!/bin/sh\n" + lines)
        path.chmod(0o755)

    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/usr/bin{os.pathsep}/bin")
    return program


def until(holds):
    for _ in range(500):
        if holds():
            return
        time.sleep(0.02)
    raise AssertionError("did not come")


def test_a_sentence_is_read_in_its_language(tmp_path, programs):
    said = tmp_path / "said"
    programs("espeak-ng", f'echo "$@" > {said}.part; cat >> {said}.part; mv {said}.part {said}\n')
    voice = Voice.find("de")
    voice.say("Erledigt. Löwe ist am Zug.")
    until(said.is_file)
    assert said.read_text() == "-v de --stdin\nErledigt. Löwe ist am Zug.\n"
    voice.stop()


def test_what_is_new_interrupts_what_is_old(tmp_path, programs):
    programs("espeak-ng", f"read line; echo $line >> {tmp_path}/begun; exec sleep 60\n")
    voice, begun = Voice.find("fr"), tmp_path / "begun"
    began = time.monotonic()
    for n, text in enumerate(("un", "deux")):
        voice.say(text)
        until(lambda n=n: begun.is_file() and len(begun.read_text().split()) == n + 1)
    voice.stop()
    assert begun.read_text().split() == ["un", "deux"] and time.monotonic() - began < 30


def test_piper_is_heard_through_aplay(tmp_path, programs):
    heard = tmp_path / "heard"
    programs("piper", 'echo "$3"; cat\n')
    programs("aplay", f"cat > {heard}.part; mv {heard}.part {heard}\n")
    voice = Voice.find("nl", "voice.onnx")
    voice.say("Klaar.")
    until(heard.is_file)
    assert heard.read_text() == "voice.onnx\nKlaar.\n"
    voice.stop()


def test_what_is_missing_is_said(programs):
    with pytest.raises(NoVoice, match="sudo apt install espeak-ng"):
        Voice.find("en")
    with pytest.raises(NoVoice, match="piper"):
        Voice.find("en", "voice.onnx")
