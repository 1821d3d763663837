"""The classical Runge-Kutta method with a function that the caller gives: a damped, driven pendulum."""

from math import cos, sin

QUICK, FULL = 250, 25_000


def setup(size):
    return pendulum, 0.1, 0.0, 0.0, 0.01, size


def pendulum(t, angle, speed):
    return speed, -0.2 * speed - 9.81 * sin(angle) + 1.5 * cos(0.7 * t)


def runge_kutta(f, x, v, t, h, steps):
    for _ in range(steps):
        a1, b1 = f(t, x, v)
        a2, b2 = f(t + 0.5 * h, x + 0.5 * h * a1, v + 0.5 * h * b1)
        a3, b3 = f(t + 0.5 * h, x + 0.5 * h * a2, v + 0.5 * h * b2)
        a4, b4 = f(t + h, x + h * a3, v + h * b3)
        x += h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
        v += h / 6.0 * (b1 + 2.0 * b2 + 2.0 * b3 + b4)
        t += h
    return x, v, t
