/* Pieces judged closely and shifted to where they fit best (vision/readers/loose/pieces/fit.py), on polar patches.

   What is known of the looks is given in planes: looks (K, 3, R A), squares (K, R A), their sums over colours, area (R A). */

#include "bare.h"

#define TONE 0.08f              /* as in vision/readers/loose/pieces/fit.py */
#define REST 0.2f
#define MOST 8                  /* kinds judged closely, at most */

/* Rows of `a` numbers rolled on by `turn` */
INLINE void rolled(const float *rows, int points, int a, int turn, float *out)
{
    for (int start = 0; start < points; start += a) {
        memcpy(out + start + turn, rows + start, sizeof(float) * (a - turn));
        memcpy(out + start, rows + start + a - turn, sizeof(float) * turn);
    }
}

/* judged() of vision/readers/loose/pieces/fit.py for n places: gains (n, K) are those of compare_polar and changed in place,
   perfect (n,) and whole (n,) filled in; turns (n, K); top: how many kinds to judge closely, only: (n,) the one kind, or a single -1;
   burnt: (n,) whether looks are shown no brighter than the camera can */
INLINE void judge(const Scene *scene, const double *at, int n, const float *offsets, int r, int a, const float *looks,
                  const float *area, int k, const int64_t *turns, const int64_t *only, const uint8_t *burnt, int top, float *gains,
                  float *perfect, float *whole)
{
    int p = r * a;
    Room *room = room_for(p);
    Patch *patch = &room->patch[0];
    float *bare = malloc(sizeof(float) * p * 5), *look = bare + p, *weighed = bare + 4 * p, total = 0;
    for (int i = 0; i < p; i++)
        total += area[i];
    for (int i = 0; i < n; i++) {
        float *mine = gains + (size_t)i * k, kept[MOST], first = 0, best = -INFINITY, shown = 0;
        int order[MOST], many = only[0] >= 0 ? 1 : top < k ? top : k;
        for (int j = 0; j < many; j++) {        /* the likeliest kinds; of equals the first */
            int next = only[0] >= 0 ? (int)only[i] : -1;
            for (int m = 0; only[0] < 0 && m < k; m++) {
                int taken = 0;
                for (int o = 0; o < j; o++)
                    taken |= order[o] == m;
                if (!taken && (next < 0 || mine[m] > mine[next]))
                    next = m;
            }
            order[j] = next;
        }
        first = mine[order[0]];
        look_at(scene, at[2 * i], at[2 * i + 1], offsets, patch);
        const float *s = patch->seen, *g = patch->ground, *w = patch->weight, *f = patch->free;
#pragma omp simd reduction(+:shown)
        for (int j = 0; j < p; j++)
            shown += w[j] > 0 ? area[j] : 0;
        float price = SHADOW * (shown / total);
#pragma omp simd
        for (int j = 0; j < p; j++) {
            float b = g[j], c = g[p + j], d = g[2 * p + j], x = s[j], y = s[p + j], z = s[2 * p + j];
            bare[j] = bareness(x * x + y * y + z * z, x * b + y * c + z * d, b * b + c * c + d * d, w[j], price);
        }
        for (int rank = 0; rank < many; rank++) {
            int turn = turns[(size_t)i * k + order[rank]];
            const float *print = looks + (size_t)3 * p * order[rank];
            for (int c = 0; c < 3; c++) {
                rolled(print + c * p, p, a, turn, look + c * p);
                if (burnt[i])
                    for (int j = 0; j < p; j++)
                        look[c * p + j] = look[c * p + j] < patch->limit[c] ? look[c * p + j] : patch->limit[c];
            }
            rolled(area, p, a, turn, weighed);
            float both = 0, own = 0, gain = 0, most = 0, all = 0;
#pragma omp simd reduction(+:both, own)
            for (int j = 0; j < p; j++) {
                float b = look[j], c = look[p + j], d = look[2 * p + j], heavy = w[j] * weighed[j];
                both += heavy * (b * s[j] + c * s[p + j] + d * s[2 * p + j]), own += heavy * (b * b + c * c + d * d);
            }
            float tone = both / (own + 1e-6f);
            tone = tone < 1 - TONE ? 1 - TONE : tone > 1 + TONE ? 1 + TONE : tone;
#pragma omp simd reduction(+:gain, most, all)
            for (int j = 0; j < p; j++) {
                float b = look[j], c = look[p + j], d = look[2 * p + j], x = s[j], y = s[p + j], z = s[2 * p + j];
                float bg = g[j], cg = g[p + j], dg = g[2 * p + j];
                float ss = x * x + y * y + z * z, sl = x * b + y * c + z * d, ll = b * b + c * c + d * d;
                float lg = b * bg + c * cg + d * dg, gg = bg * bg + cg * cg + dg * dg;
                float cost = w[j] * (ss - tone * (2 * sl - tone * ll)) * THIRD;
                cost = cost < CAP ? cost : CAP;
                gain += (bare[j] - cost) * weighed[j];
                most += bareness(ll, lg, gg, w[j], price) * weighed[j];
                all += bareness(ll, lg, gg, f[j], SHADOW) * weighed[j];
            }
            kept[rank] = gain;
            if (gain > best)
                best = gain, perfect[i] = most, whole[i] = all;
        }
        float rest = best < kept[many - 1] ? best : kept[many - 1];
        for (int m = 0; m < k; m++)
            mine[m] = only[0] < 0 ? rest - REST * (first - mine[m]) : -2e5f;      /* kinds not asked for */
        for (int rank = 0; rank < many; rank++)
            mine[order[rank]] = kept[rank];
    }
    free(bare);
    free(room);
}

QUICK void judge_polar(const uint8_t *seen, const uint8_t *ground, const float *weight, const float *light, int h, int w, int rows,
                       int columns, const double *at, int n, const float *offsets, int r, int a, const float *looks,
                  const float *area,
                       int k, const int64_t *turns, const int64_t *only, const uint8_t *burnt, int top, float *gains, float *perfect,
                       float *whole)
{
    Scene scene = {seen, ground, weight, light, h, w, rows, columns};
    judge(&scene, at, n, offsets, r, a, looks, area, k, turns, only, burnt, top, gains, perfect, whole);
}

/* One round of slid() of vision/readers/loose/pieces/fit.py: steps (n, 2), mm along a piece's own axes, by which pieces of kinds
   (n,), turned by turns (n,) of A steps, would fit better; slopes (K, 3 ways, 3 R A) as looks are; spread: grey levels from which a point hardly counts */
QUICK void slide_polar(const uint8_t *seen, const uint8_t *ground, const float *weight, const float *light, int h, int w, int rows,
                       int columns, const double *at, int n, const float *offsets, int r, int a, const float *looks,
                       const float *slopes, const float *area, const int64_t *kinds, const int64_t *turns, const uint8_t *burnt,
                       double spread, double *steps)
{
    Scene scene = {seen, ground, weight, light, h, w, rows, columns};
    int p = r * a;
    Room *room = room_for(p);
    Patch *patch = &room->patch[0];
    float *lying = malloc(sizeof(float) * p * 4), *heavy = lying + 3 * p, share = THIRD / (spread * spread);
    for (int i = 0; i < n; i++) {
        const float *look = looks + (size_t)3 * p * kinds[i], *J = slopes + (size_t)9 * p * kinds[i];
        int back = (a - (int)turns[i]) % a;
        look_at(&scene, at[2 * i], at[2 * i + 1], offsets, patch);
        rolled(patch->weight, p, a, back, heavy);
        for (int c = 0; c < 3; c++) {
            float limit = burnt[i] ? patch->limit[c] : INFINITY;
            rolled(patch->seen + c * p, p, a, back, lying + c * p);
            for (int j = 0; j < p; j++)
                lying[c * p + j] -= look[c * p + j] < limit ? look[c * p + j] : limit;
        }
#pragma omp simd
        for (int j = 0; j < p; j++) {
            float x = lying[j], y = lying[p + j], z = lying[2 * p + j], off = 1 + (x * x + y * y + z * z) * share;
            heavy[j] = heavy[j] * area[j] / (off * off);
        }
        double A[6] = {0}, b[3] = {0};
        for (int c = 0; c < 3; c++) {
            const float *x = J + c * p, *y = J + (3 + c) * p, *t = J + (6 + c) * p, *off = lying + c * p;
            float xx = 0, xy = 0, xt = 0, yy = 0, yt = 0, tt = 0, bx = 0, by = 0, bt = 0;
#pragma omp simd reduction(+:xx, xy, xt, yy, yt, tt, bx, by, bt)
            for (int j = 0; j < p; j++) {
                float wx = heavy[j] * x[j], wy = heavy[j] * y[j], wt = heavy[j] * t[j];
                xx += wx * x[j], xy += wx * y[j], xt += wx * t[j], yy += wy * y[j], yt += wy * t[j], tt += wt * t[j];
                bx += wx * off[j], by += wy * off[j], bt += wt * off[j];
            }
            A[0] += xx, A[1] += xy, A[2] += xt, A[3] += yy, A[4] += yt, A[5] += tt, b[0] += bx, b[1] += by, b[2] += bt;
        }
        double d[3];
        A[0] += 0.003 * A[0] + 1e-6, A[3] += 0.003 * A[3] + 1e-6, A[5] += 0.003 * A[5] + 1e-6;
        solved(A, b, d);
        steps[2 * i] = d[0], steps[2 * i + 1] = d[1];
    }
    free(lying);
    free(room);
}
