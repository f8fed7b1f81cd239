/* How a cut-out has to move and turn to fit better: see Fine of vision/readers/pile/fine_match.py. */

#include "project.h"
#include "seen.h"

#define MOST 1024           /* points of a cut-out at most */
#define BEYOND 3.0f         /* differences larger than so many steps are something else's */

/* What is seen (count, 3) against a cut-out's values, both in steps of `floor`, the mean brightness taken out: rest (count * 3) */
INLINE void rest_of(const float *seen, const float *values, int count, const float *floor, float *rest)
{
    float mean = 0;
#pragma omp simd reduction(+ : mean)
    for (int p = 0; p < count; p++)
        mean += seen[p * 3];
    mean /= count;
    for (int p = 0; p < count; p++)
        for (int k = 0; k < 3; k++)
            rest[p * 3 + k] = (seen[p * 3 + k] - (k ? 0 : mean)) * (1 / floor[k]) - values[p * 3 + k];
    for (int p = 0; p < count * 3; p++)
        rest[p] = rest[p] < -BEYOND ? -BEYOND : rest[p] > BEYOND ? BEYOND : rest[p];
}

/* x, y mm and radians by which a cut-out would fit better what is left; step (3, numbers) */
INLINE void move_of(const float *rest, const float *step, int numbers, float *move)
{
    for (int d = 0; d < 3; d++, step += numbers) {
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int p = 0; p < numbers; p++)
            sum += step[p] * rest[p];
        move[d] = -sum;
    }
}

/* seen (n, count, 3) where the cut-outs piece (n) are thought to lie; values (E, count, 3), step (E, 3, count * 3) of all cut-outs;
   move (n, 3) */
QUICK void fine_moves(const float *seen, int n, int count, const float *values, const float *step, const int64_t *piece,
                      const float *floor, float *move)
{
    float rest[MOST * 3];
    int numbers = count * 3;
    for (int i = 0; i < n; i++) {
        rest_of(seen + (size_t)i * numbers, values + piece[i] * numbers, count, floor, rest);
        move_of(rest, step + piece[i] * 3 * numbers, numbers, move + i * 3);
    }
}

/* A site's picture: level of the pyramid, of what pose, in what plane (mm above the board) */
typedef struct {
    const uint8_t *picture;
    int h, w, level;
    const double *camera;
    double plane;
} View;

INLINE double within(double v, double most) { return v < -most ? -most : v > most ? most : v; }

/* Places so many mm large and turned by so many radians round X, Y mm of the board, as the view shows them: rows (2, 3) of seen.h */
INLINE void rows_at(const View *view, double X, double Y, double turn, double size, float *rows)
{
    double px[3][2], c = cos(turn) * size, s = sin(turn) * size, one = 1.0 / (1 << view->level);
    for (int k = 0; k < 3; k++)
        project(view->camera, X + (k == 1), Y + (k == 2), view->plane, px[k]);
    for (int d = 0; d < 2; d++) {
        double right = (px[1][d] - px[0][d]) * one, down = (px[2][d] - px[0][d]) * one;
        rows[d * 3] = (float)(right * c + down * s);
        rows[d * 3 + 1] = (float)(down * c - right * s);
        rows[d * 3 + 2] = (float)((px[0][d] + 0.5) * one - 0.5);
    }
}

/* Moves and turns cut-outs, so many rounds, and lays what is seen there straight: Fine.straightened. One after the other, so that what
   shows a site is at hand for all of it. centres (N, 2) mm of the sites; half (E) mm; places (3, count) for fitting, wide (3, pixels)
   for the picture; middle (n, 2) mm off the centre and turn (n), both in and out; pictures (n, pixels, 3) */
QUICK void straighten(const uint8_t *picture, int h, int w, int level, const double *camera, double plane, const float *tones,
                      const double *centres, const int64_t *site, const int64_t *piece, int n, const float *half, const float *values,
                      const float *step, const float *floor, const float *places, int count, const float *wide, int pixels, int rounds,
                      double *middle, double *turn, float *pictures)
{
    View view = {picture, h, w, level, camera, plane};
    float seen[MOST * 3], rest[MOST * 3], rows[6], move[3];
    int numbers = count * 3;
    for (int i = 0; i < n; i++) {
        const float *tone = tones + site[i] * 256 * 3;
        const double *centre = centres + site[i] * 2;
        double x = 0, y = 0, on = 0, *at = middle + 2 * i;
        for (int round = 0; round < rounds; round++) {
            rows_at(&view, centre[0] + at[0] + x, centre[1] + at[1] + y, turn[i] + on, half[piece[i]], rows);
            seen_at(picture, h, w, tone, rows, places, 3, count, seen);
            rest_of(seen, values + piece[i] * numbers, count, floor, rest);
            move_of(rest, step + piece[i] * 3 * numbers, numbers, move);
            double right = within(move[0], 1), down = within(move[1], 1), c = cos(turn[i] + on), s = sin(turn[i] + on);
            x += c * right - s * down;
            y += s * right + c * down;
            on += within(move[2], 0.12);
        }
        at[0] += within(x, 1.5);
        at[1] += within(y, 1.5);
        turn[i] += within(on, 0.2);
        rows_at(&view, centre[0] + at[0], centre[1] + at[1], turn[i], half[piece[i]], rows);
        seen_at(picture, h, w, tone, rows, wide, 3, pixels, pictures + (size_t)i * pixels * 3);
    }
}

/* misfit (n): the mean square of what is left where inside (count) is not nought */
QUICK void fine_misfit(const float *seen, int n, int count, const float *values, const int64_t *piece, const float *floor,
                       const uint8_t *inside, float *misfit)
{
    float rest[MOST * 3];
    for (int i = 0; i < n; i++) {
        rest_of(seen + (size_t)i * count * 3, values + piece[i] * count * 3, count, floor, rest);
        float sum = 0;
        int many = 0;
        for (int p = 0; p < count; p++)
            if (inside[p]) {
                sum += rest[p * 3] * rest[p * 3] + rest[p * 3 + 1] * rest[p * 3 + 1] + rest[p * 3 + 2] * rest[p * 3 + 2];
                many++;
            }
        misfit[i] = sum / many;
    }
}
