"""What is learnt is the same bit for bit, however many processes share the work and whatever
becomes of them."""

import os

import cv2
import numpy as np
import pytest
from calibration.readers.reader_fit import fit_reader_without_network

from calibration.workers import Workers, free_mb, processes_here
from vision.geometry.pose import Pose
from vision.geometry.posed_photo import Shot
from vision.plan import parse_plan

SITES = [("P1", "pile", 20, 20, 26), ("P2", "pile", 50, 20, 26), ("F1", "cluster", 100, 20, 60)]
PLAN = parse_plan(
    {
        "game": "drawn",
        "size": [180, 120],
        "piece": [{"kind": k, "size": 18, "height": 2} for k in ("stone", "coin")]
        + [{"kind": "lid", "size": 9, "height": 4}],
        "site": [
            {"id": s, "reads": reads, "outline": [[x, y], [x + w, y], [x + w, y + w], [x, y + w]]}
            for s, reads, x, y, w in SITES
        ],
    }
)
COLOURS = {"stone": (40, 50, 200), "coin": (220, 120, 40), "lid": (60, 160, 60)}
POSE = Pose(
    np.array([[900.0, 0, 360], [0, 900, 240], [0, 0, 1]]),
    np.zeros(4),
    np.zeros(3),
    np.array([-90.0, -60, 270]),
    (720, 480),
    "markers",
    0.3,
)


def photo(name, *lying):
    """A board seen from straight above; lying: site, kind, (x, y) mm"""
    image = cv2.GaussianBlur(
        np.random.default_rng(len(name)).normal(180, 25, (480, 720, 3)).astype(np.float32),
        (0, 0),
        3,
    )
    layout = {}
    for site, kind, at in lying:
        ((x, y),) = POSE.to_px(np.array([at], float))
        cv2.circle(
            image,
            (round(x), round(y)),
            round(PLAN.pieces[kind].footprint[0] / 2 * 3.4),
            COLOURS[kind],
            -1,
            cv2.LINE_AA,
        )
        layout[site] = (*layout.get(site, ()), kind)
    return Shot(np.clip(image, 0, 255).astype(np.uint8), layout, POSE, name)


@pytest.fixture(scope="module")
def shots():
    return [
        photo("empty"),
        photo(
            "sampler-1",
            ("P1", "stone", (33, 33)),
            ("F1", "stone", (115, 40)),
            ("F1", "coin", (140, 45)),
            ("F1", "lid", (130, 70)),
        ),
        photo(
            "sampler-12",
            ("P2", "coin", (63, 33)),
            ("F1", "lid", (112, 38)),
            ("F1", "stone", (135, 60)),
        ),
    ]


def learnt(shots, each):
    reader = fit_reader_without_network(PLAN, None, shots, 0.03, each)
    return {
        f"{type(part).__name__}/{name}": array
        for part in reader.readers
        if hasattr(part, "pack")
        for name, array in part.pack().items()
    } | {
        f"loose/{form}": look.looks
        for part in reader.readers
        if hasattr(part, "looks")
        for form, look in part.looks.items()
    }


@pytest.mark.slow
def test_learnt_alike_by_one_process_and_by_two(shots):
    with Workers(1) as one, Workers(2) as two:
        alone, together = learnt(shots, one.each), learnt(shots, two.each)
    assert len([n for n in alone if n.startswith("PileReader")]) > 20 and any(
        n.startswith("loose") for n in alone
    )
    assert alone.keys() == together.keys()
    assert [n for n in alone if alone[n].tobytes() != together[n].tobytes()] == []


def die_elsewhere(home):
    if os.getpid() != home:
        os._exit(9)
    return home


def test_work_whose_process_dies_is_done_here():
    with Workers(2) as workers:
        waiting = workers.start(die_elsewhere, os.getpid())
        assert (
            workers.each(die_elsewhere, [(os.getpid(),)] * 3) == [os.getpid()] * 3
            and waiting() == os.getpid()
        )


def test_faults_come_through():
    with Workers(2) as workers, pytest.raises(ZeroDivisionError):
        workers.each(divmod, [(7, 2), (1, 0)])


def test_no_more_processes_than_there_is_memory_for(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: range(4))
    for free, processes in ((0, 1), (900, 1), (1100, 2), (8000, 4)):
        monkeypatch.setattr("calibration.workers.free_mb", lambda mb=free: mb)
        assert processes_here() == processes


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
