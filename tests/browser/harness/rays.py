"""The gallery's ray tracing, for one ray after the other, written without its code."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

SUN = np.array([0.6, 0.64, 0.48])
UP = np.array([0.0, 1.0, 0.0])


def colour(
    spheres: Sequence[Sequence[float]],
    turn: float,
    tilt: float,
    x: float,
    y: float,
) -> Vector:
    """Return what the camera sees in a direction: x to the right and y upwards, 1.5 in front."""
    back = np.array(
        [math.sin(turn) * math.cos(tilt), math.sin(tilt), math.cos(turn) * math.cos(tilt)]
    )
    right = np.array([math.cos(turn), 0, -math.sin(turn)])
    way = x * right + y * np.cross(back, right) - 1.5 * back
    return np.sqrt(_light(spheres, 6 * back + 0.5 * UP, way / np.linalg.norm(way), 2))


def _light(spheres: Sequence[Sequence[float]], start: Vector, way: Vector, more: int) -> Vector:
    """Return the light from a direction, after at most so many reflections."""
    sky = np.array([0.1, 0.28, 0.7]) + 0.45 * (1 - max(way[1], 0)) ** 3
    ball = min(spheres, key=lambda one: _distance(one, start, way))
    far = _distance(ball, start, way)
    floor = -start[1] / way[1] if way[1] else math.inf
    if 1e-3 < floor < far:
        place, normal, mirror = start + floor * way, UP, 0.15
        paint = np.full(3, 0.8 if (math.floor(place[0]) + math.floor(place[2])) % 2 else 0.1)
        far = floor
    elif far < math.inf:
        place, mirror = start + far * way, ball[7]
        normal, paint = (place - ball[:3]) / ball[3], np.array(ball[4:7])
    else:
        return sky
    is_shadow = any(_distance(one, place, SUN) < math.inf for one in spheres)
    lit = 0 if is_shadow else max(normal @ SUN, 0)
    turned = way - 2 * (normal @ way) * normal
    own = paint * (0.15 + 0.85 * lit) * (1 - mirror) + 0.7 * lit * max(turned @ SUN, 0) ** 40
    haze = min(far / 25, 1) ** 2
    light = own * (1 - haze) + sky * haze
    if more:
        light = light + mirror * (1 - haze) * _light(spheres, place, turned, more - 1)
    return light


def _distance(sphere: Sequence[float], start: Vector, way: Vector) -> float:
    """Return the distance along a ray to a sphere, or infinity."""
    away = start - sphere[:3]
    middle = -(away @ way)
    square = middle**2 - away @ away + sphere[3] ** 2
    distance = middle - math.sqrt(max(square, 0))
    return distance if square > 0 and distance > 1e-3 else math.inf
