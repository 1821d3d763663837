"""The solar system as lists of coordinates: all pairs, symplectic steps, energy."""

from math import sqrt

QUICK, FULL = 40, 5_000


def setup(size):
    x = [0.0, 4.84143144246472090, 8.34336671824457987, 12.8943695621391310, 15.3796971148509165]
    y = [0.0, -1.16032004402742839, 4.12479856412430479, -15.1111514016986312, -25.9193146099879641]
    z = [0.0, -0.103622044471123109, -0.403523417114321381, -0.223307578892655734, 0.179258772950371181]
    vx = [0.0, 0.606326392995832, -1.01077434617879236, 1.08279100644153536, 0.979090732243897976]
    vy = [0.0, 2.81198684491626016, 1.82566237123041186, 0.868713018169608219, 0.594698998647676060]
    vz = [0.0, -0.0252183616598876288, 0.00841576137658415351, -0.0108326374013636358, -0.0347559555078103775]
    mass = [39.47841760435743, 0.03769367487038949, 0.011286326131968767, 0.0017237240570597112, 0.0020336868699246304]
    return x, y, z, vx, vy, vz, mass, size, 0.01


def energy(x, y, z, vx, vy, vz, mass):
    e = 0.0
    n = len(mass)
    for i in range(n):
        e += 0.5 * mass[i] * (vx[i] * vx[i] + vy[i] * vy[i] + vz[i] * vz[i])
        for j in range(i + 1, n):
            dx = x[i] - x[j]
            dy = y[i] - y[j]
            dz = z[i] - z[j]
            e -= mass[i] * mass[j] / sqrt(dx * dx + dy * dy + dz * dz)
    return e


def advance(x, y, z, vx, vy, vz, mass, dt):
    n = len(mass)
    for i in range(n):
        for j in range(i + 1, n):
            dx = x[i] - x[j]
            dy = y[i] - y[j]
            dz = z[i] - z[j]
            d2 = dx * dx + dy * dy + dz * dz
            mag = dt / (d2 * sqrt(d2))
            vx[i] -= dx * mass[j] * mag
            vy[i] -= dy * mass[j] * mag
            vz[i] -= dz * mass[j] * mag
            vx[j] += dx * mass[i] * mag
            vy[j] += dy * mass[i] * mag
            vz[j] += dz * mass[i] * mag
    for i in range(n):
        x[i] += dt * vx[i]
        y[i] += dt * vy[i]
        z[i] += dt * vz[i]


def nbody_lists(x, y, z, vx, vy, vz, mass, steps, dt):
    before = energy(x, y, z, vx, vy, vz, mass)
    for _ in range(steps):
        advance(x, y, z, vx, vy, vz, mass, dt)
    return before, energy(x, y, z, vx, vy, vz, mass)
