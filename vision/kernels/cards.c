/* Cards that lie below: shifted, turned and lit until their prints fit what shows, and how badly they do (vision/readers/loose/cards/card_level.py).

   Prints are given in planes: looks (K, 3, P) of P points, offsets (2, P) of these from the middle in pixels. */

#include "sampling.h"

#define CLIPPED 250.0f          /* vision/photometry/room_light.py */
#define HARDLY 0.95f

typedef struct {
    const uint8_t *seen;        /* (h, w, 4) */
    int h, w;
} Table;

/* What shows of a card at pose (x, y, turn), pixels and radians: got (3, P) */
INLINE void cut_card(const Table *table, const uint8_t *canvas, const double *pose, const float *offsets, int n, float *got)
{
    float c = (float)cos(pose[2]), s = (float)sin(pose[2]), x0 = (float)pose[0], y0 = (float)pose[1];
    float x[BLOCK], y[BLOCK];
    Spots at;
    for (int start = 0; start < n; start += BLOCK) {
        int many = n - start < BLOCK ? n - start : BLOCK;
        const float *u = offsets + start, *v = offsets + n + start;
        for (int i = 0; i < many; i++)
            x[i] = u[i] * c - v[i] * s + x0, y[i] = u[i] * s + v[i] * c + y0;
        find_spots(&at, x, y, many, table->h, table->w);
        colours_at(canvas, &at, many, got + start, n);
    }
}

/* Factors of light that one card may need (plausible() in cluster_base.py); tones: least and most, tint: by which colours differ */
INLINE void plausible(float *gain, float least, float most, float tint)
{
    float tone = 0;
    for (int c = 0; c < 3; c++)
        tone += logf(lesser(greater(gain[c], 0.2f), 5)) / 3;
    tone = expf(tone);
    for (int c = 0; c < 3; c++)
        gain[c] = lesser(greater(tone, least), most) * lesser(greater(gain[c] / tone, 1 / tint), tint);
}

/* The gain (3,) by which what shows, got (3, P), is likest to look (3, P), points counting less the more they are off in the one so far;
   weight (P,): what they came to count; share: of squares, one over what is usual */
INLINE void refit_gain(float *gain, const float *got, const float *look, float share, float *weight, size_t p)
{
#pragma omp simd
    for (size_t j = 0; j < p; j++) {
        float a = got[j] * gain[0] - look[j], b = got[p + j] * gain[1] - look[p + j];
        float d = got[2 * p + j] * gain[2] - look[2 * p + j];
        float off = 1 + (a * a + b * b + d * d) * share;
        weight[j] = 1 / (off * off);
    }
    for (int c = 0; c < 3; c++) {
        float both = 0, square = 0;
#pragma omp simd reduction(+:both, square)
        for (size_t j = 0; j < p; j++) {
            float part = weight[j] * got[c * p + j];
            both += part * look[c * p + j], square += part * got[c * p + j];
        }
        gain[c] = both / (square + 1);
    }
}

INLINE double within(double v, double middle, double reach) { return fmin(fmax(v, middle - reach), middle + reach); }

/* Level.settle(): pose (n, 3), pixels and radians, and gain (n, 3) are changed in place. slopes (K, 3, 3 P): how prints change with
   shift right, down (a mm) and turn; squares (K, 6, P): their products, summed over colours; light (n, 3); scale: pixels a mm;
   reach: pixels, and turn: radians, by which poses may change at most */
QUICK void settle_cards(const uint8_t *seen, int h, int w, const int64_t *kinds, double *pose, int n,
                        const float *offsets, int points, const float *looks, const float *slopes, const float *squares,
                        const float *light, float *gains, int rounds, double scale, double reach, double turn, double noise,
                        double tint)
{
    Table table = {seen, h, w};
    size_t p = points;
    float *room = malloc(sizeof(float) * p * 7), *got = room, *look = room + 3 * p, *weight = room + 6 * p;
    for (int i = 0; i < n; i++) {
        const float *print = looks + 3 * p * kinds[i], *J = slopes + 9 * p * kinds[i], *JJ = squares + 6 * p * kinds[i];
        double *at = pose + 3 * i, start[3] = {at[0], at[1], at[2]};
        float *gain = gains + 3 * i, most[3] = {0};
        for (int c = 0; c < 3; c++) {
            float m = 0;
            for (size_t j = 0; j < p; j++)
                m = print[c * p + j] > m ? print[c * p + j] : m;
            most[c] = m, gain[c] = 1;
        }
        memcpy(look, print, sizeof(float) * 3 * p);
        for (int round = 0; round < rounds; round++) {
            int bright = 0;         /* then the print is taken as a camera shows it that sees nothing brighter */
            for (int c = 0; c < 3; c++)
                bright |= CLIPPED * light[3 * i + c] < HARDLY * most[c];
            for (int c = 0; bright && c < 3; c++)
                for (size_t j = 0; j < p; j++)
                    look[c * p + j] = lesser(print[c * p + j], CLIPPED * light[3 * i + c] * gain[c]);
            cut_card(&table, seen, at, offsets, points, got);
            for (int c = 0; c < 3; c++)
                for (size_t j = 0; j < p; j++)
                    got[c * p + j] *= light[3 * i + c];
            float tau = noise * (2 * round < rounds ? 3 : 2), share = 1 / (3 * tau * tau);
            for (int again = round == 0; again >= 0; again--) {
                refit_gain(gain, got, look, share, weight, p);
                plausible(gain, 0.7f, 1.4f, tint);
            }
            double A[6], b[3] = {0}, d[3];
            for (int k = 0; k < 6; k++) {
                float sum = 0;
#pragma omp simd reduction(+:sum)
                for (size_t j = 0; j < p; j++)
                    sum += weight[j] * JJ[k * p + j];
                A[k] = sum;
            }
            for (int c = 0; c < 3; c++) {
                float dx = 0, dy = 0, dt = 0;
#pragma omp simd reduction(+:dx, dy, dt)
                for (size_t j = 0; j < p; j++) {
                    float off = weight[j] * (got[c * p + j] * gain[c] - look[c * p + j]);
                    dx += off * J[c * p + j], dy += off * J[(3 + c) * p + j], dt += off * J[(6 + c) * p + j];
                }
                b[0] += dx, b[1] += dy, b[2] += dt;
            }
            for (int k = 0; k < 3; k++)
                A[k == 0 ? 0 : k == 1 ? 3 : 5] += 1e-3 * A[k == 0 ? 0 : k == 1 ? 3 : 5] + 1e-3;
            solved(A, b, d);
            d[0] = within(d[0], 0, 1.5) * scale, d[1] = within(d[1], 0, 1.5) * scale, d[2] = within(d[2], 0, 0.05);
            double c = cos(at[2]), s = sin(at[2]);
            at[0] = within(at[0] + c * d[0] - s * d[1], start[0], reach);
            at[1] = within(at[1] + s * d[0] + c * d[1], start[1], reach);
            at[2] = within(at[2] + d[2], start[2], turn);
        }
    }
    free(room);
}

/* Level.misfits(): (n, K) how badly each print explains what shows at n poses in light (n, 3), where nothing looks
   brighter than limit (n, 3); a point's share held below cap; surety (K, P); only: (n,) the one kind asked for at
   each pose, out (n,), or a single -1 */
QUICK void misfit_cards(const uint8_t *seen, int h, int w, const double *pose, int n, const float *offsets, int points,
                        const float *looks, const float *surety, int kinds, const float *light, const float *limits, double cap,
                        const int64_t *only, float *out)
{
    Table table = {seen, h, w};
    size_t p = points;
    float *got = malloc(sizeof(float) * p * 3), top = cap;
    for (int i = 0; i < n; i++) {
        const float *limit = limits + 3 * i;
        cut_card(&table, seen, pose + 3 * i, offsets, points, got);
        for (int c = 0; c < 3; c++)
            for (size_t j = 0; j < p; j++)
                got[c * p + j] *= light[3 * i + c];
        for (int k = only[0] < 0 ? 0 : only[i]; k < (only[0] < 0 ? kinds : only[i] + 1); k++) {
            const float *look = looks + 3 * p * k, *sure = surety + p * k;
            float sum = 0;
#pragma omp simd reduction(+:sum)
            for (size_t j = 0; j < p; j++) {
                float a = got[j] - lesser(look[j], limit[0]), b = got[p + j] - lesser(look[p + j], limit[1]);
                float d = got[2 * p + j] - lesser(look[2 * p + j], limit[2]), off = (a * a + b * b + d * d) * sure[j] * (1 / 3.0f);
                sum += off < top ? off : top;
            }
            out[only[0] < 0 ? (size_t)i * kinds + k : i] = sum / p;
        }
    }
    free(got);
}

/* bareness() of cluster_first.py: (n,) how badly the ground explains what shows at poses in light (n, 3), each in a little light of its
   own (least to most, and tint) */
QUICK void bare_cards(const uint8_t *seen, const uint8_t *ground, int h, int w, const double *pose, int n, const float *offsets,
                      int points, const float *light, double noise, double least, double most, double tint, double cap, float *out)
{
    Table table = {seen, h, w};
    size_t p = points;
    float *room = malloc(sizeof(float) * p * 7), *got = room, *board = room + 3 * p, *weight = room + 6 * p;
    float unit = 1 / (3 * noise * noise), top = cap;
    for (int i = 0; i < n; i++) {
        float gain[3] = {1, 1, 1}, sum = 0;
        cut_card(&table, seen, pose + 3 * i, offsets, points, got);
        cut_card(&table, ground, pose + 3 * i, offsets, points, board);
        for (int c = 0; c < 3; c++)
            for (size_t j = 0; j < p; j++)
                got[c * p + j] *= light[3 * i + c];
        for (int round = 0; round < 3; round++) {
            refit_gain(gain, got, board, unit / 4, weight, p);
            plausible(gain, least, most, tint);
        }
#pragma omp simd reduction(+:sum)
        for (size_t j = 0; j < p; j++) {
            float a = got[j] * gain[0], b = got[p + j] * gain[1], c = got[2 * p + j] * gain[2];
            float x = board[j], y = board[p + j], z = board[2 * p + j];
            float off = ((a - x) * (a - x) + (b - y) * (b - y) + (c - z) * (c - z)) * unit;
            sum += lesser(off, top);
        }
        out[i] = sum / p;
    }
    free(room);
}

#define REACH 2                 /* as in vision/readers/loose/cards/card_level.py */
#define SHIFTS (2 * REACH + 1)

/* Of what is searched at one place: what shows in each turn (3 H, stride), and the sums over what looks cover of its squares; squared
   misfits so far of every turn and shift of each look (K, turns, SHIFTS, SHIFTS) */
typedef struct {
    int turns, wide, high, H, line, stride;
    const float *rows, *shown;          /* (turns, 3 H, stride), (K, 3 high, line) */
    const float *sums;                  /* (turns, H, SHIFTS): of squares, along a row */
    const float *own;                   /* (K, STAGES): of squares of the looks */
    float *parts;
} Search;

#define STAGES 4                /* rows are gone through in so many goes: every eighth, those between these, and so on */

INLINE int first_of(int stage) { return stage ? 8 >> stage : 0; }
INLINE int step_of(int stage) { return stage ? 16 >> stage : 8; }

/* Adds to the misfits of look k what the rows of a stage tell, where they are not above `most` already -> the least of them */
INLINE float search_on(const Search *search, int k, int stage, float most)
{
    int high = search->high, H = search->H, line = search->line, stride = search->stride;
    float least = INFINITY, *part = search->parts + (size_t)k * search->turns * SHIFTS * SHIFTS;
    for (int turn = 0; turn < search->turns; turn++)
        for (int down = 0; down < SHIFTS; down++, part += SHIFTS) {
            float open = INFINITY;
            for (int j = 0; j < SHIFTS; j++)
                open = lesser(open, part[j]);
            if (open > most)
                continue;
            floats8 like[SHIFTS] = {{0}};
            float all[SHIFTS] = {0};
            for (int c = 0; c < 3; c++)
                for (int y = first_of(stage); y < high; y += step_of(stage)) {
                    const float *look = search->shown + ((size_t)k * 3 * high + c * high + y) * line;
                    const float *row = search->rows + ((size_t)turn * 3 * H + c * H + down + y) * stride;
                    for (int x = 0; x < line; x += 8) {
                        floats8 v = load8(look + x);
                        for (int j = 0; j < SHIFTS; j++)
                            like[j] += v * load8(row + x + j);
                    }
                }
            for (int y = first_of(stage); y < high; y += step_of(stage))
                for (int j = 0; j < SHIFTS; j++)
                    all[j] += search->sums[(turn * H + down + y) * SHIFTS + j];
            for (int j = 0; j < SHIFTS; j++) {
                float both = 0;
                for (int m = 0; m < 8; m++)
                    both += like[j][m];
                part[j] += all[j] - 2 * both + search->own[k * STAGES + stage];
                least = lesser(least, part[j]);
            }
        }
    return least;
}

/* Rough.search(): of K looks (K, 3, high wide) the turn and shift, numbered turn by turn and row by row, at which each fits what shows near
   each of n poses best: best (n, K), and the mean squared misfit there, cost (n, K). grid (2, P): pixels, REACH more than looks have on all
   sides. Looks are shown no brighter than the camera can in light (n, 3). bounded: it is told only of the one of `among` (n, K) that fits
   best; of others it may be that nothing is, and cost is infinite */
QUICK void search_cards(const uint8_t *seen, int h, int w, const double *poses, int n, const double *turns, int turns_n, const float *grid,
                        int wide, int high, const float *looks, int kinds, const float *light, int bounded, const uint8_t *among, int64_t *best, float *cost)
{
    Table table = {seen, h, w};
    int W = wide + 2 * REACH, H = high + 2 * REACH, P = W * H, line = (wide + 7) / 8 * 8, stride = line + 2 * REACH;
    int ways = turns_n * SHIFTS * SHIFTS;
    size_t each = (size_t)3 * high * line, turned = (size_t)3 * H * stride;
    float *room = calloc(4 * P + turned * turns_n + 8 + H * SHIFTS * turns_n + (each + ways + 1 + STAGES) * kinds, sizeof *room);
    float *got = room, *squares = got + 3 * P, *rows = squares + P, *sums = rows + turned * turns_n + 8;
    float *shown = sums + (size_t)H * SHIFTS * turns_n, *parts = shown + each * kinds, *least = parts + (size_t)ways * kinds;
    float *own = least + kinds, limit[3] = {-1, -1, -1}, brightest = 0;
    Search search = {turns_n, wide, high, H, line, stride, rows, shown, sums, own, parts};
    for (size_t j = 0; j < (size_t)3 * wide * high * kinds; j++)
        brightest = greater(brightest, looks[j]);
    for (int i = 0; i < n; i++) {
        const float *l = light + 3 * i;
        int same = 1;
        for (int c = 0; c < 3; c++) {
            float now = lesser(CLIPPED * l[c], brightest);
            same &= now == limit[c], limit[c] = now;
        }
        if (!same)
            memset(own, 0, sizeof(float) * STAGES * kinds);
        for (int row = 0; row < 3 * high * kinds && !same; row++) {
            float *to = shown + (size_t)row * line, sum = 0;
            const float *from = looks + (size_t)row * wide;
            int y = row % high, stage = y % 8 == 0 ? 0 : y % 4 == 0 ? 1 : y % 2 == 0 ? 2 : 3;
            for (int x = 0; x < wide; x++)
                to[x] = lesser(from[x], limit[row / high % 3]), sum += to[x] * to[x];
            own[row / (3 * high) * STAGES + stage] += sum;
        }
        for (int turn = 0; turn < turns_n; turn++) {
            double pose[3] = {poses[3 * i], poses[3 * i + 1], poses[3 * i + 2] + turns[turn]};
            cut_card(&table, seen, pose, grid, P, got);
            memset(squares, 0, sizeof(float) * P);
            for (int c = 0; c < 3; c++)
                for (int y = 0; y < H; y++) {
                    float *row = rows + turned * turn + (c * H + y) * stride;
                    for (int x = 0; x < W; x++) {
                        float v = got[c * P + y * W + x] * l[c];
                        row[x] = v, squares[y * W + x] += v * v;
                    }
                }
            for (int y = 0; y < H; y++) {
                float sum = 0, *to = sums + (turn * H + y) * SHIFTS;
                for (int x = 0; x < wide; x++)
                    sum += squares[y * W + x];
                for (int x = 0; x < SHIFTS; x++) {
                    to[x] = sum;
                    sum += squares[y * W + x + wide] - squares[y * W + x];
                }
            }
        }
        memset(parts, 0, sizeof(float) * ways * kinds);
        int first = 0;
        for (int k = 0; k < kinds; k++) {
            least[k] = bounded && !among[(size_t)i * kinds + k] ? INFINITY : search_on(&search, k, 0, INFINITY);
            if (least[k] < least[first])
                first = k;
        }
        float most = INFINITY;          /* that the best fits no worse than */
        for (int j = 0; j < kinds; j++) {
            int k = j == 0 ? first : j <= first ? j - 1 : j, stage = 1;
            for (; stage < STAGES && least[k] <= most && least[k] < INFINITY; stage++)
                least[k] = search_on(&search, k, stage, most);
            size_t where = (size_t)i * kinds + k;
            const float *part = parts + (size_t)ways * k;
            int at = 0;
            cost[where] = INFINITY, best[where] = 0;
            if (stage < STAGES || least[k] > most)
                continue;
            for (int q = 1; q < ways; q++)
                if (part[q] < part[at])
                    at = q;
            cost[where] = part[at] / (3 * wide * high), best[where] = at;
            if (bounded)
                most = part[at];
        }
    }
    free(room);
}
