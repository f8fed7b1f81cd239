"""How much memory there is for those who calibrate."""

from calibration.workers import free_mb


def test_a_service_has_what_its_limit_leaves(monkeypatch, tmp_path):
    own = tmp_path / "sub"
    own.mkdir()
    (own / "memory.max").write_text("max\n")
    (own / "memory.current").write_text("1048576\n")
    monkeypatch.setattr("calibration.workers.CGROUP", own)
    monkeypatch.setattr("calibration.workers.own_group", lambda: "")
    whole = free_mb()
    (own / "memory.max").write_text(str(5 * 1024**2))
    assert free_mb() == 4 < whole
