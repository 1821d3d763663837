#include <math.h>
#include <stdint.h>

static double
pendulum(double t, double angle, double speed)
{
    return -0.2 * speed - 9.81 * sin(angle) + 1.5 * cos(0.7 * t);
}

void
twin(double x, double v, double t, double h, int64_t steps, double *x_out, double *v_out, double *t_out)
{
    for (int64_t step = 0; step < steps; step++) {
        double a1 = v, b1 = pendulum(t, x, v);
        double a2 = v + 0.5 * h * b1, b2 = pendulum(t + 0.5 * h, x + 0.5 * h * a1, a2);
        double a3 = v + 0.5 * h * b2, b3 = pendulum(t + 0.5 * h, x + 0.5 * h * a2, a3);
        double a4 = v + h * b3, b4 = pendulum(t + h, x + h * a3, a4);
        x += h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4);
        v += h / 6.0 * (b1 + 2.0 * b2 + 2.0 * b3 + b4);
        t += h;
    }
    *x_out = x;
    *v_out = v;
    *t_out = t;
}
